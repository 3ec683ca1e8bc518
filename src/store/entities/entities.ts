/**
 * Source entities, from which everything else is derived. A stream entry only names the changed ones. They are read and removed
 * here; `accept.ts` stores them.
 */
import { randomBytes } from 'node:crypto';
import type { StoredEntity } from '../../contract/entity.ts';
import type { EntityRef } from '../../contract/ids.ts';
import { largeJsonCharacters } from '../../contract/large-json/parse-in-parts.ts';
import { sliceMs } from '../../contract/limits.ts';
import { allSettled } from '../../lib/all-settled.ts';
import { groupBy } from '../../lib/lists.ts';
import { Slice } from '../../lib/slices/slice.ts';
import { type NamesPlace, readNames } from '../codec/name-lists.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import { surviving } from '../redis/replication.ts';
import { fieldsPortion, portionsFrom, type ScanPlace } from '../redis/scan.ts';
import { TimelyScript } from '../redis/script.ts';
import { readFields } from '../redis/send.ts';
import type { SourceRef } from '../scopes.ts';
import type { Store } from '../store.ts';
import type { VersionVector } from '../visibility/version.ts';
import { decodeEntity, decodeInParts, type OpenRecord, openRecord } from './entity-record.ts';

/** The current entities, in the order given; null for missing ones. @throws StoreUnavailableError */
export async function readEntities(
  store: Store,
  tenant: string,
  refs: readonly EntityRef[],
): Promise<(StoredEntity | null)[]> {
  const result: (StoredEntity | null)[] = new Array(refs.length).fill(null);
  const groups = new Map<string, { tag: string; sourceId: string; positions: number[] }>();
  refs.forEach(({ sourceId, originId }, position) => {
    const tag = store.partitions.tag(store.partitions.ofEntity(sourceId, originId));
    const group = groups.get(`${tag}${sourceId}`);
    if (group === undefined) groups.set(`${tag}${sourceId}`, { tag, sourceId, positions: [position] });
    else group.positions.push(position);
  });
  await Promise.all(
    [...groups.values()].map(async ({ tag, sourceId, positions }) => {
      const originIds = positions.map((position) => refs[position]?.originId ?? '');
      const records = await answerOf(
        store.client.hmgetBuffer(keys.entities(tag, tenant, sourceId), ...originIds),
      );
      const entities = await decodeEntities(store, { tag, tenant, sourceId }, originIds, records);
      positions.forEach((position, index) => {
        result[position] = entities[index] ?? null;
      });
    }),
  );
  return result;
}

/** Like `readEntities`, for one source in the partition with the tag. @throws StoreUnavailableError */
export async function readEntitiesIn(
  store: Store,
  tag: string,
  tenant: string,
  sourceId: string,
  originIds: readonly string[],
): Promise<(StoredEntity | null)[]> {
  const records = await answerOf(readFields(store.client, keys.entities(tag, tenant, sourceId), originIds));
  return await decodeEntities(store, { tag, tenant, sourceId }, originIds, records);
}

async function decodeEntities(
  store: Store,
  place: NamesPlace,
  originIds: readonly string[],
  records: readonly (Buffer | null)[],
): Promise<(StoredEntity | null)[]> {
  const { sourceId } = place;
  const entities: (StoredEntity | null)[] = [];
  const slice = new Slice(sliceMs);
  const open: (OpenRecord | null)[] = [];
  for (const record of records) {
    open.push(record && openRecord(record));
    if (slice.isOver) await slice.next();
  }
  const digests = open.map((record) => record?.namesDigest ?? null);
  const lists = await readNames(store, place, digests);
  for (const [index, record] of open.entries()) {
    const names = lists[index];
    if (record === null || names === undefined) {
      entities.push(null);
      continue;
    }
    const ref = { sourceId, originId: originIds[index] ?? '' };
    const isSmall = (records[index]?.length ?? 0) <= largeJsonCharacters;
    entities.push(
      isSmall ? decodeEntity(ref, record, names) : await slice.run(decodeInParts(ref, record, names)),
    );
    if (slice.isOver) await slice.next();
  }
  return entities;
}

/** Number of entities of a source in a partition. @throws StoreUnavailableError */
export async function countEntities(
  store: Store,
  partition: number,
  tenant: string,
  sourceId: string,
): Promise<number> {
  return await answerOf(store.client.hlen(keys.entities(store.partitions.tag(partition), tenant, sourceId)));
}

const originIdsPerPortion = 500;

export interface OriginIdsPortion {
  /** Where the next portion begins; null after the last. */
  readonly next: ScanPlace | null;
  readonly originIds: readonly string[];
}

/** One portion of `scanOriginIds`, from a scan position (null: the beginning). @throws StoreUnavailableError */
export async function originIdsPortion(
  store: Store,
  partition: number,
  tenant: string,
  sourceId: string,
  place: ScanPlace | null,
): Promise<OriginIdsPortion> {
  const key = keys.entities(store.partitions.tag(partition), tenant, sourceId);
  const { next, fields } = await fieldsPortion(store, key, place, originIdsPerPortion);
  return { next, originIds: fields.map((originId) => originId.toString()) };
}

/**
 * Yields the originIds of a source in a partition, in portions. Entities that exist during the whole scan appear at least once.
 * @throws StoreUnavailableError
 */
export async function* scanOriginIds(
  store: Store,
  partition: number,
  tenant: string,
  sourceId: string,
): AsyncGenerator<readonly string[]> {
  const portions = portionsFrom((place) => originIdsPortion(store, partition, tenant, sourceId, place));
  for await (const { originIds } of portions) if (originIds.length > 0) yield originIds;
}

const remove = new TimelyScript<[sequence: number, found: number[]]>('entities/remove', 4);

interface RemoveRequest extends SourceRef {
  readonly originIds: readonly string[];
  /** Time limit on the clock of `performance.now()`; absent: that of the store's commands. */
  readonly endsMs?: number;
}

/** Removes entities; `removed` lists those that existed. @throws StoreUnavailableError */
export async function removeEntities(
  store: Store,
  { tenant, sourceId, originIds, endsMs }: RemoveRequest,
): Promise<{ removed: boolean[]; version: VersionVector }> {
  const token = randomBytes(8).toString('base64url');
  const removed: boolean[] = new Array(originIds.length).fill(false);
  const version = new Map<number, number>();
  const groups = groupBy(originIds.keys(), (position) =>
    store.partitions.ofEntity(sourceId, originIds[position] ?? ''),
  );
  const removeGroup = async ([partition, positions]: readonly [number, readonly number[]]) => {
    const tag = store.partitions.tag(partition);
    const [sequence, found] = await remove.run(
      store,
      [keys.clock(tag), keys.stream(tag), keys.entities(tag, tenant, sourceId), keys.removal(tag, token)],
      [tenant, sourceId, ...positions.map((position) => originIds[position] ?? '')],
      endsMs,
    );
    version.set(partition, sequence);
    for (const [index, position] of positions.entries()) removed[position] = found[index] === 1;
  };
  const tags = [...groups.keys()].map((partition) => store.partitions.tag(partition));
  await surviving(store.acknowledgements, tags, () => allSettled([...groups].map(removeGroup)));
  return { removed, version };
}
