/**
 * A client for browsers, Node and edge runtimes: `import { createClient } from 'millrace/client'`. It only needs `fetch`
 * (docs/guide/client.md).
 */
import { type ChangesOptions, changesOf } from './changes.ts';
import { Connection, type ConnectionOptions, type ReadOptions } from './connection.ts';
import { type DeliveryOptions, type Keys, pageOf, routesOf, viewOf, viewsOf } from './delivery.ts';
import { itemsOf, queryGroup, queryIndex, queryMany } from './queries.ts';
import type { Query } from './query.ts';
import { removeAll, saveAll, saveInBulk } from './saves.ts';
import type {
  BuiltIn,
  Change,
  Delivered,
  DeliveredPage,
  DeliveredViews,
  Entity,
  EntityWithId,
  GroupItem,
  IndexOf,
  ItemOf,
  NamedQueryOf,
  QueryOf,
  QueryResult,
  Removed,
  ResultsOf,
  Route,
  Saved,
  Untyped,
  ViewOf,
} from './types.ts';

export type { ChangesOptions } from './changes.ts';
export type { ConnectionOptions as ClientOptions, ReadOptions } from './connection.ts';
export { MillraceError } from './connection.ts';
export type { DeliveryOptions, Keys } from './delivery.ts';
export type * from './query.ts';
export type * from './types.ts';

export interface Client<M extends Delivered = Untyped> {
  /** The page or redirect at a URL. */
  byUrl(url: string, options?: DeliveryOptions): Promise<DeliveredPage<ViewOf<M>>>;
  byHandle(handle: M['Handle'], options?: DeliveryOptions): Promise<ViewOf<M> | null>;
  byId(id: string, options?: DeliveryOptions): Promise<ViewOf<M> | null>;
  /** Views by handle; a handle without a view has no key. */
  byHandles(handles: readonly M['Handle'][], options?: DeliveryOptions): Promise<Record<string, ViewOf<M>>>;
  byIds(ids: readonly string[], options?: DeliveryOptions): Promise<Record<string, ViewOf<M>>>;
  /** Views by handle and id, with the cache tags and the ETag of the response. */
  views(keys: Keys<M['Handle']>, options?: DeliveryOptions): Promise<DeliveredViews<ViewOf<M>>>;
  /** All routes of the environment. */
  routes(options?: ReadOptions): AsyncGenerator<Route>;
  query<I extends IndexOf<M>>(
    index: I,
    query?: QueryOf<M, I>,
    options?: ReadOptions,
  ): Promise<QueryResult<ItemOf<M, I>>>;
  /** All items that match a query. */
  queryAll<I extends IndexOf<M>>(
    index: I,
    query?: QueryOf<M, I>,
    options?: ReadOptions,
  ): AsyncGenerator<ItemOf<M, I> & BuiltIn>;
  /** Sends several queries, up to five per request. Returns the results by the names of the queries. */
  multiQuery<const Queries extends readonly NamedQueryOf<M>[]>(
    queries: Queries,
    options?: ReadOptions,
  ): Promise<ResultsOf<M, Queries>>;
  /** Queries the entities of an auto-indexed source group. */
  queryGroup(
    group: string,
    type: string,
    query?: Omit<Query, 'aliases'>,
    options?: ReadOptions,
  ): Promise<QueryResult<GroupItem>>;
  save(originId: string, entity: Entity): Promise<Saved>;
  saveMany(entities: Iterable<EntityWithId> | AsyncIterable<EntityWithId>): Promise<Saved>;
  remove(originIds: string | readonly string[]): Promise<Removed>;
  /** Follows changes without end. Reconnects after a broken connection. */
  changes(options?: ChangesOptions): AsyncGenerator<Change>;
}

/** All methods throw `MillraceError` if the platform refuses a request or cannot be reached. */
export function createClient<M extends Delivered = Untyped>(options: ConnectionOptions): Client<M> {
  const connection = new Connection(options);
  return {
    byUrl: (url, read) => pageOf(connection, url, read),
    byHandle: (handle, read) => viewOf(connection, { handles: [handle] }, read),
    byId: (id, read) => viewOf(connection, { ids: [id] }, read),
    byHandles: async (handles, read) => (await viewsOf<ViewOf<M>>(connection, { handles }, read)).views,
    byIds: async (ids, read) => (await viewsOf<ViewOf<M>>(connection, { ids }, read)).views,
    views: (keys, read) => viewsOf(connection, keys, read),
    routes: (read) => routesOf(connection, read),
    query: (index, query, read) => queryIndex(connection, index, query, read),
    queryAll: (index, query, read) => itemsOf(connection, index, query, read),
    multiQuery: async <const Queries extends readonly NamedQueryOf<M>[]>(
      queries: Queries,
      read?: ReadOptions,
    ) => (await queryMany(connection, queries, read)) as ResultsOf<M, Queries>,
    queryGroup: (group, type, query, read) => queryGroup(connection, { group, type }, query, read),
    save: (originId, entity) => saveOne(connection, originId, entity),
    saveMany: (entities) => saveAll(connection, entities),
    remove: (ids) => removeAll(connection, typeof ids === 'string' ? [ids] : ids),
    changes: (follow) => changesOf(connection, follow),
  };
}

/** URL parsers remove segments of dots, even percent-encoded; an unpaired surrogate cannot be percent-encoded. */
const unfitForPath = /^\.\.?$|\p{Surrogate}/u;

async function saveOne(connection: Connection, originId: string, entity: Entity): Promise<Saved> {
  if (unfitForPath.test(originId)) return await saveInBulk(connection, { ...entity, originId });
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
