/** Facts that are fixed when a store is first used, and errors for processes that do not match them. */

import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import {
  byTenant,
  canonicalDigest,
  configurationDigest,
  fingerprintOf,
} from '../config/documents/canonical.ts';
import { documentsOfTenant } from '../config/documents/tenant-folder.ts';
import { asTyped } from '../lib/typed-command.mjs';
import { pack, unpack } from './codec/pack.ts';
import { keys } from './keys.ts';
import type { RedisClient } from './redis/redis-connection.ts';
import { Script } from './redis/script.ts';

/** The store has another number of partitions. */
export class PartitionCountError extends Error {
  override readonly name = 'PartitionCountError';
}

/** The store has the format of another version of the platform, or is not the one that was opened. */
export class StoreFormatError extends Error {
  override readonly name = 'StoreFormatError';
}

/**
 * Must be incremented whenever this version would misread data of older versions, or older versions would misread data of this
 * one.
 */
const storeFormat = 12;
/**
 * Stores of this format or newer are upgraded in place. Format 11 added publishing times, which workers of format 10 would
 * ignore; format 12 has a separate field for the documents of each tenant (`splitDocuments`).
 */
const raisedFrom = 10;

const raiseScript = new Script<number>('redis/raise-format', 1);

/**
 * Whether a Redis keeps all acknowledged writes: they are on its disk, and no replica that may lack the last ones is promoted.
 * A Redis that refuses CONFIG is assumed to lose some.
 */
export async function keepsEverything(client: Redis, confirmReplicas: number): Promise<boolean> {
  if (confirmReplicas > 0) return false;
  try {
    const [, isAppended] = (await client.config('GET', 'appendonly')) as string[];
    const [, synced] = (await client.config('GET', 'appendfsync')) as string[];
    return isAppended === 'yes' && synced === 'always';
  } catch {
    return false;
  }
}

/**
 * Reads the facts, and writes them only at first use, because a store in a full Redis must still open.
 * @returns count and secret
 */
export async function fixFacts(
  client: RedisClient,
  partitionCount: number,
): Promise<readonly (Buffer | null | undefined)[]> {
  await fixFormat(client);
  await splitDocuments(client);
  const known = await client.hmgetBuffer(keys.layout, 'partitions', 'secret');
  if (!known.includes(null)) return known;
  await client.hsetnx(keys.layout, 'partitions', partitionCount);
  await client.hsetnx(keys.layout, 'secret', randomBytes(32));
  return await client.hmgetBuffer(keys.layout, 'partitions', 'secret');
}

/** The format is written before the partition count, so a store with only the latter is older than formats. */
async function fixFormat(client: RedisClient): Promise<void> {
  const [partitions, known] = await client.hmget(keys.layout, 'partitions', 'format');
  if (!partitions) await client.hsetnx(keys.layout, 'format', storeFormat);
  else checkFormat(isRaised(Number(known ?? 1)) ? await raiseFormat(client) : Number(known ?? 1));
}

function isRaised(format: number): boolean {
  return format >= raisedFrom && format < storeFormat;
}

async function raiseFormat(client: RedisClient): Promise<number> {
  return await raiseScript.run(client, [keys.layout], [raisedFrom, storeFormat]);
}

/**
 * @param secret of the store when it was opened
 * @throws StoreFormatError if a newer version has upgraded the store meanwhile, or it is no longer the same store
 */
export async function checkSameStore(client: RedisClient, secret: Buffer): Promise<void> {
  const [format, found] = await client.hmgetBuffer(keys.layout, 'format', 'secret');
  if (!found?.equals(secret)) {
    throw new StoreFormatError('the store was emptied or replaced by another one while this process used it');
  }
  if (Number(format) > storeFormat) checkFormat(Number(format));
}

function checkFormat(format: number): void {
  if (format === storeFormat) return;
  throw new StoreFormatError(
    `this store has format ${format}, and this version of Millrace reads format ${storeFormat}; ` +
      (format > storeFormat
        ? 'start the version that wrote it, or a newer one'
        : asTyped(
            'back it up with the version that wrote it (npm run backup) and restore that into an empty store with this one (npm run restore)',
          )),
  );
}

const splitScript = new Script<number>('configuration/split', 1);

/**
 * Splits the field with the documents of all tenants in stores of formats 10 and 11. For the result, see
 * `configuration/published-configuration.ts`. Idempotent.
 */
async function splitDocuments(client: RedisClient): Promise<void> {
  for (;;) {
    const [generation, packed, applied] = await client.hmgetBuffer(
      keys.configuration,
      ...['generation', 'documents', 'applied'],
    );
    if (!generation || !packed || !applied) return;
    const tenants = [...byTenant(new Map(unpack<[string, string][]>(packed)))];
    const appliedAtMs = new Map(unpack<[string, number][]>(applied));
    const fingerprints = new Map(tenants.map(([tenant, texts]) => [tenant, fingerprintOf(texts)]));
    const listed = tenants.map(([tenant, texts]) => [
      ...[tenant, fingerprints.get(tenant), canonicalDigest(documentsOfTenant(texts, tenant))],
      appliedAtMs.get(tenant) ?? Date.now(),
    ]);
    const fields = tenants.flatMap(([tenant, texts]) => [
      `documents|${tenant}|${fingerprints.get(tenant)}`,
      pack([...texts]),
    ]);
    const words = [generation, configurationDigest(fingerprints), pack(listed), ...fields];
    if ((await splitScript.run(client, [keys.configuration], words)) === 1) return;
  }
}
