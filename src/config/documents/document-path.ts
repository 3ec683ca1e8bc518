import { configNameCharactersMax } from '../../contract/limits.ts';

export const schemaFolders = ['schemas', 'partials', 'indexes'] as const;
export type SchemaFolder = (typeof schemaFolders)[number];

/** Where a configuration document belongs (docs/reference/configuration.md "Files"). */
export type DocumentPlace =
  | { readonly kind: 'tenant'; readonly tenant: string }
  | { readonly kind: SchemaFolder; readonly tenant: string; readonly alias: string };

const aliasPattern = /^[A-Za-z0-9_-]+$/;
const idPattern = /^[A-Za-z0-9._-]+$/;

/** Letters, digits, `-` and `_`. */
export function isAlias(text: string): boolean {
  return text.length <= configNameCharactersMax && aliasPattern.test(text);
}

/**
 * The characters of an alias, and dots: for ids of environments and sources, and names of tenants. An id is a part of
 * view ids, so it never has a slash.
 */
export function isId(text: string): boolean {
  return text.length <= configNameCharactersMax && idPattern.test(text);
}

/** The place that a path relative to CONFIG_DIR names, or null when no document of the configuration may lie there. */
export function documentPlace(path: string): DocumentPlace | null {
  const [root, tenant, folder, file, ...rest] = path.split('/');
  if (root !== 'tenants' || tenant === undefined || folder === undefined) return null;
  if (!isTenantName(tenant) || rest.length > 0) return null;
  if (file === undefined) return folder === 'tenant.json' ? { kind: 'tenant', tenant } : null;
  const kind = schemaFolders.find((name) => name === folder);
  if (kind === undefined || !file.endsWith('.json')) return null;
  const alias = file.slice(0, -'.json'.length);
  return isAlias(alias) ? { kind, tenant, alias } : null;
}

/** A tenant's folder name: as an id, but no leading dot, which hides a file. */
export function isTenantName(name: string): boolean {
  return isId(name) && !name.startsWith('.');
}

export function tenantFilePath(tenant: string): string {
  return `tenants/${tenant}/tenant.json`;
}

export const missingTenantFileAdvice =
  'Every tenant has one; docs/reference/configuration.md shows what is in it.';
