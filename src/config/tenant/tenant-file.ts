/** Reads `tenant.json` (docs/reference/configuration.md "tenant.json"): reports all issues, and returns the valid parts. */

import type { Cursor } from '../../contract/config-cursor.ts';
import { quote } from '../../lib/message-text.ts';
import type { Domain, Environment, ManagementScope, Source, SourceGroup } from '../configuration.ts';
import type { UrlForm } from '../urls/url.ts';
import type { ConfiguredKey } from './api-keys.ts';
import { EntriesByName, readAlias, readChoice, readId, readKeys, readNamed } from './common-fields.ts';
import { type ClientEntry, readClient, readDomains } from './environment-clients.ts';
import { readWebhooks, type WebhookEntry } from './read-webhooks.ts';
import {
  environmentShape,
  managementClientShape,
  managementScopes,
  sourceGroupShape,
  sourceShape,
  tenantShape,
  urlsShape,
} from './tenant-shapes.ts';

export interface TenantFile extends SourceGroups {
  readonly urlForm: UrlForm;
  readonly environments: readonly Environment[];
  readonly domains: readonly Domain[];
  readonly clients: readonly ClientEntry[];
  readonly managementClients: readonly ManagementClientEntry[];
  readonly webhooks: readonly WebhookEntry[];
}

/**
 * Reads the whole file; absent lists are empty.
 * @param isStored the file may come from a backup, which has no secrets
 */
export function readTenantFile(root: Cursor, isStored: boolean): TenantFile {
  root.object(tenantShape);
  const environments = readEnvironments(root.member('environments'));
  const domains = readDomains(root.member('domains'));
  const clients = root.member('environmentClients').items();
  return {
    environments: [...environments.values()],
    urlForm: readUrlForm(root.member('urls')),
    domains: [...domains.values()],
    ...readSourceGroups(root.member('sourceGroups'), environments),
    clients: clients.flatMap((at, index) => readClient(at, index, environments, domains) ?? []),
    managementClients: root
      .member('managementClients')
      .items()
      .flatMap((at, index) => readManagementClient(at, index) ?? []),
    webhooks: readWebhooks(root.member('webhooks'), environments, isStored),
  };
}

/** `urls: {caseInsensitive?}` */
function readUrlForm(at: Cursor): UrlForm {
  if (at.isAbsent || at.object(urlsShape) === null) return 'exact';
  return at.member('caseInsensitive').optionalBoolean(false) ? 'folded' : 'exact';
}

function readEnvironments(list: Cursor): EntriesByName<Environment> {
  const environments = new EntriesByName<Environment>('environment');
  const ids = new EntriesByName<true>('environment id');
  for (const at of list.items()) {
    if (at.object(environmentShape) === null) continue;
    const id = readId(at.member('id'));
    const alias = readAlias(at.member('alias'));
    if (id !== null) ids.add(id, true, at.member('id'));
    if (alias !== null) environments.add(alias, { id: id ?? '', alias }, at.member('alias'));
  }
  return environments;
}

interface ManagementClientEntry {
  readonly name: string;
  readonly scopes: ReadonlySet<ManagementScope>;
  readonly keys: readonly ConfiguredKey[];
  readonly at: Cursor;
}

/** Reads one of `managementClients`; `index` is its position in the list. Null with an issue if it is not an object. */
function readManagementClient(at: Cursor, index: number): ManagementClientEntry | null {
  if (at.object(managementClientShape) === null) return null;
  return {
    name: at.member('name').optionalString(`management client ${index + 1}`),
    scopes: readManagementScopes(at.member('scopes')),
    keys: readKeys(at.member('apiKeys')),
    at,
  };
}

function readManagementScopes(list: Cursor): ReadonlySet<ManagementScope> {
  if (list.json === undefined) return new Set(managementScopes);
  const read = (item: Cursor) => readChoice(item, 'management scope', managementScopes) ?? [];
  return new Set(list.items().flatMap(read));
}

export interface SourceEntry {
  readonly source: Source;
  readonly keys: readonly ConfiguredKey[];
  readonly at: Cursor;
}

export interface SourceGroups {
  readonly sourceGroups: ReadonlyMap<string, SourceGroup>;
  readonly sources: readonly SourceEntry[];
}

/** Reads `sourceGroups` of a tenant file. */
export function readSourceGroups(list: Cursor, environments: EntriesByName<Environment>): SourceGroups {
  const groups = new EntriesByName<SourceGroup>('source group');
  const sourceIds = new EntriesByName<true>('source id');
  const sources: SourceEntry[] = [];
  for (const at of list.items()) {
    if (at.object(sourceGroupShape) === null) continue;
    const alias = readAlias(at.member('alias'));
    const entries = readSources(at.member('sources'), alias ?? '', environments, sourceIds);
    for (const entry of entries) sources.push(entry);
    const group = {
      alias: alias ?? '',
      autoIndex: at.member('autoIndex').optionalBoolean(false),
      sources: entries.map((entry) => entry.source),
    };
    if (alias !== null) groups.add(alias, group, at.member('alias'));
  }
  return { sourceGroups: new Map(groups), sources };
}

function readSources(
  list: Cursor,
  sourceGroup: string,
  environments: EntriesByName<Environment>,
  sourceIds: EntriesByName<true>,
): SourceEntry[] {
  // Environment alias -> name of the source of this group that uses it.
  const users = new Map<string, string>();
  return list.items().flatMap((at) => {
    if (at.object(sourceShape) === null) return [];
    const id = readId(at.member('id'));
    if (id !== null) sourceIds.add(id, true, at.member('id'));
    const name = at.member('name').optionalString(id ?? '');
    const used = readEnvironmentsOf(name, at.member('environments'), environments, users);
    const propertiesOptional = at.member('propertiesOptional').optionalBoolean(false);
    const source = { id: id ?? '', name, sourceGroup, environments: used, propertiesOptional };
    return [{ source, keys: readKeys(at.member('apiKeys')), at }];
  });
}

/** Within a source group, an environment is used by at most one source, so that group and environment identify a source. */
function readEnvironmentsOf(
  sourceName: string,
  list: Cursor,
  environments: EntriesByName<Environment>,
  users: Map<string, string>,
): Environment[] {
  if (list.json === undefined) {
    list.issue('missing', 'List the aliases of the environments that use this source.');
  }
  return list.items().flatMap((at) => {
    const environment = readNamed(at, environments);
    if (environment === null) return [];
    const user = users.get(environment.alias);
    users.set(environment.alias, user ?? sourceName);
    if (user === undefined) return [environment];
    const message = `environment "${environment.alias}" is used by source ${quote(user)} of this group`;
    at.issue(message, 'In one source group an environment is used by at most one source: remove one.');
    return [];
  });
}
