/** Reads `tenant.json` (docs/reference/configuration.md "tenant.json"): reports all issues, and returns the valid parts. */

import type { Cursor } from '../../contract/config-cursor.ts';
import type { Domain, Environment, ManagementScope } from '../configuration.ts';
import type { UrlForm } from '../urls/url.ts';
import type { ConfiguredKey } from './api-keys.ts';
import { EntriesByName, readAlias, readId, readKeys, readNamed } from './common-fields.ts';
import { type ClientEntry, readClient, readDomains } from './environment-clients.ts';
import { readWebhooks, type WebhookEntry } from './read-webhooks.ts';
import { readSourceGroups, type SourceGroups } from './source-groups.ts';
import {
  environmentShape,
  managementClientShape,
  managementScopes,
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
  const known = new EntriesByName<ManagementScope>(
    'management scope',
    managementScopes.map((scope) => [scope, scope]),
  );
  return new Set(list.items().flatMap((item) => readNamed(item, known) ?? []));
}
