/** The facts that are fixed when a store is first used, and the processes that they keep out. */

import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { asTyped } from '../lib/typed-command.mjs';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/connection.ts';
import type { StoreOptions } from './store.ts';

/** The store was first used with another number of partitions. */
export class PartitionCountError extends Error {
  override readonly name = 'PartitionCountError';
}

/** The store was written by a version of the platform that lays data out in another way. */
export class StoreFormatError extends Error {
  override readonly name = 'StoreFormatError';
}

/** Raised by one whenever what an older version wrote would be misread, or lacks what this one relies on. */
const storeFormat = 10;

/**
 * Whether a Redis keeps everything that it has answered: all of it is on its disk, and no replica takes its place, which
 * would lack the last of it. A Redis that does not answer CONFIG may forget.
 */
export async function keepsEverything(
  client: Redis,
  { confirmReplicas = 0 }: StoreOptions,
): Promise<boolean> {
  if (confirmReplicas > 0) return false;
  try {
    const [, isAppended] = (await client.config('GET', 'appendonly')) as string[];
    const [, synced] = (await client.config('GET', 'appendfsync')) as string[];
    return isAppended === 'yes' && synced === 'always';
  } catch {
    return false;
  }
}

/** Writes the facts only at first use: a full Redis takes no write, and must open all the same. @returns count and secret */
export async function fixFacts(
  client: RedisClient,
  partitionCount: number,
): Promise<readonly (Buffer | null | undefined)[]> {
  await fixFormat(client);
  const known = await client.hmgetBuffer(keys.layout, 'partitions', 'secret');
  if (!known.includes(null)) return known;
  await client.hsetnx(keys.layout, 'partitions', partitionCount);
  await client.hsetnx(keys.layout, 'secret', randomBytes(32));
  return await client.hmgetBuffer(keys.layout, 'partitions', 'secret');
}

/** Every store has its format before its partition count, so one that has the latter alone is older than formats. */
async function fixFormat(client: RedisClient): Promise<void> {
  const [partitions, known] = await client.hmget(keys.layout, 'partitions', 'format');
  if (!partitions) await client.hsetnx(keys.layout, 'format', storeFormat);
  const format = partitions ? Number(known ?? 1) : storeFormat;
  if (format === storeFormat) return;
  throw new StoreFormatError(
    `this store has format ${format}, and this version of Millrace reads format ${storeFormat}; back it up with the version ` +
      asTyped(
        'that wrote it (npm run backup) and restore that into an empty store with this one (npm run restore)',
      ),
  );
}
