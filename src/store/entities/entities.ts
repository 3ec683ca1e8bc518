/** Source entities: the truth of the store. A stream entry only says which of them changed. */
import { hash, randomBytes } from 'node:crypto';
import { canonicalJson } from '../../contract/canonical-json.ts';
import type { SourceEntity, StoredEntity } from '../../contract/entity.ts';
import type { EntityRef } from '../../contract/ids.ts';
import type { JsonObject } from '../../contract/json.ts';
import { digestOf } from '../codec/digest.ts';
import { unpack } from '../codec/pack.ts';
import { PackWriter } from '../codec/pack-writer.ts';
import { keys } from '../keys.ts';
import { readFields, storeError } from '../redis/connection.ts';
import { surviving } from '../redis/replication.ts';
import { hashPortion, type ScanPlace } from '../redis/scan.ts';
import { Script } from '../redis/script.ts';
import type { Store } from '../store.ts';
import type { EncodedEntity, VersionVector } from '../types.ts';

export { acceptEntities } from './accept.ts';
export type { AcceptRequest } from './accept-call.ts';

const remove = new Script<[number, number[]]>('remove', 5);

type EntityRecord = [
  type: string,
  url: string | null,
  originParentId: string | null,
  redirects: string[],
  propertiesJson: string,
];

/** Bytes of an entity record; see `scripts/accept.lua`. */
const bornStampAt = 8;
const urlStampAt = 16;
const bodyAt = 24;

/** Hashes an entity, and encodes it once for its whole way into the store. */
export function encodeEntity(entity: SourceEntity): EncodedEntity {
  const { type, url, originParentId, redirects, properties } = entity;
  const identity = canonicalJson([type, url, originParentId, [...redirects], properties]);
  return new HashedEntity(entity, hash('sha256', identity, 'buffer').subarray(0, 16), identity.length);
}

class HashedEntity implements EncodedEntity {
  readonly originId: string;
  readonly type: string;
  readonly urlHash: Buffer;
  /** Let go when it is encoded: its bytes take a fraction of the memory. */
  #state: { readonly entity: SourceEntity } | { readonly body: Buffer };

  constructor(
    entity: SourceEntity,
    readonly contentHash: Buffer,
    readonly size: number,
  ) {
    this.originId = entity.originId;
    this.type = entity.type;
    this.urlHash = digestOf(entity.url ?? '');
    this.#state = { entity };
  }

