/** Writes of many entities: cut into requests, several at a time, each entity's in order. */
import { bothVersions, type Connection } from './connection.ts';
import type { EntityWithId, Removed, Saved } from './types.ts';

/** Limits of the platform: docs/reference/limits.md. */
const entitiesPerRequest = 50;
/** A request stays far below what the platform takes. */
const charactersPerRequest = 8_000_000;
const requestsAtOnce = 4;

interface BulkAnswer {
  readonly changedSourceEntities?: readonly string[];
  readonly unchangedSourceEntities?: readonly string[];
  readonly errors?: Readonly<Record<string, readonly string[]>>;
}

interface BulkDeleteAnswer {
  readonly deletedSourceEntities?: readonly string[];
  readonly notFoundSourceEntities?: readonly string[];
  readonly errors?: Readonly<Record<string, readonly string[]>>;
}

type Entities = Iterable<EntityWithId> | AsyncIterable<EntityWithId>;

/** @throws MillraceError for what is wrong with a whole request */
export async function saveAll(connection: Connection, entities: Entities): Promise<Saved> {
  const total = {
    changed: [] as string[],
    unchanged: [] as string[],
    errors: [] as [string, readonly string[]][],
    version: null as string | null,
  };
  const running = new Map<Promise<void>, ReadonlySet<string>>();
  const failures: unknown[] = [];
  const send = async (batch: readonly EntityWithId[]) => {
    const { body, version } = await connection.write<BulkAnswer>({
      method: 'POST',
      path: '/ingest/v2',
      body: batch,
      accepts: [422],
    });
    total.changed.push(...(body.changedSourceEntities ?? []));
    total.unchanged.push(...(body.unchangedSourceEntities ?? []));
    total.errors.push(...Object.entries(body.errors ?? {}));
    total.version = bothVersions(total.version, version);
  };
  for await (const batch of batchesOf(entities)) {
    const ids = new Set(batch.map(({ originId }) => originId));
    // Two states of one entity must arrive in their order.
    await waitWhile(running, (others) => batch.some(({ originId }) => others.has(originId)));
    const sent: Promise<void> = send(batch).finally(() => running.delete(sent));
    running.set(sent, ids);
    // It may fail while the next entity is awaited and the request is not.
    sent.catch((error: unknown) => failures.push(error));
    if (running.size >= requestsAtOnce) await Promise.race(running.keys());
    if (failures.length > 0) throw failures[0];
  }
  await Promise.all(running.keys());
  if (failures.length > 0) throw failures[0];
  return { ...total, errors: Object.fromEntries(total.errors) };
}

async function waitWhile(
  running: ReadonlyMap<Promise<void>, ReadonlySet<string>>,
  isShared: (ids: ReadonlySet<string>) => boolean,
): Promise<void> {
  const awaited = [...running].filter(([, ids]) => isShared(ids)).map(([sent]) => sent);
  await Promise.all(awaited);
}

async function* batchesOf(entities: Entities): AsyncGenerator<EntityWithId[]> {
  let batch: EntityWithId[] = [];
  let characters = 0;
  for await (const entity of entities) {
    const length = JSON.stringify(entity).length;
    const isFull = batch.length === entitiesPerRequest || characters + length > charactersPerRequest;
    if (isFull && batch.length > 0) {
      yield batch;
      batch = [];
      characters = 0;
    }
    batch.push(entity);
    characters += length;
  }
  if (batch.length > 0) yield batch;
}

/** @throws MillraceError for what is wrong with a whole request */
export async function removeAll(connection: Connection, originIds: readonly string[]): Promise<Removed> {
  const total = {
    removed: [] as string[],
    notFound: [] as string[],
    errors: [] as [string, readonly string[]][],
    version: null as string | null,
  };
  for (let at = 0; at < originIds.length; at += entitiesPerRequest) {
    const { body, version } = await connection.write<BulkDeleteAnswer>({
      method: 'DELETE',
      path: '/ingest/v2',
      body: { originIds: originIds.slice(at, at + entitiesPerRequest) },
      accepts: [422],
    });
    total.removed.push(...(body.deletedSourceEntities ?? []));
    total.notFound.push(...(body.notFoundSourceEntities ?? []));
    total.errors.push(...Object.entries(body.errors ?? {}));
    total.version = bothVersions(total.version, version);
  }
  return { ...total, errors: Object.fromEntries(total.errors) };
}
