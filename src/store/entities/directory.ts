/** The entities of a source by type, sorted by originId (docs/design/data.md). Lists of entities are read from here. */
import { groupBy, portions } from '../../lib/lists.ts';
import { keys } from '../keys.ts';
import {
  hasListed,
  type ListPage,
  listLengths,
  readListPage,
  readPageOfAll,
} from '../redis/ordered-lists.ts';
import { answerOf } from '../redis/redis-errors.ts';
import type { SourceRef } from '../scopes.ts';
import type { Store } from '../store.ts';
import { forgetField } from './forget-field.ts';

const forgottenAtOnce = 100;

/** Types of the entities of a source -> count, in code-point order. @throws StoreUnavailableError */
export async function countTypes(store: Store, source: SourceRef): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  await Promise.all(
    store.partitions.tags.map(async (tag) => {
      const types = await typesIn(store, tag, source);
      const lists = types.map((type) => keys.directory(tag, source.tenant, source.sourceId, type));
      const lengths = await listLengths(store, tag, lists);
      types.forEach((type, at) => {
        counts.set(type, (counts.get(type) ?? 0) + (lengths[at] ?? 0));
      });
    }),
  );
  return new Map([...counts].filter(([, count]) => count > 0).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export interface DirectoryPage {
  /** Null: all types. */
  readonly type: string | null;
  /** The page begins after this originId; null: at the beginning. */
  readonly after: string | null;
  /** The page has the last originIds before this one, in descending order. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** OriginIds of processed entities in code-point order, at most `limit`. @throws StoreUnavailableError */
export async function listOriginIds(store: Store, source: SourceRef, page: DirectoryPage): Promise<string[]> {
  const { tenant, sourceId } = source;
  const lists = await Promise.all(
    store.partitions.tags.map(async (tag) => {
      const types = page.type === null ? await typesIn(store, tag, source) : [page.type];
      return types.map((type) => keys.directory(tag, tenant, sourceId, type));
    }),
  );
  return (await readPageOfAll(store, lists.flat(), listPage(page))).map(String);
}

function listPage({ after, before, limit }: Omit<DirectoryPage, 'type'>): ListPage {
  const direction = before === undefined ? 'ascending' : 'descending';
  return { direction, after: after ?? undefined, before, limit };
}

/** OriginIds of a type in a partition after `after`, in code-point order. @throws StoreUnavailableError */
export async function originIdsIn(
  store: Store,
  tag: string,
  type: SourceRef & { readonly type: string },
  after: string | null,
  limit: number,
): Promise<string[]> {
  const list = keys.directory(tag, type.tenant, type.sourceId, type.type);
  return (await readListPage(store, list, listPage({ after, limit }))).map(String);
}

/** Entity types that a partition has or once had of a source. @throws StoreUnavailableError */
export async function typesIn(store: Store, tag: string, { tenant, sourceId }: SourceRef): Promise<string[]> {
  return await answerOf(store.client.hkeys(keys.entityTypes(tag, tenant, sourceId)));
}

/** Removes the types of a source without entities in a partition. @throws StoreUnavailableError */
export async function forgetTypes(store: Store, tag: string, source: SourceRef): Promise<void> {
  const { tenant, sourceId } = source;
  const typesKey = keys.entityTypes(tag, tenant, sourceId);
  for (const types of portions(await typesIn(store, tag, source), forgottenAtOnce)) {
    await Promise.all(
      types.map((type) => forgetField(store, typesKey, type, keys.directory(tag, tenant, sourceId, type))),
    );
  }
}

/** Whether each entity is in the directory of its type, in the order given. @throws StoreUnavailableError */
export async function areListed(
  store: Store,
  tag: string,
  entities: readonly (SourceRef & { readonly originId: string; readonly type: string })[],
): Promise<boolean[]> {
  const listed = new Set<(typeof entities)[number]>();
  const groups = groupBy(entities, ({ tenant, sourceId, type }) =>
    keys.directory(tag, tenant, sourceId, type),
  );
  await Promise.all(
    [...groups].map(async ([list, group]) => {
      const originIds = group.map(({ originId }) => originId);
      const found = await hasListed(store, list, originIds);
      for (const [at, entity] of group.entries()) if (found[at]) listed.add(entity);
    }),
  );
  return entities.map((entity) => listed.has(entity));
}
