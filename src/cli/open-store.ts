import type { Settings } from '../config/settings.ts';
import { type RedisAddress, StoreFullError, StoreUnavailableError } from '../store/connection.ts';
import { isMismatch, openStore, type Store } from '../store/store.ts';
import { CommandStop } from './command-stop.ts';
import { shownAddress } from './redis-address.ts';

const openTimeoutMs = 5_000;

/** What a command opens a store with. */
export type StoreSettings = Pick<Settings, 'partitions' | 'confirmReplicas' | 'replicaWaitMs'>;

/**
 * Opens the store of a command, hands it over and closes it.
 * @param commandTimeoutMs longest command of the store
 * @throws CommandStop when Redis does not answer, or no longer does, or the store has another number of partitions
 */
export async function withStore<T>(
  address: RedisAddress,
  settings: StoreSettings,
  commandTimeoutMs: number,
  act: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await open(address, settings, commandTimeoutMs);
  try {
    return await act(store);
  } catch (error) {
    if (error instanceof StoreFullError) {
      throw new CommandStop(
        `Redis at ${shownAddress(address)} is full: give it more memory (maxmemory) or delete entities, then run this command again.`,
      );
    }
    if (!(error instanceof StoreUnavailableError)) throw error;
    throw new CommandStop(
      `Redis at ${shownAddress(address)} stopped answering (${error.message}). Run this command again.`,
    );
  } finally {
    await store.close();
  }
}

async function open(
  address: RedisAddress,
  { partitions, confirmReplicas, replicaWaitMs }: StoreSettings,
  commandTimeoutMs: number,
): Promise<Store> {
  const options = { address, partitionCount: partitions, confirmReplicas, replicaWaitMs, commandTimeoutMs };
  try {
    return await withinTime(openStore(options), openTimeoutMs);
  } catch (error) {
    if (isMismatch(error)) throw new CommandStop(error.message);
    throw noAnswer(address, error);
  }
}

/** One line for the person who typed the command. */
function noAnswer(address: RedisAddress, error: unknown): CommandStop {
  return new CommandStop(
    `Redis at ${shownAddress(address)} does not answer (${error instanceof Error ? error.message : error}). ` +
      'Start it or correct REDIS_URL or REDIS_CLUSTER; without either, Millrace runs a Redis of its own.',
  );
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
