/**
 * A client for browsers, Node and edge runtimes: `import { createClient } from 'millrace/client'`. It needs `fetch` and
 * nothing else (docs/guide/client.md).
 */
import { Connection, type ConnectionOptions, pause, type ReadOptions } from './connection.ts';
import { errorOf, MillraceError } from './errors.ts';
import { eventsOf } from './events.ts';
import { removeAll, saveAll } from './saves.ts';
import type {
  BuiltIn,
  Change,
  Delivered,
  DeliveredPage,
  Entity,
  EntityWithId,
  IndexOf,
  MissingReference,
  Query,
  QueryResult,
  Removed,
  Route,
  Saved,
  Untyped,
  ViewOf,
} from './types.ts';

export type { ConnectionOptions as ClientOptions, ReadOptions } from './connection.ts';
export { MillraceError } from './errors.ts';
export type * from './types.ts';

export interface ChangesOptions {
  /** An offset, or `now`; absent: everything that is there, then what changes. */
  readonly since?: string;
  readonly signal?: AbortSignal;
}

/** What reads of views take. */
export interface DeliveryOptions extends ReadOptions {
  /** References deeper than this are null, 0 to 100; absent: as the environment client has it. */
  readonly depth?: number;
}

export interface Client<M extends Delivered = Untyped> {
  /** What a URL leads to. */
  byUrl(url: string, options?: DeliveryOptions): Promise<DeliveredPage<ViewOf<M>>>;
  byHandle(handle: M['Handle'], options?: DeliveryOptions): Promise<ViewOf<M> | null>;
  byId(id: string, options?: DeliveryOptions): Promise<ViewOf<M> | null>;
  /** Views by handle; a handle without a view has no key. */
  byHandles(handles: readonly M['Handle'][], options?: DeliveryOptions): Promise<Record<string, ViewOf<M>>>;
  byIds(ids: readonly string[], options?: DeliveryOptions): Promise<Record<string, ViewOf<M>>>;
  /** Every route of the environment. */
  routes(options?: ReadOptions): AsyncGenerator<Route>;
  query<I extends IndexOf<M>>(
    index: I,
    query?: Query,
    options?: ReadOptions,
  ): Promise<QueryResult<M['Indexes'][I]>>;
  /** Every item that a query finds. */
  queryAll<I extends IndexOf<M>>(
    index: I,
    query?: Query,
    options?: ReadOptions,
  ): AsyncGenerator<M['Indexes'][I] & BuiltIn>;
  save(originId: string, entity: Entity): Promise<Saved>;
  saveMany(entities: Iterable<EntityWithId> | AsyncIterable<EntityWithId>): Promise<Saved>;
  remove(originIds: string | readonly string[]): Promise<Removed>;
  /** Follows what changes, for ever, and carries on by itself after a broken connection. */
  changes(options?: ChangesOptions): AsyncGenerator<Change>;
}

/** Every method throws `MillraceError` for what the platform refuses, and when it stays away. */
export function createClient<M extends Delivered = Untyped>(options: ConnectionOptions): Client<M> {
  const connection = new Connection(options);
  return {
    byUrl: (url, read) => pageOf(connection, url, read),
    byHandle: async (handle, read) =>
      memberOf(await viewsOf<ViewOf<M>>(connection, { handles: [handle] }, read), handle),
    byId: async (id, read) => memberOf(await viewsOf<ViewOf<M>>(connection, { ids: [id] }, read), id),
    byHandles: (handles, read) => viewsOf(connection, { handles }, read),
    byIds: (ids, read) => viewsOf(connection, { ids }, read),
    routes: (read) => routesOf(connection, read),
    query: (index, query, read) => queryOf(connection, index, query, read),
    queryAll: (index, query, read) => itemsOf(connection, index, query, read),
    save: (originId, entity) => saveOne(connection, originId, entity),
    saveMany: (entities) => saveAll(connection, entities),
    remove: (ids) => removeAll(connection, typeof ids === 'string' ? [ids] : ids),
    changes: (follow) => changesOf(connection, follow),
  };
}

interface DeliveryAnswer {
  readonly meta: {
    readonly status: 200 | 301 | 404;
    readonly redirect?: string | null;
    readonly missingViewReferences: readonly MissingReference[];
    readonly cutViewReferences?: readonly MissingReference[];
  };
  readonly route?: unknown;
  readonly views: Readonly<Record<string, unknown>>;
}

async function pageOf<V>(
  connection: Connection,
  url: string,
  { depth, ...read }: DeliveryOptions = {},
): Promise<DeliveredPage<V>> {
  const path = `/v2?url=${encodeURIComponent(url)}${depth === undefined ? '' : `&depth=${depth}`}`;
  const { body } = await connection.read<DeliveryAnswer>({ ...read, path });
  const { status, redirect = null, missingViewReferences: missing, cutViewReferences: cut } = body.meta;
  return { status, redirect, view: (body.route ?? null) as V | null, missing, ...(cut && { cut }) };
}

