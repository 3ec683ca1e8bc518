/** Documents to configuration: everything is checked, every mistake is told, nothing half-valid comes out (contract section 2). */
import type { ConfigIssue } from '../../contract/diagnostic.ts';
import type { Json } from '../../contract/json.ts';
import { compileSchemas } from '../../schemas/compile.ts';
import { layoutOf } from '../../schemas/lookup/layout.ts';
import type { PathObserver, SchemaSources } from '../../schemas/schema.ts';
import type { ClientPrincipal, ConfigDocuments, Configuration, Tenant } from '../configuration.ts';
import { checkIndexProperties } from '../tenant/index-properties.ts';
import { KeyRing } from '../tenant/key-ring.ts';
import { checkNames, type KnownNames } from '../tenant/named-things.ts';
import { LoadedTenant } from '../tenant/tenant.ts';
import { readTenantFile, type TenantFile } from '../tenant/tenant-file.ts';
import { warnOfLonelyTypes } from '../tenant/trigger-types.ts';
import { digestOf } from './canonical.ts';
import { Cursor, type Findings } from './cursor.ts';
import {
  documentPlace,
  missingTenantFileAdvice,
  type SchemaFolder,
  schemaFile,
  schemaFolders,
  tenantFile,
} from './document-path.ts';
import { parseJsonText } from './json-text.ts';

export type LoadOutcome =
  | {
      readonly ok: true;
      readonly configuration: Configuration;
      /** API keys of all tenants. */
      readonly keyCount: number;
      readonly warnings: readonly ConfigIssue[];
    }
  | { readonly ok: false; readonly issues: readonly ConfigIssue[] };

/** Index aliases that are part of the query interface's own paths. */
const reservedIndexAliases = new Set(['source', 'sourceGroupAlias']);

/**
 * Where documents come from. `stored`: a store or a backup has them, and an earlier version may have taken what is a
 * mistake by now; it goes on as it did.
 */
export type DocumentsFrom = 'folder' | 'stored';

/** What of a load differs from one caller to another. */
interface LoadHow {
  readonly from: DocumentsFrom;
  readonly observer: PathObserver | null;
}

/**
 * Loads documents with plain or hashed keys. Pure: the same documents give an equal configuration in every process.
 * @param observer hears what the paths of schemas' expressions give
 */
export function loadConfiguration(
  documents: ConfigDocuments,
  from: DocumentsFrom = 'folder',
  observer: PathObserver | null = null,
): LoadOutcome {
  const findings: Findings = { mistakes: [], warnings: [] };
  const keys = new KeyRing();
  const tenants = new Map<string, Tenant>();
  const clients: ClientPrincipal[] = [];
  for (const [alias, files] of parseDocuments(documents, findings)) {
    const { tenant, clients: own } = loadTenant(alias, files, keys, findings, { from, observer });
    tenants.set(alias, tenant);
    clients.push(...own);
  }
  if (findings.mistakes.length > 0) return { ok: false, issues: inFileOrder(findings.mistakes) };
  if (tenants.size === 0) {
    const root = new Cursor('tenants', '$', undefined, findings);
    root.warning(
      'there is no tenant',
      'Nothing can be ingested or asked for: add tenants/<tenant>/tenant.json.',
    );
  }
  const configuration: Configuration = {
    digest: digestOf(documents),
    tenants,
    clients,
    authenticate: (apiKey) => keys.authenticate(apiKey),
  };
  return { ok: true, configuration, keyCount: keys.size, warnings: inFileOrder(findings.warnings) };
}

/** The parsed files of one tenant. `json` is undefined where a text is no JSON, which is reported already. */
interface TenantDocuments {
  tenant: { json: Json | undefined } | null;
  readonly folders: Readonly<Record<SchemaFolder, Map<string, { file: string; json: Json | undefined }>>>;
}

function parseDocuments(documents: ConfigDocuments, findings: Findings): Map<string, TenantDocuments> {
  const tenants = new Map<string, TenantDocuments>();
  for (const [file, text] of [...documents].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const place = documentPlace(file);
    if (place === null) {
      new Cursor(file, '$', undefined, findings).issue('not a place for a configuration file', 'Remove it.');
      continue;
    }
    const json = parseDocument(file, text, findings);
    const tenant = tenants.get(place.tenant) ?? noDocuments();
    tenants.set(place.tenant, tenant);
    if (place.kind === 'tenant') tenant.tenant = { json };
    else tenant.folders[place.kind].set(place.alias, { file, json });
  }
  return tenants;
}

function noDocuments(): TenantDocuments {
  return { tenant: null, folders: { schemas: new Map(), partials: new Map(), indexes: new Map() } };
}

function parseDocument(file: string, text: string, findings: Findings): Json | undefined {
  const parsed = parseJsonText(text);
  if (parsed.ok) return parsed.json;
  for (const mistake of parsed.mistakes) findings.mistakes.push({ file, ...mistake });
  return undefined;
}

