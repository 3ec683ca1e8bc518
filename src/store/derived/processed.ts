/** What was last made of an entity: enough to see what a new state changes, and to undo what is no longer made. */
import type { EntityRef } from '../../contract/ids.ts';
import { unpack } from '../codec/pack.ts';
import { PackWriter } from '../codec/pack-writer.ts';
import { keys } from '../keys.ts';
import { readFields, storeError } from '../redis/connection.ts';
import { hashPortion, type ScanPlace } from '../redis/scan.ts';
import type { Store } from '../store.ts';

export interface MadeClaim {
  /** From `claimField`. */
  readonly field: string;
  readonly host: string | null;
  readonly kind: 'page' | 'redirect';
  readonly sinceStamp: number;
  readonly display: string;
  readonly redirect: string | null;
}

/** Something made of the entity for one environment: a view or an index item. */
export interface MadeThing {
  readonly kind: 'view' | 'item';
  readonly environmentId: string;
  /** Schema alias, or index name. */
  readonly name: string;
  /** Digest of the schema that made it. */
  readonly schemaDigest: string;
  /** Digest of the stored bytes. */
  readonly bytesDigest: Buffer;
  readonly claims: readonly MadeClaim[];
  /** Lookup keys it is registered under: source id and key. */
  readonly dependsOn: readonly (readonly [sourceId: string, lookupKey: string])[];
}

export interface LookupStanding {
  readonly layoutId: string;
  readonly keys: readonly string[];
}

export interface ProcessedRecord {
  /** Stamp of the entity's state that was processed. */
  readonly stamp: number;
  readonly type: string;
  /** Under what it stands in each lookup layout that is kept for its source. */
  readonly lookups: readonly LookupStanding[];
  readonly made: readonly MadeThing[];
}

type PackedClaim = [string, string | null, 0 | 1, number, string, string | null];
type PackedThing = [0 | 1, string, string, string, Buffer, PackedClaim[], [string, string][]];
type PackedRecord = [number, string, [string, string[]][], PackedThing[]];

const writer = new PackWriter();

/** A `PackedRecord`. Equal records give equal bytes. */
export function encodeProcessed({ stamp, type, lookups, made }: ProcessedRecord): Buffer {
  writer.begin();
  writer.list(4);
  writer.number(stamp);
  writer.text(type);
  writer.list(lookups.length);
  for (const standing of lookups) {
    writer.list(2);
    writer.text(standing.layoutId);
    writer.list(standing.keys.length);
    for (const key of standing.keys) writer.text(key);
  }
  writer.list(made.length);
  for (const thing of made) writeThing(thing);
  return writer.take();
}

function writeThing(thing: MadeThing): void {
  writer.list(7);
  writer.number(thing.kind === 'view' ? 0 : 1);
  writer.text(thing.environmentId);
  writer.text(thing.name);
  writer.text(thing.schemaDigest);
  writer.bytes(thing.bytesDigest);
  writer.list(thing.claims.length);
  for (const { field, host, kind, sinceStamp, display, redirect } of thing.claims) {
    writer.list(6);
    writer.text(field);
    writer.textOrNull(host);
    writer.number(kind === 'page' ? 0 : 1);
    writer.number(sinceStamp);
    writer.text(display);
    writer.textOrNull(redirect);
  }
  writer.list(thing.dependsOn.length);
  for (const [sourceId, lookupKey] of thing.dependsOn) {
    writer.list(2);
    writer.text(sourceId);
    writer.text(lookupKey);
  }
}

export function decodeProcessed(stored: Buffer): ProcessedRecord {
  const [stamp, type, lookups, made] = unpack<PackedRecord>(stored);
  return {
    stamp,
    type,
    lookups: lookups.map(([layoutId, lookupKeys]) => ({ layoutId, keys: lookupKeys })),
    made: made.map(([kind, environmentId, name, schemaDigest, bytesDigest, claims, dependsOn]) => ({
      kind: kind === 0 ? 'view' : 'item',
      environmentId,
      name,
      schemaDigest,
      bytesDigest,
      claims: claims.map(([field, host, claimKind, sinceStamp, display, redirect]) => ({
        field,
        host,
        kind: claimKind === 0 ? 'page' : 'redirect',
        sinceStamp,
        display,
        redirect,
      })),
      dependsOn,
    })),
  };
}

/** Records of entities of one source in one partition, in the order asked. @throws StoreUnavailableError */
export async function readProcessed(
  store: Store,
  tag: string,
  tenant: string,
  sourceId: string,
  originIds: readonly string[],
): Promise<(ProcessedRecord | null)[]> {
  try {
    const stored = await readFields(store.client, keys.processed(tag, tenant, sourceId), originIds);
    return stored.map((record) => record && decodeProcessed(record));
  } catch (error) {
    throw storeError(error);
  }
}

/** Field of `keys.sources`. */
export function sourceField(tenant: string, sourceId: string): string {
  return `${tenant}|${sourceId}`;
}

/**
 * Sources whose entities were ever processed in a partition, configured or not. @throws StoreUnavailableError
 */
export async function processedSources(
  store: Store,
  tag: string,
): Promise<{ tenant: string; sourceId: string }[]> {
  try {
    const fields = await store.client.hkeys(keys.sources(tag));
    return fields.map((field) => {
      const [tenant = '', sourceId = ''] = field.split('|');
      return { tenant, sourceId };
    });
  } catch (error) {
    throw storeError(error);
  }
}

/**
 * Stamps of the states that were processed last of entities, in the order asked; null where none was.
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
  return stored.map((record) => (record === null ? null : decodeProcessed(record).stamp));
}

const recordsPerPortion = 100;

export interface ProcessedPortion {
  /** Where the next portion begins; null when this was the last. */
  readonly next: ScanPlace | null;
  readonly records: { readonly originId: string; readonly record: ProcessedRecord }[];
}

/** One portion of `scanProcessed`, from a place on (null: the beginning). @throws StoreUnavailableError */
export async function processedPortion(
  store: Store,
  tag: string,
  tenant: string,
  sourceId: string,
  place: ScanPlace | null,
): Promise<ProcessedPortion> {
  const key = keys.processed(tag, tenant, sourceId);
  const { next, pairs } = await hashPortion(store, key, place, recordsPerPortion);
  const records: ProcessedPortion['records'] = [];
  for (let index = 0; index + 1 < pairs.length; index += 2) {
    const [originId, record] = [pairs[index], pairs[index + 1]];
    if (originId && record) records.push({ originId: originId.toString(), record: decodeProcessed(record) });
  }
  return { next, records };
}

/** Number of records of one source in a partition. @throws StoreUnavailableError */
export async function countProcessed(
  store: Store,
  tag: string,
  tenant: string,
  sourceId: string,
): Promise<number> {
  try {
    return await store.client.hlen(keys.processed(tag, tenant, sourceId));
  } catch (error) {
    throw storeError(error);
  }
}

/**
 * OriginIds that have a record, a portion at a time: also those whose entity is gone but not yet processed.
 * @throws StoreUnavailableError
 */
export async function* scanProcessed(
  store: Store,
  tag: string,
  tenant: string,
  sourceId: string,
): AsyncGenerator<{ originId: string; record: ProcessedRecord }[]> {
  let place: ScanPlace | null = null;
  do {
    const portion: ProcessedPortion = await processedPortion(store, tag, tenant, sourceId, place);
    place = portion.next;
    if (portion.records.length > 0) yield portion.records;
  } while (place !== null);
}