/** Keys of one request (docs/reference/limits.md). */
const keysPerRequest = 1000;

async function viewsOf<V>(
  connection: Connection,
  { ids = [], handles = [] }: { readonly ids?: readonly string[]; readonly handles?: readonly string[] },
  { depth, ...read }: DeliveryOptions = {},
): Promise<Record<string, V>> {
  const name = ids.length > 0 ? 'ids' : 'handles';
  const keys = [...new Set(ids.length > 0 ? ids : handles)];
  const views: (readonly [string, unknown])[] = [];
  for (let at = 0; at < keys.length; at += keysPerRequest) {
    const body = { [name]: keys.slice(at, at + keysPerRequest), ...(depth !== undefined && { depth }) };
    // A view that two handles name is wanted under both.
    const path = '/v2?includeDuplicateViews=true';
    const reply = await connection.read<DeliveryAnswer>({ ...read, method: 'POST', path, body });
    views.push(...Object.entries(reply.body.views));
  }
  // Also of the key `__proto__`, which an assignment would lose.
  return Object.fromEntries(views) as Record<string, V>;
}

/** Null also for what every object inherits: `constructor`. */
function memberOf<V>(views: Readonly<Record<string, V>>, key: string): V | null {
  return Object.hasOwn(views, key) ? (views[key] ?? null) : null;
}

async function* routesOf(connection: Connection, read?: ReadOptions): AsyncGenerator<Route> {
  for (let token: string | null = ''; token !== null; ) {
    const path: string =
      token === '' ? '/routes/v2' : `/routes/v2?continuationToken=${encodeURIComponent(token)}`;
    const { body }: { body: { continuationToken: string | null; results: readonly Route[] } } =
      await connection.read({ ...read, path });
    yield* body.results;
    token = body.continuationToken;
  }
}

async function queryOf<Item>(
  connection: Connection,
  index: string,
  query: Query = {},
  read?: ReadOptions,
): Promise<QueryResult<Item>> {
  const path = `/v1/${encodeURIComponent(index)}`;
  const { body } = await connection.read<QueryResult<Item>>({ ...read, method: 'POST', path, body: query });
  return body;
}

const itemsPerPage = 500;

async function* itemsOf<Item>(
  connection: Connection,
  index: string,
  query: Query = {},
  read?: ReadOptions,
): AsyncGenerator<Item & BuiltIn> {
  const asked = (query.pagination ?? {}) as { readonly pageSize?: number };
  const pageSize = asked.pageSize ?? itemsPerPage;
  for (let token: string | null | undefined; token !== null; ) {
    const pagination = token === undefined ? { pageSize } : { pageSize, nextPageToken: token };
    const page: QueryResult<Item> = await queryOf(connection, index, { ...query, pagination }, read);
    yield* page.results;
    token = page.nextPageToken;
  }
}

async function saveOne(connection: Connection, originId: string, entity: Entity): Promise<Saved> {
  const { body, version } = await connection.write<{ readonly message: string }>({
    method: 'POST',
    path: `/ingest/v2/${encodeURIComponent(originId)}`,
    body: entity,
  });
  const isUnchanged = body.message === 'Entity is unchanged';
  return {
    changed: isUnchanged ? [] : [originId],
    unchanged: isUnchanged ? [originId] : [],
    errors: {},
    version,
  };
}

function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 429;
}

/** The platform sends something every 15 s. */
const silenceMs = 45_000;

async function* changesOf(
  connection: Connection,
  { since, signal }: ChangesOptions = {},
): AsyncGenerator<Change> {
  let place = since;
  for (let failures = 0; ; failures += 1) {
    try {
      const query = place === undefined ? '' : `?since=${encodeURIComponent(place)}`;
      const { body } = await connection.open({
        path: `/changes/v1${query}`,
        headers: { Accept: 'text/event-stream' },
        ...(signal === undefined ? {} : { signal }),
      });
      if (body === null) throw errorOf(0, { message: 'the answer has no body' });
      for await (const { event, id, data } of eventsOf(body, silenceMs)) {
        failures = 0;
        place = id === '' ? place : id;
        if (event === 'change') yield { ...(JSON.parse(data) as Change), offset: id };
      }
    } catch (error) {
      if (signal?.aborted) return;
      // What is refused stays refused; what broke off, or is busy, is tried again.
      if (error instanceof MillraceError && isRefusal(error.status)) throw error;
    }
    if (signal?.aborted) return;
    await pause(connection.pauseMs(Math.min(failures, 8)), signal).catch(() => {});
  }
}
