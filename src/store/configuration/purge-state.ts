/**
 * The purge of sources that are no longer configured. Jobs remove their entities in the same way as clients. The note of a
 * purge prevents a configuration from adding the sources again meanwhile.
 */
import { randomBytes } from 'node:crypto';
import { keys, platformTag } from '../keys.ts';
import { answerOf } from '../redis/redis-errors.ts';
import { surviving } from '../redis/replication.ts';
import { Script } from '../redis/script.ts';
import { type SourceRef, sourceField, sourceOfField } from '../scopes.ts';
import type { Store } from '../store.ts';

const beginScript = new Script<Buffer>('configuration/purge', 2);
const purgedScript = new Script<0 | 1>('configuration/purged', 1);
const endScript = new Script<0 | 1>('configuration/end-purge', 1);

export interface Purge {
  readonly token: string;
  /** Generation of a configuration without the sources. */
  readonly generation: number;
  readonly sources: readonly SourceRef[];
}

/**
 * Begins a purge, or returns the running one, whatever its sources.
 * @param generation configuration without the sources
 * @returns its token; null if another configuration has become active
 * @throws StoreUnavailableError
 */
export async function beginPurge(
  store: Store,
  generation: number,
  sources: readonly SourceRef[],
): Promise<string | null> {
  const token = randomBytes(8).toString('hex');
  const under = await surviving(store.replication, [platformTag], () =>
    beginScript.run(
      store.client,
      [keys.configuration, keys.purge],
      [token, generation, ...sources.map(sourceField)],
    ),
  );
  return under.length === 0 ? null : under.toString();
}

/** The running purge; null if there is none. @throws StoreUnavailableError */
export async function readPurge(store: Store): Promise<Purge | null> {
  const { token, generation, ...rest } = await answerOf(store.client.hgetall(keys.purge));
  if (token === undefined) return null;
  // The other fields name partitions.
  const sources = Object.keys(rest)
    .filter((field) => field.includes('|'))
    .map(sourceOfField);
  return { token, generation: Number(generation), sources };
}

/**
 * Records that a purge has finished a partition.
 * @returns true if all partitions are finished; the caller then ends the purge
 * @throws StoreUnavailableError
 */
export async function recordPurged(store: Store, token: string, partition: number): Promise<boolean> {
  const isThrough = await surviving(store.replication, [platformTag], () =>
    purgedScript.run(store.client, [keys.purge], [token, partition, store.partitions.count]),
  );
  return isThrough === 1;
}

/** Ends a purge. Configurations may then add its sources again. @throws StoreUnavailableError */
export async function endPurge(store: Store, token: string): Promise<void> {
  await surviving(store.replication, [platformTag], () => endScript.run(store.client, [keys.purge], [token]));
}
