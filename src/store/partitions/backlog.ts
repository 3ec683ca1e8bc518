/** What waits in the stream of a partition. */

import { unpack } from '../codec/pack.ts';
import { keys } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import { Script } from '../redis/script.ts';
import type { Store } from '../store.ts';
import { readOwner } from './owners.ts';
import { lastSequence } from './partition-state.ts';

export interface Backlog {
  /** Worker that owns the partition; null for none. */
  readonly owner: string | null;
  /** Stream entries that wait. */
  readonly entries: number;
  /** How long the first of them has waited, by the clock of the front that wrote it; 0 when none waits. */
  readonly lagMs: number;
}

/** @throws StoreUnavailableError */
export async function readBacklog(store: Store, partition: number): Promise<Backlog> {
  const tag = store.partitions.tag(partition);
  const { workerId, holds, checkpoint } = await readOwner(store, partition);
  const entries = Math.max(0, (await lastSequence(store, tag)) - checkpoint);
  const lagMs = entries === 0 ? 0 : await lagOf(store, tag, checkpoint + 1);
  return { owner: holds ? workerId : null, entries, lagMs };
}

const stampScript = new Script<Buffer | null>('partitions/stamp', 1);

/** How many entries are looked through for one that names an entity: an invalidation carries no time. */
const entriesLookedAt = 20;

/** Age of the first entry from a place on that names an entity which still has the state of that time. */
async function lagOf(store: Store, tag: string, from: number): Promise<number> {
  const { client } = store;
  const entries = await answerOf(
    client.xrangeBuffer(keys.stream(tag), `${from}-0`, '+', 'COUNT', entriesLookedAt),
  );
  for (const [, fields] of entries) {
    const [name, packed] = fields;
    if (name?.toString() !== 'e' || packed === undefined) continue;
    const [tenant, sourceId, [originId]] = unpack<[string, string, string[]]>(packed);
    if (originId === undefined) continue;
    const stamp = await stampScript.run(client, [keys.entities(tag, tenant, sourceId)], [originId]);
    if (stamp !== null) return Math.max(0, Math.round(Date.now() - Number(stamp.toString()) / 1000));
  }
  return 0;
}
