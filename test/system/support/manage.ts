import type { Json } from '../../../src/contract/json.ts';
import type { Answer, Client } from './client.ts';
import { managementKey } from './site.ts';

/** Settings of a tenant in which `managementKey` may do everything. */
export const managed = { managementClients: [{ name: 'ci', apiKeys: [managementKey] }] };

/** Calls the management interface. @param options with a `body` it is a POST, otherwise a GET */
export function manage(
  client: Client,
  place: string,
  { body, key = managementKey }: { readonly body?: Json; readonly key?: string } = {},
): Promise<Answer> {
  const at = `/management/v1${place}`;
  return body === undefined ? client.get(at, { key }) : client.post(at, body, { key });
}

/** Puts a configuration. @param query of the URL, with its `?` */
export function configure(client: Client, body: Json, query = ''): Promise<Answer> {
  return client.call('PUT', `/management/v1/configuration${query}`, { key: managementKey, body });
}
