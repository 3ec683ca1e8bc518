/** The documents of one tenant among those of all, with paths as in the tenant's folder: `tenant.json`, `schemas/page.json`. */
import type { ConfigDocuments } from '../configuration.ts';
import { documentPlace, isTenantName } from './document-path.ts';

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

/** All documents that lie in the folder of a tenant, by their paths in it. */
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
