/** Restores source entities into an empty store, exactly as they were. */
import { groupBy } from '../../lib/lists.ts';
import { encodeProcessed, type ProcessedRecord } from '../derived/processed-record.ts';
import { keys } from '../keys.ts';
import { surviving } from '../redis/replication.ts';
import { Script, type ScriptArgument } from '../redis/script.ts';
import type { Store } from '../store.ts';
import { encodeEntity } from './entity-record.ts';
import { restoredHead } from './record-heads.ts';
import type { EntitySnapshot } from './snapshots.ts';

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
