/**
 * Builds a configuration from documents. Everything is checked and every error is reported; a configuration is never
 * partially valid (docs/guide/live-configuration.md "What happens").
 */

import { Cursor, type Findings } from '../../contract/config-cursor.ts';
import type { ConfigIssue } from '../../contract/diagnostic.ts';
import { assert } from '../../lib/assert.ts';
import { runSync, type Steps } from '../../lib/cooperative-yield.ts';
import { compileSchemas } from '../../schemas/compile.ts';
import { checkIndexProperties } from '../../schemas/definition/index-fields.ts';
import type { PathObserver } from '../../schemas/language/scope.ts';
import { layoutOf } from '../../schemas/lookup-layout.ts';
import type { ClientPrincipal, ConfigDocuments, Configuration, Principal, Tenant } from '../configuration.ts';
import { missingTenantFileAdvice, schemaFolders, tenantFilePath } from '../document-path.ts';
import { type ConfiguredKey, issueOfTakenKey, KeyRing } from '../tenant/api-keys.ts';
import { checkCodeNames, checkNames, type KnownNames } from '../tenant/named-things.ts';
import { warnOfUnknownSchemas } from '../tenant/read-webhooks.ts';
import { checkSizes } from '../tenant/sizes.ts';
import { tenantOf } from '../tenant/tenant.ts';
import { readTenantFile, type TenantFile } from '../tenant/tenant-file.ts';
import { warnOfRareTypes } from '../tenant/trigger-types.ts';
import { byTenant, configurationDigest, fingerprintOf, hashKeys } from './canonical.ts';
import { parseDocuments, type TenantDocuments } from './tenant-documents.ts';

export type LoadOutcome =
  | {
      readonly ok: true;
      readonly configuration: Configuration;
      /** API keys of all tenants. */
      readonly keyCount: number;
      readonly warnings: readonly ConfigIssue[];
    }
  | {
      readonly ok: false;
      readonly issues: readonly ConfigIssue[];
      /** Warnings, which remain when the errors are corrected. */
      readonly warnings: readonly ConfigIssue[];
    };

/** The message for a JavaScript schema with errors in its code. */
export const notCompiled = 'the schema could not be compiled';

/** Index aliases that would collide with paths of the query interface. */
const reservedIndexAliases = new Set(['source', 'sourceGroupAlias']);

/**
 * The origin of documents. `stored`: a store or a backup. These may contain errors that an earlier version accepted, which
 * keep working.
 */
export type DocumentsFrom = 'folder' | 'stored';

/** Options of a load. */
interface LoadHow {
  readonly from: DocumentsFrom;
  readonly observer: PathObserver | null;
}

/** A loaded tenant. It is reused while the tenant's documents are the same, whatever changes in other tenants. */
interface LoadedTenant {
  readonly from: DocumentsFrom;
  /** Digest of the unchanged texts. */
  readonly fingerprint: string;
  readonly tenant: Tenant;
  readonly clients: readonly ClientPrincipal[];
  readonly keys: readonly HeldKey[];
  readonly warnings: readonly ConfigIssue[];
}

interface HeldKey {
  readonly key: ConfiguredKey;
  readonly principal: Principal;
}

/** The loaded tenants of each configuration, so that the next one reuses unchanged tenants. */
const loadedTenants = new WeakMap<Configuration, ReadonlyMap<string, LoadedTenant>>();

/**
 * Loads documents with plain or hashed keys. Pure: the same documents result in equal configurations in every process.
 * @param observer observes the values of paths in schema expressions
 * @param former configurations whose tenants are reused if their documents are the same
 */
export function loadConfiguration(
  documents: ConfigDocuments,
  from: DocumentsFrom = 'folder',
  observer: PathObserver | null = null,
  former: readonly Configuration[] = [],
): LoadOutcome {
  return runSync(loadingSteps(documents, from, observer, former));
}

/** Like `loadConfiguration`, in steps, so that a front or a worker can do other work in between. */
export function* loadingSteps(
  documents: ConfigDocuments,
  from: DocumentsFrom,
  observer: PathObserver | null = null,
  former: readonly Configuration[] = [],
): Steps<LoadOutcome> {
  const tenants = new Map<string, TenantTexts>();
  for (const [name, texts] of byTenant(documents)) {
    yield;
    tenants.set(name, { fingerprint: fingerprintOf(texts), documents: texts });
  }
  return yield* loadingTenants(tenants, { from, observer }, former);
}

/** The documents of one tenant. */
export interface TenantTexts {
  readonly fingerprint: string;
  /** Sorted by path; null if they were not read, because an earlier configuration has the tenant. */
  readonly documents: ConfigDocuments | null;
}

/** Loads stored documents, in steps. Tenants need no documents if `isLoaded` finds them in an earlier configuration. */
export function loadingStored(
  tenants: ReadonlyMap<string, TenantTexts>,
  former: readonly Configuration[],
): Steps<LoadOutcome> {
  return loadingTenants(tenants, { from: 'stored', observer: null }, former);
}