  encode(): Buffer {
    if ('body' in this.#state) return this.#state.body;
    const body = encodeBody(this.#state.entity);
    this.#state = { body };
    return body;
  }
}

const writer = new PackWriter();

/** An `EntityRecord`. */
function encodeBody({ type, url, originParentId, redirects, properties }: SourceEntity): Buffer {
  writer.begin();
  writer.list(5);
  writer.text(type);
  writer.textOrNull(url);
  writer.textOrNull(originParentId);
  writer.list(redirects.length);
  for (const redirect of redirects) writer.text(redirect);
  writer.text(JSON.stringify(properties));
  return writer.take();
}

/** The stamps of an entity as scripts keep them: three big-endian doubles. */
export function packStamps({ stamp, bornStamp, urlStamp }: StoredEntity): Buffer {
  const packed = Buffer.alloc(bodyAt);
  packed.writeDoubleBE(stamp, 0);
  packed.writeDoubleBE(bornStamp, bornStampAt);
  packed.writeDoubleBE(urlStamp, urlStampAt);
  return packed;
}

/** Removes entities; `removed` says which were there. @throws StoreUnavailableError */
export async function removeEntities(
  store: Store,
  request: { readonly tenant: string; readonly sourceId: string; readonly originIds: readonly string[] },
): Promise<{ removed: boolean[]; version: VersionVector }> {
  const { tenant, sourceId, originIds } = request;
  const token = randomBytes(8).toString('base64url');
  const removed: boolean[] = new Array(originIds.length).fill(false);
  const version = new Map<number, number>();
  const groups = groupByPartition(store, sourceId, originIds, (originId) => originId);
  await survivingIn(store, groups, async () => {
    const calls = groups.map(async ([partition, positions]) => {
      const tag = store.partitions.tag(partition);
      const [sequence, found] = await remove.run(
        store.client,
        [
          keys.clock(tag),
          keys.stream(tag),
          keys.meta(tag, tenant, sourceId),
          keys.entities(tag, tenant, sourceId),
          keys.removal(tag, token),
        ],
        [tenant, sourceId, ...positions.map((position) => originIds[position] ?? '')],
      );
      version.set(partition, sequence);
      positions.forEach((position, index) => {
        removed[position] = found[index] === 1;
      });
    });
    await Promise.all(calls);
  });
  return { removed, version };
}

/** Calls to partitions, until no failover can take back what they did. */
async function survivingIn(
  store: Store,
  groups: readonly (readonly [partition: number, positions: number[]])[],
  call: () => Promise<void>,
): Promise<void> {
  const tags = groups.map(([partition]) => store.partitions.tag(partition));
  await surviving(store.acknowledgements, tags, call);
}

/** Positions of the things in their list, by the partition of their entity. */
function groupByPartition<T>(
  store: Store,
  sourceId: string,
  things: readonly T[],
  originIdOf: (thing: T) => string,
): [number, number[]][] {
  const groups = new Map<number, number[]>();
  things.forEach((thing, position) => {
    const partition = store.partitions.ofEntity(sourceId, originIdOf(thing));
    const group = groups.get(partition);
    if (group === undefined) groups.set(partition, [position]);
    else group.push(position);
  });
  return [...groups];
}

/** Entities as they are now, in the order asked; null where there is none. @throws StoreUnavailableError */
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
  try {
    await Promise.all(
      [...groups.values()].map(async ({ tag, sourceId, positions }) => {
        const originIds = positions.map((position) => refs[position]?.originId ?? '');
        const records = await store.client.hmgetBuffer(keys.entities(tag, tenant, sourceId), ...originIds);
        positions.forEach((position, index) => {
          const record = records[index];
          if (record) result[position] = decodeEntity(sourceId, originIds[index] ?? '', record);
        });
      }),
    );
  } catch (error) {
    throw storeError(error);
  }
  return result;
}

/** As `readEntities`, of one source in the partition with the tag. @throws StoreUnavailableError */
export async function readEntitiesIn(
  store: Store,
  tag: string,
  tenant: string,
  sourceId: string,
  originIds: readonly string[],
): Promise<(StoredEntity | null)[]> {
  try {
    const records = await readFields(store.client, keys.entities(tag, tenant, sourceId), originIds);
    return records.map((record, index) => record && decodeEntity(sourceId, originIds[index] ?? '', record));
  } catch (error) {
    throw storeError(error);
  }
}

function decodeEntity(sourceId: string, originId: string, record: Buffer): StoredEntity {
  const [type, url, originParentId, redirects, propertiesJson] = unpack<EntityRecord>(
    record.subarray(bodyAt),
  );
  return {
    sourceId,
    originId,
    type,
    url,
    originParentId,
    redirects,
    properties: JSON.parse(propertiesJson) as JsonObject,
    stamp: record.readDoubleBE(0),
    bornStamp: record.readDoubleBE(bornStampAt),
    urlStamp: record.readDoubleBE(urlStampAt),
  };
}

/** Number of entities of one source in a partition. @throws StoreUnavailableError */
export async function countEntities(
  store: Store,
  partition: number,
  tenant: string,
  sourceId: string,
): Promise<number> {
  try {
    return await store.client.hlen(keys.meta(store.partitions.tag(partition), tenant, sourceId));
  } catch (error) {
    throw storeError(error);
  }
}

const originIdsPerPortion = 500;

export interface OriginIdsPortion {
  /** Where the next portion begins; null when this was the last. */
  readonly next: ScanPlace | null;
  readonly originIds: readonly string[];
}

/** One portion of `scanOriginIds`, from a place on (null: the beginning). @throws StoreUnavailableError */
export async function originIdsPortion(
  store: Store,
  partition: number,
  tenant: string,
  sourceId: string,
  place: ScanPlace | null,
): Promise<OriginIdsPortion> {
  const key = keys.meta(store.partitions.tag(partition), tenant, sourceId);
  const { next, pairs } = await hashPortion(store, key, place, originIdsPerPortion);
  return { next, originIds: pairs.filter((_, index) => index % 2 === 0).map(String) };
}

/**
 * The originIds of one source in one partition, a portion at a time.
 * What stays during the whole scan is seen at least once. @throws StoreUnavailableError
 */
export async function* scanOriginIds(
  store: Store,
  partition: number,
  tenant: string,
  sourceId: string,
): AsyncGenerator<readonly string[]> {
  let place: ScanPlace | null = null;
  do {
    const portion: OriginIdsPortion = await originIdsPortion(store, partition, tenant, sourceId, place);
    place = portion.next;
    if (portion.originIds.length > 0) yield portion.originIds;
  } while (place !== null);
}
