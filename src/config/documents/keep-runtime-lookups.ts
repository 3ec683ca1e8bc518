import { runtimeLookupsKeptMax } from '../../contract/limits.ts';
import type { ConfigDocuments } from '../configuration.ts';
import { documentPlace, runtimeLookupsPath } from './document-path.ts';

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
