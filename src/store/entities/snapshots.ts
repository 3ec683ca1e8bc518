/** Source entities for a backup, with everything that cannot be recomputed; a restore puts them into an empty store as they were. */
import type { StoredEntity } from '../../contract/entity.ts';
import { groupBy } from '../../lib/lists.ts';
import { readProcessed } from '../derived/processed.ts';
import { encodeProcessed, type ProcessedRecord } from '../derived/processed-record.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import { surviving } from '../redis/replication.ts';
import { Script, type ScriptArgument } from '../redis/script.ts';
import type { Store } from '../store.ts';
import { readEntities, scanOriginIds } from './entities.ts';
import { encodeEntity, restoredHead } from './entity-record.ts';

export interface EntitySnapshot {
  readonly entity: StoredEntity;
  /** Its last outputs, with the ages of its claims; null if not processed yet. */
  readonly processed: ProcessedRecord | null;
}

/** Maximum total size of entities that are read together, to limit memory. */
const bytesPerPortion = 8 * 1024 * 1024;

/**
 * Yields the entities of a source in a partition, in portions. As with HSCAN, entities that exist during the whole scan appear
 * at least once, possibly twice.
 * @throws StoreUnavailableError
 */
export async function* scanSnapshots(
  store: Store,
  partition: number,
  tenant: string,
  sourceId: string,
): AsyncGenerator<EntitySnapshot[]> {
  const tag = store.partitions.tag(partition);
  for await (const originIds of scanOriginIds(store, partition, tenant, sourceId)) {
    const sizes = await sizesOf(store, keys.entities(tag, tenant, sourceId), originIds);
    for (const portion of portionsOf(originIds, sizes)) {
      // Read records before entities, so that a record may be behind its entity (as with pending work) but never ahead.
      const records = await readProcessed(store, tag, tenant, sourceId, portion);
      const refs = portion.map((originId) => ({ sourceId, originId }));
      const entities = await readEntities(store, tenant, refs);
      yield entities.flatMap((entity, index) =>
        entity === null ? [] : [{ entity, processed: records[index] ?? null }],
      );
    }
  }
}

async function sizesOf(store: Store, key: string, originIds: readonly string[]): Promise<number[]> {
  return await answerOf(Promise.all(originIds.map((originId) => store.client.hstrlen(key, originId))));
}

function* portionsOf(originIds: readonly string[], sizes: readonly number[]): Generator<string[]> {
  let portion: string[] = [];
  let bytes = 0;
  for (const [index, originId] of originIds.entries()) {
    portion.push(originId);
    bytes += sizes[index] ?? 0;
    if (bytes < bytesPerPortion) continue;
    yield portion;
    portion = [];
    bytes = 0;
  }
  if (portion.length > 0) yield portion;
}

const hold = new Script<number>('entities/hold', 2);
const restore = new Script<number>('entities/restore', 6, ['entity-heads']);

/** About the size of an accepted request, so that the portions of workers do not grow. */
const entitiesPerCall = 50;

export type HoldOutcome = 'held' | 'notEmpty' | 'otherRestore';

/**
 * Reserves all partitions for one restore, or none. Does not lock out other writers: it only decides whether the restore may
 * write to this store.
 * @param token the same for every attempt to restore a backup, so that an interrupted restore can be finished
 * @throws StoreUnavailableError
 */
export async function holdForRestore(store: Store, token: string): Promise<HoldOutcome> {
  const { tags } = store.partitions;
  const replies = await surviving(store.acknowledgements, tags, () =>
    Promise.all(
      tags.map((tag) => hold.run(store.client, [keys.restore(tag), keys.clock(tag)], ['take', token])),
    ),
  );
  const refusal = replies.find((reply) => reply !== 1);
  if (refusal === undefined) return 'held';
  await releaseHold(store, token);
  return refusal === 0 ? 'notEmpty' : 'otherRestore';
}

/** Ends a restore. @throws StoreUnavailableError */
export async function releaseHold(store: Store, token: string): Promise<void> {
  await Promise.all(
    store.partitions.tags.map((tag) =>
      hold.run(store.client, [keys.restore(tag), keys.clock(tag)], ['release', token]),
    ),
  );
}

/**
 * Restores entities of one source; workers build their views, routes and items. Keeps existing entities with the same or a
 * later stamp.
 * @throws FencedError if the store is not reserved for this restore; StoreUnavailableError
 */
export async function restoreSnapshots(
  store: Store,
  token: string,
  tenant: string,
  sourceId: string,
  snapshots: readonly EntitySnapshot[],
): Promise<void> {
  const groups = groupBy(snapshots, ({ entity }) => store.partitions.ofEntity(sourceId, entity.originId));
  const tags = [...groups.keys()].map((partition) => store.partitions.tag(partition));
  await surviving(store.acknowledgements, tags, () =>
    Promise.all(
      [...groups].map(([partition, group]) =>
        restoreInPartition(store, store.partitions.tag(partition), token, tenant, sourceId, group),
      ),
    ),
  );
}

async function restoreInPartition(
  store: Store,
  tag: string,
  token: string,
  tenant: string,
  sourceId: string,
  snapshots: readonly EntitySnapshot[],
): Promise<void> {
  const scriptKeys = [
    keys.restore(tag),
    keys.clock(tag),
    keys.stream(tag),
    keys.entities(tag, tenant, sourceId),
    keys.processed(tag, tenant, sourceId),
    keys.names(tag, tenant, sourceId),
  ];
  for (let at = 0; at < snapshots.length; at += entitiesPerCall) {
    const scriptArguments = snapshots.slice(at, at + entitiesPerCall).flatMap(argumentsOf);
    await restore.run(store.client, scriptKeys, [token, tenant, sourceId, ...scriptArguments]);
  }
}

function argumentsOf({ entity, processed }: EntitySnapshot): ScriptArgument[] {
  const encoded = encodeEntity(entity);
  const record = processed === null ? '' : encodeProcessed(withoutResults(processed));
  const { body, names } = encoded.encode();
  const [digest, list] = names === null ? ['', ''] : [Buffer.from(names.digest), names.text];
  return [encoded.originId, Buffer.concat([restoredHead(encoded, entity), body]), record, digest, list];
}

/**
 * The record with only the claims, their age, and the publish times and state. Its empty digests match no bytes, so everything
 * is written again. Its stamp is between two stamps and so matches no state of the entity: the first turn counts as a change.
 */
function withoutResults({ stamp, type, outputs, times }: ProcessedRecord): ProcessedRecord {
  return {
    stamp: stamp + 0.5,
    type,
    lookups: [],
    outputs: outputs
      .filter(({ kind, claims }) => kind === 'view' && claims.length > 0)
      .map((view) => ({ ...view, schemaDigest: '', bytesDigest: Buffer.alloc(0), dependsOn: [] })),
    ...(times === undefined ? {} : { times }),
  };
}
