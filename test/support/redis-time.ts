import type { RedisClient } from '../../src/store/redis/redis-connection.ts';

/** Milliseconds by the clock of Redis, by which leases end. */
export async function redisTimeMs(client: RedisClient): Promise<number> {
  const [seconds, microseconds] = await client.time();
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
}
