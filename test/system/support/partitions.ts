/** Ownership and content of the store, read from Redis. */
import { createHash } from 'node:crypto';
import { Cluster } from 'ioredis';
import { readOwners } from '../../../src/store/ownership/owners.ts';
import type { Store } from '../../../src/store/store.ts';

/** Partitions that a worker process owns by a valid lease. Worker ids contain the process id. */
export async function partitionsOf(store: Store, pid: number): Promise<number[]> {
  const owners = await readOwners(store);
  return owners.flatMap(({ workerId, holds }, partition) =>
    workerId?.includes(`-${pid}-`) === true && holds ? [partition] : [],
  );
}

/** True if the lease of every partition is held by one of these processes. */
export async function isSpreadOver(store: Store, pids: readonly number[]): Promise<boolean> {
  const owned = await Promise.all(pids.map((pid) => partitionsOf(store, pid)));
  return owned.flat().length === store.partitions.count;
}

/** Keys of partitions, except those of ownership and of recent requests. */
const contentPattern = /^\{p\d+\.\d+\}:(?!owner$|fence$|removal:)/;

/** Digest of every key that holds content, by key: entities, views, items, claims, streams, lookups. */
export async function contentDigests(store: Store): Promise<Map<string, string>> {
  const digests = new Map<string, string>();
  const nodes = store.client instanceof Cluster ? store.client.nodes('master') : [store.client];
  for (const node of nodes) {
    let cursor = '0';
    do {
      const [next, keys] = await node.scan(cursor, 'COUNT', 1000);
      cursor = next;
      await Promise.all(
        keys
          .filter((key) => contentPattern.test(key))
          .map(async (key) => {
            const dump = await node.dumpBuffer(key);
            if (dump !== null) digests.set(key, createHash('sha256').update(dump).digest('hex'));
          }),
      );
    } while (cursor !== '0');
  }
  return digests;
}

/** Numbers of the commits that a partition announced, in the order of its changes stream. */
export async function announcedCommits(store: Store, partition: number): Promise<number[]> {
  const entries = await store.client.xrange(`${store.partitions.tag(partition)}:changes`, '-', '+');
  return entries.flatMap(([, fields]) => {
    const at = fields.indexOf('n');
    return at === -1 ? [] : [Number(fields[at + 1])];
  });
}