function loadTenant(
  alias: string,
  documents: TenantDocuments,
  keys: KeyRing,
  findings: Findings,
  { from, observer }: LoadHow,
): { tenant: Tenant; clients: readonly ClientPrincipal[] } {
  const file = tenantFile(alias);
  const root = new Cursor(file, '$', documents.tenant?.json, findings);
  if (documents.tenant === null) root.issue('the file is missing', missingTenantFileAdvice);
  const parsed = documents.tenant?.json !== undefined;
  const read = readTenantFile(parsed ? root : new Cursor(file, '$', {}, findings));
  checkIndexAliases(alias, documents.folders.indexes.keys(), findings);
  // Without its groups every name in the schema files would look unknown.
  if (parsed) checkSchemaNames(alias, documents, read, findings);
  if (from === 'folder') {
    for (const root of rootsOf(alias, documents, 'indexes', findings)) checkIndexProperties(root);
  }
  const compiled = compileSchemas(
    schemaSources(documents),
    (issue) => findings.mistakes.push(issue),
    observer,
  );
  // Layouts are made from sound plans alone; with mistakes around, the tenant is thrown away anyway.
  const tenant = new LoadedTenant(alias, read, compiled, layoutOf);
  const clients = giveKeys(tenant, read, keys);
  warnOfUnused(read);
  return { tenant, clients };
}

function checkSchemaNames(
  tenant: string,
  documents: TenantDocuments,
  read: TenantFile,
  findings: Findings,
): void {
  const known: KnownNames = {
    sourceGroups: new Set(read.sourceGroups.keys()),
    aliases: {
      schemas: new Set(documents.folders.schemas.keys()),
      partials: new Set(documents.folders.partials.keys()),
      indexes: new Set(documents.folders.indexes.keys()),
    },
  };
  for (const folder of schemaFolders) {
    for (const root of rootsOf(tenant, documents, folder, findings)) checkNames(root, known);
  }
  warnOfLonelyTypes([
    ...rootsOf(tenant, documents, 'indexes', findings),
    ...rootsOf(tenant, documents, 'schemas', findings),
  ]);
}

function rootsOf(
  tenant: string,
  { folders }: TenantDocuments,
  folder: SchemaFolder,
  findings: Findings,
): Cursor[] {
  return [...folders[folder]].map(
    ([alias, { json }]) => new Cursor(schemaFile(tenant, folder, alias), '$', json, findings),
  );
}

function checkIndexAliases(tenant: string, aliases: Iterable<string>, findings: Findings): void {
  for (const alias of aliases) {
    if (!reservedIndexAliases.has(alias)) continue;
    const root = new Cursor(schemaFile(tenant, 'indexes', alias), '$', undefined, findings);
    root.issue(
      `the index alias "${alias}" is reserved`,
      'Rename the file: queries use this name for themselves.',
    );
  }
}

function schemaSources({ folders }: TenantDocuments): SchemaSources {
  return {
    schemas: parsedOnly(folders.schemas),
    partials: parsedOnly(folders.partials),
    indexes: parsedOnly(folders.indexes),
  };
}

function parsedOnly(
  files: ReadonlyMap<string, { file: string; json: Json | undefined }>,
): ReadonlyMap<string, { file: string; json: Json }> {
  return new Map(
    [...files].flatMap(([alias, { file, json }]) =>
      json === undefined ? [] : [[alias, { file, json }] as const],
    ),
  );
}

/** @returns who asks with the keys of clients */
function giveKeys(tenant: Tenant, read: TenantFile, keys: KeyRing): ClientPrincipal[] {
  for (const { source, keys: own } of read.sources) {
    for (const key of own) keys.add(key, { kind: 'source', tenant, source });
  }
  return read.clients.map(({ name, environment, domains, scopes, keys: own }) => {
    const client: ClientPrincipal = { kind: 'client', tenant, environment, name, domains, scopes };
    for (const key of own) keys.add(key, client);
    return client;
  });
}

function warnOfUnused(read: TenantFile): void {
  for (const { source, keys, at } of read.sources) {
    if (keys.length === 0) at.warning('a source without API keys', 'Nothing can be ingested into it.');
    if (source.environments.length === 0)
      at.warning('a source without environments', 'Its entities give no views.');
  }
  for (const { scopes, keys, at } of read.clients) {
    if (keys.length === 0)
      at.warning('an environment client without API keys', 'Nobody can ask as this client.');
    if (scopes.size === 0)
      at.warning('an environment client without scopes', 'Its keys may ask for nothing.');
  }
}

/** Stable: within a file the findings keep the order in which they were made. */
function inFileOrder(issues: readonly ConfigIssue[]): ConfigIssue[] {
  return [...issues].sort((a, b) => (a.file === b.file ? 0 : a.file < b.file ? -1 : 1));
}
