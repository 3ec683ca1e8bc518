/** The documents of one tenant among those of all, with paths as in the tenant's folder: `tenant.json`, `schemas/page.json`. */

import { runtimeLookupsKeptMax } from '../../contract/limits.ts';
import type { ConfigDocuments } from '../configuration.ts';
import { documentPlace, isTenantName, runtimeLookupsPath } from '../document-path.ts';

const root = 'tenants/';

/** Names of the tenants that have documents, in their order. */
export function tenantsOf(documents: ConfigDocuments): string[] {
  const names = [...documents.keys()].map((path) => path.slice(root.length).split('/')[0] ?? '');
  return [...new Set(names)].filter(isTenantName).sort();
}

/** The documents of a tenant by their paths in its folder, without those that are made from others. */
export function documentsOfTenant(documents: ConfigDocuments, tenant: string): Map<string, string> {
  return inFolder(
    new Map([...documents].filter(([path]) => documentPlace(path)?.kind !== 'program')),
    tenant,
  );
}

/** All documents that are in the folder of a tenant, by their paths in it. */
export function inFolder(documents: ConfigDocuments, tenant: string): Map<string, string> {
  const folder = `${root}${tenant}/`;
  return new Map(
    [...documents]
      .filter(([path]) => path.startsWith(folder))
      .map(([path, text]) => [path.slice(folder.length), text]),
  );
}

/** All documents, with those of one tenant in the place of what it had. @param own by their paths in its folder */
export function withDocumentsOfTenant(
  documents: ConfigDocuments,
  tenant: string,
  own: ConfigDocuments,
): Map<string, string> {
  const folder = `${root}${tenant}/`;
  return new Map([
    ...[...documents].filter(([path]) => !path.startsWith(folder)),
    ...[...own].map(([path, text]): [string, string] => [`${folder}${path}`, text]),
  ]);
}

/**
 * New documents with the lookups that code had asked for under those before them: so views that need them are not without
 * an index meanwhile. Of very many some may be of no use any more: then those that are needed are asked for again.
 */
export function withRuntimeLookups(documents: ConfigDocuments, before: ConfigDocuments): ConfigDocuments {
  const kept = tenantsWithCode(documents).flatMap((tenant) => {
    const path = runtimeLookupsPath(tenant);
    const text = before.get(path);
    if (text === undefined || documents.has(path)) return [];
    return JSON.parse(text).length > runtimeLookupsKeptMax ? [] : [[path, text] as const];
  });
  return kept.length === 0 ? documents : new Map([...documents, ...kept]);
}

function tenantsWithCode(documents: ConfigDocuments): string[] {
  const tenants = [...documents.keys()].flatMap((path) => {
    const place = documentPlace(path);
    return place?.kind === 'program' ? [place.tenant] : [];
  });
  return [...new Set(tenants)].sort();
}
