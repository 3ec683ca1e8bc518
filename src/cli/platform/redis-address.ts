import type { Settings } from '../../config/settings/settings.ts';
import type { RedisAddress } from '../../store/redis/redis-connection.ts';
import { privateRedisUrl } from '../start/private-redis.ts';
import { CommandStop } from '../terminal/command-stop.ts';

/**
 * The Redis of these settings. If they name none, it is the private Redis of an `npm start` with the same data folder.
 * @throws CommandStop when there never was one
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

/** The address without user and password, so it may be shown. */
export function shownAddress(address: RedisAddress): string {
  if (address.kind === 'cluster') return address.seeds.map(({ host, port }) => `${host}:${port}`).join(',');
  if (address.sentinels !== undefined) return `${address.sentinels.name} (Sentinel)`;
  const url = new URL(address.url);
  url.username = '';
  url.password = '';
  return url.href;
}
