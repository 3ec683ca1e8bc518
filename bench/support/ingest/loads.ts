/** Loads a file of entities into each contender of `ingest`. */

import type { SqlConnection } from '../contenders/postgres.ts';
import { type EntityStorage, loadEntities } from '../contenders/postgres-cities.ts';
import { cityIndex } from '../data/cities-tenant.ts';
import type { Client } from '../load/client.ts';
import { type EntityFile, linesOf, openFile } from './entity-file.ts';

/** Waits until every entity has its route and every city is in the index. */
export async function loadMillrace(client: Client, file: EntityFile): Promise<void> {
  const { entities } = file;
  await client.import(openFile(file));
  await client.waitForItems(cityIndex, entities.filter(({ type }) => type === 'city').length);
  await client.waitForRoutes(
    entities.length + entities.reduce((sum, { redirects }) => sum + redirects.length, 0),
  );
}

export function loadPostgres(
  connections: readonly SqlConnection[],
  storage: EntityStorage,
  file: EntityFile,
): Promise<void> {
  return loadEntities(connections, storage, linesOf(file));
}
