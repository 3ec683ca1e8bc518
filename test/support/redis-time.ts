import type { RedisClient } from '../../src/store/redis/redis-connection.ts';

/** The time of Redis' clock in ms. Leases expire by this clock. */
export async function redisTimeMs(client: RedisClient): Promise<number> {
  const [seconds, microseconds] = await client.time();
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
}