/** True if the configuration contains the tenant, loaded from documents with this fingerprint. */
export function isLoaded(configuration: Configuration, tenant: string, fingerprint: string): boolean {
  return loadedTenants.get(configuration)?.get(tenant)?.fingerprint === fingerprint;
}

function* loadingTenants(
  tenants: ReadonlyMap<string, TenantTexts>,
  how: LoadHow,
  former: readonly Configuration[],
): Steps<LoadOutcome> {
  const { from, observer } = how;
  const findings: Findings = { issues: [], warnings: [] };
  const loaded = new Map<string, LoadedTenant>();
  const known = observer === null ? former.flatMap((one) => loadedTenants.get(one) ?? []) : [];
  for (const [name, { fingerprint, documents }] of tenants) {
    yield;
    const same = known
      .map((others) => others.get(name))
      .find((one) => one?.fingerprint === fingerprint && (from === 'stored' || one.from === from));
    if (same !== undefined) {
      loaded.set(name, same);
      findings.warnings.push(...same.warnings);
      continue;
    }
    assert(documents !== null, 'documents are left out only of tenants that were loaded before');
    for (const [alias, files] of yield* parseDocuments(documents, findings)) {
      const warningsBefore = findings.warnings.length;
      const made = yield* loadTenant(alias, files, findings, how);
      if (made === null) continue;
      loaded.set(alias, { ...made, from, fingerprint, warnings: findings.warnings.slice(warningsBefore) });
    }
  }
  return assembled(tenants, from, loaded, findings);
}

function assembled(
  texts: ReadonlyMap<string, TenantTexts>,
  from: DocumentsFrom,
  loaded: ReadonlyMap<string, LoadedTenant>,
  findings: Findings,
): LoadOutcome {
  const keys = new KeyRing();
  const tenants = new Map<string, Tenant>();
  const clients: ClientPrincipal[] = [];
  for (const [alias, { tenant, clients: own, keys: held }] of loaded) {
    tenants.set(alias, tenant);
    for (const client of own) clients.push(client);
    for (const { key, principal } of held) {
      const first = keys.add(key, principal);
      if (first !== null) findings.issues.push(issueOfTakenKey(key, first));
    }
  }
  if (findings.issues.length > 0) {
    return { ok: false, issues: inFileOrder(findings.issues), warnings: inFileOrder(findings.warnings) };
  }
  if (tenants.size === 0) {
    const root = new Cursor('tenants', '$', undefined, findings);
    root.warning('there is no tenant', 'Nothing can be saved or read: add tenants/<tenant>/tenant.json.');
  }
  const configuration: Configuration = {
    digest: configurationDigest(fingerprintsOf(texts, from)),
    tenants,
    clients,
    authenticate: (apiKey) => keys.authenticate(apiKey),
  };
  loadedTenants.set(configuration, loaded);
  return { ok: true, configuration, keyCount: keys.size, warnings: inFileOrder(findings.warnings) };
}

/** Fingerprints of the documents as they would be stored. */
function fingerprintsOf(tenants: ReadonlyMap<string, TenantTexts>, from: DocumentsFrom): [string, string][] {
  return [...tenants].map(([name, { fingerprint, documents }]) => [
    name,
    from === 'stored' || documents === null ? fingerprint : fingerprintOf(hashKeys(documents)),
  ]);
}

/** Null if the tenant exceeds a limit. */
function* loadTenant(
  alias: string,
  { tenantFile, folders, programs, modules, runtimeLookups }: TenantDocuments,
  findings: Findings,
  { from, observer }: LoadHow,
): Steps<Pick<LoadedTenant, 'tenant' | 'clients' | 'keys'> | null> {
  const root = tenantFile ?? new Cursor(tenantFilePath(alias), '$', undefined, findings);
  if (tenantFile === null) root.issue('the file is missing', missingTenantFileAdvice);
  if (from === 'folder' && !checkSizes({ tenantFile: root, folders, programs })) return null;
  const read = readTenantFile(
    root.isAbsent ? new Cursor(root.file, '$', {}, findings) : root,
    from === 'stored',
  );
  yield;
  checkIndexAliases(folders.indexes);
  yield* checkSchemaNames({ folders, programs }, root.isAbsent ? null : read, findings);
  checkAllCompiled({ folders, programs, modules });
  if (from === 'folder') {
    for (const index of folders.indexes.values()) {
      checkIndexProperties(index);
      yield;
    }
  }
  const sources = {
    tenant: alias,
    sourceGroups: [...read.sourceGroups.keys()],
    schemas: parsedOnly(folders.schemas),
    partials: parsedOnly(folders.partials),
    indexes: parsedOnly(folders.indexes),
    code: programs,
  };
  // Layouts need valid plans; after an error the tenant is discarded anyway.
  const compiled = yield* compileSchemas(sources, observer);
  const tenant = tenantOf(alias, read, compiled, layoutOf, runtimeLookups);
  yield;
  warnOfUnused(read);
  return { tenant, ...principalsOf(tenant, read) };
}

