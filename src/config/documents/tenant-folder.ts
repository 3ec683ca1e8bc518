/** The documents of one tenant, with paths relative to its folder: `tenant.json`, `schemas/page.json`. */

import { runtimeLookupsKeptMax } from '../../contract/limits.ts';
import type { ConfigDocuments } from '../configuration.ts';
import { parseDocumentPath, runtimeLookupsPath } from '../document-path.ts';

const root = 'tenants/';

/** The documents of a tenant by their paths in its folder, without compiled programs. */
export function documentsOfTenant(documents: ConfigDocuments, tenant: string): Map<string, string> {
  return inFolder(
    new Map([...documents].filter(([path]) => parseDocumentPath(path)?.kind !== 'program')),
    tenant,
  );
}

/** All documents in the folder of a tenant, by their paths in it. */
export function inFolder(documents: ConfigDocuments, tenant: string): Map<string, string> {
  const folder = `${root}${tenant}/`;
  return new Map(
    [...documents]
      .filter(([path]) => path.startsWith(folder))
      .map(([path, text]) => [path.slice(folder.length), text]),
  );
}

/** All documents, with those of one tenant replaced. @param own the new documents by their paths in its folder */
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
 * Adds the lookups that code requested at run time under the previous documents, so that views keep their indexes. If there are
 * very many, some are probably obsolete: then none is added, and code requests those that it needs again.
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
    const parsed = parseDocumentPath(path);
    return parsed?.kind === 'program' ? [parsed.tenant] : [];
  });
  return [...new Set(tenants)].sort();
}
