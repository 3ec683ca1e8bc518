/**
 * Reads `tenant.json` (docs/reference/configuration.md "tenant.json"): every mistake is reported, and what is sound of the
 * rest is kept.
 */

import type { Cursor } from '../../contract/config-cursor.ts';
import type { Environment } from '../configuration.ts';
import { Names } from '../documents/names.ts';
import { type ClientEntry, readClient, readDomains } from './environment-clients.ts';
import { readAlias, readId } from './fields.ts';
import { readSourceGroups, type SourceGroups } from './source-groups.ts';

export interface TenantFile extends SourceGroups {
  readonly environments: readonly Environment[];
  readonly clients: readonly ClientEntry[];
}

/** Reads the whole file behind `root`; a list that is absent is an empty one. */
export function readTenantFile(root: Cursor): TenantFile {
  root.object(['environments', 'sourceGroups', 'domains', 'environmentClients']);
  const environments = readEnvironments(root.member('environments'));
  const domains = readDomains(root.member('domains'));
  const clients = root.member('environmentClients').items();
  return {
    environments: [...environments.values()],
    ...readSourceGroups(root.member('sourceGroups'), environments),
    clients: clients.flatMap((at, index) => readClient(at, index, environments, domains) ?? []),
  };
}

function readEnvironments(list: Cursor): Names<Environment> {
  const environments = new Names<Environment>('environment');
  const ids = new Names<true>('environment id');
  for (const at of list.items()) {
    if (at.object(['id', 'alias']) === null) continue;
    const id = readId(at.member('id'));
    const alias = readAlias(at.member('alias'));
    if (id !== null) ids.add(id, true, at.member('id'));
    if (alias !== null) environments.add(alias, { id: id ?? '', alias }, at.member('alias'));
  }
  return environments;
}
