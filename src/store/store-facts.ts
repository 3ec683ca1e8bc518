/** The facts that are fixed when a store is first used, and the processes that they keep out. */

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

/** The store was first used with another number of partitions. */
export class PartitionCountError extends Error {
  override readonly name = 'PartitionCountError';
}

/** The store was written by a version of the platform that lays data out in another way. */
export class StoreFormatError extends Error {
  override readonly name = 'StoreFormatError';
}

/** Raised by one whenever what an older version wrote would be misread, or an older version would misread what this one writes. */
const storeFormat = 12;
/**
 * From this format on a store is raised in place. Format 11 added times of entities, which a worker of format 10 would not
 * follow; format 12 has a field for the documents of each tenant (`splitDocuments`).
 */
const raisedFrom = 10;

const raiseScript = new Script<number>('redis/raise-format', 1);

/**
 * Whether a Redis keeps everything that it has answered: all of it is on its disk, and no replica takes its place, which
 * would lack the last of it. A Redis that does not answer CONFIG may forget.
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

/** Writes the facts only at first use: a full Redis takes no write, and must open all the same. @returns count and secret */
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

/** Every store has its format before its partition count, so one that has the latter alone is older than formats. */
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

/** @throws StoreFormatError when a newer version has taken the store meanwhile */
export async function checkNotNewer(client: RedisClient): Promise<void> {
  const format = Number((await client.hget(keys.layout, 'format')) ?? storeFormat);
  if (format > storeFormat) checkFormat(format);
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
 * Stores of formats 10 and 11 have the documents of all tenants in one field, which is split here.
 * `configuration/published-configuration.ts` says what is read afterwards. Idempotent.
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
