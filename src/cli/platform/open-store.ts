/** Opens the store for commands, and reads its active configuration. */
import { lookup } from 'node:dns/promises';
import type { Configuration, Tenant } from '../../config/configuration.ts';
import { loadConfiguration } from '../../config/documents/load.ts';
import { commandSettings, type Settings } from '../../config/settings/settings.ts';
import type { PathObserver } from '../../schemas/language/scope.ts';
import { readPublished } from '../../store/configuration/published-configuration.ts';
import type { RedisAddress } from '../../store/redis/redis-connection.ts';
import { isMismatch, openStore, type Store, type StoreOptions } from '../../store/store.ts';
import { CommandStop } from '../terminal/command-line.ts';
import { privateRedisUrl } from './private-redis-login.ts';
import { failureDuring, openFailure } from './store-failure.ts';

const openTimeoutMs = 5_000;

/** The settings that opening a store needs. */
export type StoreSettings = Pick<Settings, 'partitions' | 'confirmReplicas' | 'replicaWaitMs'>;

/**
 * Opens a store, passes it to `act` and closes it.
 * @param commandTimeoutMs timeout of a Redis command
 * @throws CommandStop if Redis does not respond or stops responding, or the store has another number of partitions
 */
export async function withStore<T>(
  address: RedisAddress,
  settings: StoreSettings,
  commandTimeoutMs: number,
  act: (store: Store) => Promise<T>,
): Promise<T> {
  const { partitions, confirmReplicas, replicaWaitMs } = settings;
  const options = { address, partitionCount: partitions, confirmReplicas, replicaWaitMs, commandTimeoutMs };
  const store = await openNow(options);
  try {
    return await act(store);
  } catch (error) {
    throw failureDuring(address, error, confirmReplicas);
  } finally {
    await store.close();
  }
}

/**
 * Opens a store for a process that cannot start without it.
 * @throws CommandStop with a one-line message if Redis does not respond for 5 s, or the store does not match the options
 */
export async function openNow(options: StoreOptions): Promise<Store> {
  try {
    return await openStore({ ...options, openTimeoutMs });
  } catch (error) {
    if (isMismatch(error)) throw new CommandStop(error.message);
    throw openFailure(options.address, (await lookupFailure(options.address)) ?? error);
  }
}

/** The client library does not report this for a cluster or for sentinels. Null if any of the hosts is found. */
async function lookupFailure(address: RedisAddress): Promise<Error | null> {
  const hosts = address.kind === 'cluster' ? address.seeds : (address.sentinels?.hosts ?? []);
  const failures = await Promise.all(
    hosts.map(({ host }) =>
      lookup(host).then(
        () => null,
        (error: Error) => error,
      ),
    ),
  );
  return failures.includes(null) ? null : (failures[0] ?? null);
}

/**
 * The Redis of these settings; by default the private Redis of an `npm start` with the same data folder.
 * @throws CommandStop if there never was one
 */
export function redisAddress({ redis, dataDir }: Settings): RedisAddress {
  if (redis.kind === 'url') return { kind: 'single', url: redis.url };
  if (redis.kind === 'cluster') return redis;
  if (redis.kind === 'sentinel') {
    const { hosts, name } = redis;
    return { kind: 'single', url: `redis://${name}`, sentinels: { hosts, name } };
  }
  const url = privateRedisUrl(dataDir);
  if (url !== null) return { kind: 'single', url };
  throw new CommandStop(`No platform has run with ${dataDir} yet. Run npm start first, or set REDIS_URL.`);
}

/** Timeout of a Redis command. */
const commandTimeoutMs = 60_000;

/** As `withStore`, with the store of the settings. @throws SettingsError; CommandStop as `withStore` */
export async function withCommandStore<T>(
  act: (store: Store, settings: Settings) => Promise<T>,
  settings = commandSettings(),
): Promise<T> {
  return await withStore(redisAddress(settings), settings, commandTimeoutMs, (store) => act(store, settings));
}

/**
 * Reads the active configuration of the store.
 * @param observer as for `loadConfiguration`
 * @throws CommandStop if there is none, or it does not have the tenant
 */
export async function activeConfiguration(
  store: Store,
  tenant: string | null,
  observer: PathObserver | null = null,
): Promise<{ configuration: Configuration; generation: number }> {
  const published = await readPublished(store);
  if (published === null) {
    throw new CommandStop(
      'This store has no active configuration yet. Run npm start or npm run apply first.',
    );
  }
  const loaded = loadConfiguration(published.documents, 'stored', observer);
  if (!loaded.ok) {
    throw new CommandStop(
      'The active configuration was written by another version of Millrace. Run this command of that version.',
    );
  }
  const { configuration } = loaded;
  if (tenant !== null && !configuration.tenants.has(tenant)) {
    const known = [...configuration.tenants.keys()].join(', ');
    throw new CommandStop(`There is no tenant ${JSON.stringify(tenant)}; there are: ${known}.`);
  }
  return { configuration, generation: published.generation };
}

/** The tenant with that name, or the only one. @throws CommandStop if there are several and no name is given */
export function oneTenant({ tenants }: Configuration, name: string | null): Tenant {
  const all = [...tenants.values()];
  const found = name === null ? all[0] : tenants.get(name);
  if (found !== undefined && (name !== null || all.length === 1)) return found;
  const known = all.map(({ alias }) => alias).join(', ');
  throw new CommandStop(`There are several tenants (${known}). Choose one with --tenant.`);
}
