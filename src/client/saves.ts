/** Writes many entities in batches, with several requests at a time. Writes of the same entity stay in order. */
import { type Connection, mergedVersion } from './connection.ts';
import type { EntityWithId, Removed, Saved } from './types.ts';

/** Limits of the platform: docs/reference/limits.md. */
const entitiesPerRequest = 50;
/** Far below the limit of the platform. */
const charactersPerRequest = 8_000_000;
const requestsAtOnce = 4;

type Errors = Readonly<Record<string, readonly string[]>>;

interface BulkAnswer {
  readonly changedSourceEntities?: readonly string[];
  readonly unchangedSourceEntities?: readonly string[];
  readonly errors?: Errors;
}

interface BulkDeleteAnswer {
  readonly deletedSourceEntities?: readonly string[];
  readonly notFoundSourceEntities?: readonly string[];
  readonly errors?: Errors;
}

type Entities = Iterable<EntityWithId> | AsyncIterable<EntityWithId>;

interface Outcome {
  readonly done: readonly string[] | undefined;
  readonly undone: readonly string[] | undefined;
  readonly errors: Errors | undefined;
  readonly version: string | null;
}

/** Combines the responses to several requests as if they were one. Each originId is listed once. */
class Totals {
  readonly #done = new Set<string>();
  readonly #undone = new Set<string>();
  readonly #errors = new Map<string, readonly string[]>();
  version: string | null = null;

  /**
   * @param originIds of the request
   * @param first number of entities sent before it
   */
  add(
    { done = [], undone = [], errors = {}, version }: Outcome,
    originIds: ReadonlySet<string>,
    first: number,
  ) {
    for (const originId of done) this.#done.add(originId);
    for (const originId of undone) this.#undone.add(originId);
    for (const [name, texts] of Object.entries(errors)) {
      const place = originIds.has(name) ? name : placeFrom(first, name);
      this.#errors.set(place, [...new Set([...(this.#errors.get(place) ?? []), ...texts])]);
    }
    this.version = mergedVersion(this.version, version);
  }

  get done(): string[] {
    return [...this.#done];
  }

  get undone(): string[] {
    return [...this.#undone].filter((originId) => !this.#done.has(originId));
  }

  get errors(): Errors {
    return Object.fromEntries(this.#errors);
  }
}

/** Corrects positions such as `entities[3]` and `originIds[3]`, which identify entries without a valid originId. */
function placeFrom(first: number, name: string): string {
  return name.replace(/^(entities|originIds)\[(\d+)\]$/, (_, list, at) => `${list}[${first + Number(at)}]`);
}

/** @throws MillraceError if a whole request fails */
export async function saveAll(connection: Connection, entities: Entities): Promise<Saved> {
  const totals = new Totals();
  const running = new Map<Promise<void>, ReadonlySet<string>>();
  const failures: unknown[] = [];
  const send = async (batch: readonly EntityWithId[], ids: ReadonlySet<string>, first: number) => {
    const { body, version } = await connection.write<BulkAnswer>({
      method: 'POST',
      path: '/ingest/v2',
      body: batch,
      accepts: [422],
    });
    const { changedSourceEntities: done, unchangedSourceEntities: undone, errors } = body;
    totals.add({ done, undone, errors, version }, ids, first);
  };
  let first = 0;
  for await (const batch of batchesOf(entities)) {
    const ids = new Set(batch.map(originIdOf));
    // Two states of the same entity must arrive in order.
    await waitWhile(running, (others) => batch.some((entity) => others.has(originIdOf(entity))));
    const sent: Promise<void> = send(batch, ids, first).finally(() => running.delete(sent));
    running.set(sent, ids);
    first += batch.length;
    // The request may fail while the next entity is awaited, and must not become an unhandled rejection.
    sent.catch((error: unknown) => failures.push(error));
    if (running.size >= requestsAtOnce) await Promise.race(running.keys());
    if (failures.length > 0) throw failures[0];
  }
  await Promise.all(running.keys());
  if (failures.length > 0) throw failures[0];
  const { done: changed, undone: unchanged, errors, version } = totals;
  return { changed, unchanged, errors, version };
}

/** Saves one entity whose originId cannot be in a path. @throws MillraceError, also if the entity is rejected */
export async function saveInBulk(connection: Connection, entity: EntityWithId): Promise<Saved> {
  const { body, version } = await connection.write<BulkAnswer>({
    method: 'POST',
    path: '/ingest/v2',
    body: [entity],
  });
  const { changedSourceEntities: changed = [], unchangedSourceEntities: unchanged = [] } = body;
  return { changed, unchanged, errors: {}, version };
}

/** Callers without types can also pass null, which the platform reports. */
function originIdOf(entity: EntityWithId | null | undefined): string {
  return entity?.originId ?? '';
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
    const { length } = JSON.stringify([entity]);
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

/** @throws MillraceError if a whole request fails */
export async function removeAll(connection: Connection, originIds: readonly string[]): Promise<Removed> {
  const totals = new Totals();
  for (let first = 0; first < originIds.length; first += entitiesPerRequest) {
    const batch = originIds.slice(first, first + entitiesPerRequest);
    const { body, version } = await connection.write<BulkDeleteAnswer>({
      method: 'DELETE',
      path: '/ingest/v2',
      body: { originIds: batch },
      accepts: [422],
    });
    const { deletedSourceEntities: done, notFoundSourceEntities: undone, errors } = body;
    totals.add({ done, undone, errors, version }, new Set(batch), first);
  }
  const { done: removed, undone: notFound, errors, version } = totals;
  return { removed, notFound, errors, version };
}
