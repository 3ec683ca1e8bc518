/** Reads processed records: what was last built from each entity. */
import type { EntityRef } from '../../contract/ids.ts';
import { groupBy } from '../../lib/lists.ts';
import { findNames, type NamesPlace } from '../codec/name-lists.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import { hashPortion, portionsFrom, type ScanPlace } from '../redis/scan.ts';
import { readFields } from '../redis/send.ts';
import { type SourceRef, sourceOfField } from '../scopes.ts';
import type { Store } from '../store.ts';
import {
  decodeProcessed,
  type OpenProcessed,
  openProcessed,
  type ProcessedRecord,
} from './processed-record.ts';

/** Records of entities of a source in one partition, in the order given. @throws StoreUnavailableError */
export async function readProcessed(
  store: Store,
  tag: string,
  tenant: string,
  sourceId: string,
  originIds: readonly string[],
): Promise<(ProcessedRecord | null)[]> {
  const stored = await answerOf(readFields(store.client, keys.processed(tag, tenant, sourceId), originIds));
  const place = { tag, tenant, sourceId };
  const found = stored.filter((record) => record !== null).map(openProcessed);
  const records = (await withNames(store, place, found)).values();
  return stored.map((record) => record && (records.next().value ?? null));
}

/** Records of entities anywhere, in the order given, each read once. @throws StoreUnavailableError */
export async function readProcessedOf(
  store: Store,
  tenant: string,
  refs: readonly EntityRef[],
): Promise<(ProcessedRecord | null)[]> {
  const nameOf = ({ sourceId, originId }: EntityRef) => `${sourceId}:${originId}`;
  const partitionOf = ({ sourceId, originId }: EntityRef) => store.partitions.ofEntity(sourceId, originId);
  const records = new Map<string, ProcessedRecord | null>();
  const distinct = new Map(refs.map((ref) => [nameOf(ref), ref])).values();
  const groups = groupBy(distinct, (ref) => `${partitionOf(ref)}:${ref.sourceId}`);
  await Promise.all(
    [...groups.values()].map(async (group) => {
      const [first] = group;
      if (first === undefined) return;
      const tag = store.partitions.tag(partitionOf(first));
      const originIds = group.map(({ originId }) => originId);
      const found = await readProcessed(store, tag, tenant, first.sourceId, originIds);
      for (const [at, ref] of group.entries()) records.set(nameOf(ref), found[at] ?? null);
    }),
  );
  return refs.map((ref) => records.get(nameOf(ref)) ?? null);
}

/**
 * Adds the names that the records leave out. A record without its list is useless (null): the next processing of its entity
 * creates both again.
 * @throws StoreUnavailableError
 */
async function withNames(
  store: Store,
  place: NamesPlace,
  records: readonly OpenProcessed[],
): Promise<(ProcessedRecord | null)[]> {
  const lists = await findNames(
    store,
    place,
    records.map(({ namesDigest }) => namesDigest),
  );
  return records.map((record, at) => {
    const names = lists[at];
    return names === undefined ? null : decodeProcessed(record, names);
  });
}

/**
 * All sources whose entities were ever processed in a partition, even if no longer configured.
 * @throws StoreUnavailableError
 */
export async function processedSources(store: Store, tag: string): Promise<SourceRef[]> {
  return (await answerOf(store.client.hkeys(keys.sources(tag)))).map(sourceOfField);
}

/**
 * Stamp of the last processed state of each entity, in the order given; null if none was processed.
 * @throws StoreUnavailableError
 */
export async function readProcessedStamps(
  store: Store,
  tenant: string,
  refs: readonly EntityRef[],
): Promise<(number | null)[]> {
  const stored = await store.fields.read(
    refs.map(({ sourceId, originId }) => ({
      key: keys.processed(
        store.partitions.tag(store.partitions.ofEntity(sourceId, originId)),
        tenant,
        sourceId,
      ),
      field: originId,
    })),
  );
  return stored.map((record) => (record === null ? null : openProcessed(record).stamp));
}

const recordsPerPortion = 100;

export interface ProcessedPortion {
  /** Where the next portion begins; null after the last. */
  readonly next: ScanPlace | null;
  readonly records: { readonly originId: string; readonly record: ProcessedRecord }[];
}

/** One portion of `scanProcessed`, from a scan position (null: the beginning). @throws StoreUnavailableError */
export async function processedPortion(
  store: Store,
  tag: string,
  tenant: string,
  sourceId: string,
  place: ScanPlace | null,
): Promise<ProcessedPortion> {
  const key = keys.processed(tag, tenant, sourceId);
  const { next, pairs } = await hashPortion(store, key, place, recordsPerPortion);
  const found = await withNames(
    store,
    { tag, tenant, sourceId },
    pairs.map(([, stored]) => openProcessed(stored)),
  );
  const records = found.flatMap((record, at) => {
    const originId = pairs[at]?.[0].toString() ?? '';
    return record === null ? [] : [{ originId, record }];
  });
  return { next, records };
}

/** Number of records of a source in a partition. @throws StoreUnavailableError */
export async function countProcessed(
  store: Store,
  tag: string,
  tenant: string,
  sourceId: string,
): Promise<number> {
  return await answerOf(store.client.hlen(keys.processed(tag, tenant, sourceId)));
}

/**
 * Yields records in portions, including those of removed entities whose removal is not processed yet.
 * @throws StoreUnavailableError
 */
export async function* scanProcessed(
  store: Store,
  tag: string,
  tenant: string,
  sourceId: string,
): AsyncGenerator<{ originId: string; record: ProcessedRecord }[]> {
  const portions = portionsFrom((place) => processedPortion(store, tag, tenant, sourceId, place));
  for await (const { records } of portions) if (records.length > 0) yield records;
}
