/** How the contenders of `ingest` load a file of entities. */

import type { SqlConnection } from '../contenders/postgres.ts';
import { type EntityKeeper, loadEntities } from '../contenders/postgres-cities.ts';
import { cityIndex } from '../data/cities-tenant.ts';
import type { Client } from '../load/client.ts';
import { type EntityFile, linesOf, openFile } from './entity-file.ts';

/** Until every entity has its route and every city is in the index. */
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
  keeper: EntityKeeper,
  file: EntityFile,
): Promise<void> {
  return loadEntities(connections, keeper, linesOf(file));
}
