import { counted, issueText } from '../config/issue-text.ts';
import { type ReadOutcome, readConfiguration } from '../config/read.ts';
import { publishConfiguration } from '../store/configuration.ts';
import type { RedisAddress } from '../store/connection.ts';
import { openStore, PartitionCountError } from '../store/store.ts';
import { CommandStop } from './command-stop.ts';
import { shownAddress } from './redis-address.ts';

export type SoundConfiguration = Extract<ReadOutcome, { ok: true }>;

const redisTimeoutMs = 5_000;

/** @throws CommandStop with every mistake, and one line at its end that says what to do */
export async function readSoundConfiguration(configDir: string): Promise<SoundConfiguration> {
  const outcome = await readConfiguration(configDir);
  if (outcome.ok) return outcome;
  throw new CommandStop(
    `${issueText(outcome.issues)}\n\n` +
      `The configuration in ${configDir} has ${counted(outcome.issues.length, 'mistake')}: correct the above, then run npm run check`,
  );
}

/**
 * Makes a configuration the active one of a store. @returns its generation
 * @throws CommandStop when Redis does not answer or the store has another number of partitions
 */
export async function publish(
  { documents, configuration }: SoundConfiguration,
  address: RedisAddress,
  partitionCount: number,
): Promise<number> {
  try {
    const store = await withinTime(
      openStore({ address, partitionCount, commandTimeoutMs: redisTimeoutMs }),
      redisTimeoutMs + 1_000,
    );
    try {
      return await publishConfiguration(store, documents, configuration.digest);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof PartitionCountError) throw new CommandStop(error.message);
    throw new CommandStop(
      `Redis at ${shownAddress(address)} does not answer (${error instanceof Error ? error.message : error}). ` +
        'Start it or correct REDIS_URL or REDIS_CLUSTER; without either, Millrace runs a Redis of its own.',
    );
  }
}

async function withinTime<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing came within ${timeoutMs / 1000} s`)), timeoutMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
