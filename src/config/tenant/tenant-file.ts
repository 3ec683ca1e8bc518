/**
 * Reads `tenant.json` (docs/reference/configuration.md "tenant.json"): every mistake is reported, and what is sound of the
 * rest is kept.
 */

import type { Cursor } from '../../contract/config-cursor.ts';
import type { Domain, Environment } from '../configuration.ts';
import { Names } from '../documents/document-names.ts';
import type { UrlForm } from '../urls/url-form.ts';
import { readAlias, readId } from './common-fields.ts';
import { type ClientEntry, readClient, readDomains } from './environment-clients.ts';
import { type ManagementClientEntry, readManagementClient } from './management-clients.ts';
import { readWebhooks, type WebhookEntry } from './read-webhooks.ts';
import { readSourceGroups, type SourceGroups } from './source-groups.ts';
import { environmentShape, tenantShape, urlsShape } from './tenant-shapes.ts';

export interface TenantFile extends SourceGroups {
  readonly urlForm: UrlForm;
  readonly environments: readonly Environment[];
  readonly domains: readonly Domain[];
  readonly clients: readonly ClientEntry[];
  readonly managementClients: readonly ManagementClientEntry[];
  readonly webhooks: readonly WebhookEntry[];
}

/**
 * Reads the whole file after `root`; a list that is absent is an empty one.
 * @param isStored the file may be one of a backup, which has no secrets
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

function readEnvironments(list: Cursor): Names<Environment> {
  const environments = new Names<Environment>('environment');
  const ids = new Names<true>('environment id');
  for (const at of list.items()) {
    if (at.object(environmentShape) === null) continue;
    const id = readId(at.member('id'));
    const alias = readAlias(at.member('alias'));
    if (id !== null) ids.add(id, true, at.member('id'));
    if (alias !== null) environments.add(alias, { id: id ?? '', alias }, at.member('alias'));
  }
  return environments;
}