function parsedOnly(files: ReadonlyMap<string, Cursor>): ReadonlyMap<string, Cursor> {
  return new Map([...files].filter(([, root]) => !root.isAbsent));
}

/** JavaScript schemas are compiled when documents are read, not here. */
function checkAllCompiled({
  folders,
  programs,
  modules,
}: Pick<TenantDocuments, 'folders' | 'programs' | 'modules'>): void {
  const compiled = new Set(programs.map(({ file }) => file));
  let areAllCompiled = true;
  for (const folder of schemaFolders) {
    for (const root of folders[folder].values()) {
      const isCode = root.file.endsWith('.js') || root.file.endsWith('.ts');
      if (!isCode || compiled.has(root.file)) continue;
      areAllCompiled = false;
      root.issue(notCompiled, 'Correct its errors first.');
    }
  }
  // The imports of an uncompiled schema are unknown.
  if (!areAllCompiled) return;
  const imported = new Set(programs.flatMap(({ files }) => files));
  for (const file of modules) {
    if (!imported.has(file.file)) file.issue('not a place for a configuration file', 'Remove it.');
  }
}

function* checkSchemaNames(
  { folders, programs }: Pick<TenantDocuments, 'folders' | 'programs'>,
  read: TenantFile | null,
  findings: Findings,
): Steps<void> {
  const webhooks = read?.webhooks ?? [];
  const known: KnownNames = {
    // Without the tenant file, every group and webhook would look unknown.
    sourceGroups: read === null ? new AnyName() : new Set(read.sourceGroups.keys()),
    webhooks: read === null ? new AnyName() : new Set(webhooks.map(({ webhook }) => webhook.alias)),
    aliases: {
      schemas: new Set(folders.schemas.keys()),
      partials: new Set(folders.partials.keys()),
      indexes: new Set(folders.indexes.keys()),
    },
  };
  for (const folder of schemaFolders) {
    for (const root of folders[folder].values()) {
      checkNames(root, known);
      yield;
    }
  }
  for (const program of programs) checkCodeNames(program, known, findings);
  warnOfUnknownSchemas(webhooks, known);
  // The triggers of a program with errors are unknown.
  if (programs.some(({ members }) => members.length === 0)) return;
  warnOfRareTypes([...folders.indexes.values(), ...folders.schemas.values()], programs, findings);
}

class AnyName extends Set<string> {
  override has(): boolean {
    return true;
  }
}

function checkIndexAliases(indexes: ReadonlyMap<string, Cursor>): void {
  for (const [alias, root] of indexes) {
    if (!reservedIndexAliases.has(alias)) continue;
    const advice = 'Rename the file: paths of the query interface use this name.';
    root.issue(`the index alias "${alias}" is reserved`, advice);
  }
}

function principalsOf(tenant: Tenant, read: TenantFile): Pick<LoadedTenant, 'clients' | 'keys'> {
  const keys: HeldKey[] = [];
  const give = (own: readonly ConfiguredKey[], principal: Principal) => {
    for (const key of own) keys.push({ key, principal });
  };
  for (const { source, keys: own } of read.sources) give(own, { kind: 'source', tenant, source });
  for (const { name, scopes, keys: own } of read.managementClients) {
    give(own, { kind: 'management', tenant, name, scopes });
  }
  const clients = read.clients.map(({ keys: own, at: _at, ...entry }) => {
    const client: ClientPrincipal = { kind: 'client', tenant, ...entry };
    give(own, client);
    return client;
  });
  return { clients, keys };
}

function warnOfUnused(read: TenantFile): void {
  for (const { source, keys, at } of read.sources) {
    if (keys.length === 0) at.warning('a source without API keys', 'Nothing can be ingested into it.');
    if (source.environments.length === 0)
      at.warning('a source without environments', 'No views are built from its entities.');
  }
  for (const { scopes, keys, at } of read.clients) {
    if (keys.length === 0)
      at.warning('an environment client without API keys', 'Nobody can use this client.');
    if (scopes.size === 0) at.warning('an environment client without scopes', 'Its keys have no access.');
  }
  for (const { scopes, keys, at } of read.managementClients) {
    if (keys.length === 0) at.warning('a management client without API keys', 'Nobody can use this client.');
    if (scopes.size === 0) at.warning('a management client without scopes', 'Its keys have no access.');
  }
}

/** Stable: findings within a file keep their order. */
function inFileOrder(issues: readonly ConfigIssue[]): ConfigIssue[] {
  return [...issues].sort((a, b) => (a.file === b.file ? 0 : a.file < b.file ? -1 : 1));
}
