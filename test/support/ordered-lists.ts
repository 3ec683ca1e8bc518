/** Ordered lists as stored in Redis, read and damaged key by key. */
import { keys } from '../../src/store/keys.ts';
import type { RedisClient } from '../../src/store/redis/redis-connection.ts';

/** The strings of each leaf, as stored, by the leaf's bound. */
export async function leavesOf(client: RedisClient, list: string): Promise<Map<string, string[]>> {
  const bounds = await client.zrange(list, '0', '-1');
  const leaves = bounds.map(
    async (bound) => [bound, await client.lrange(keys.leaf(list, bound), 0, -1)] as const,
  );
  return new Map(await Promise.all(leaves));
}

/** All strings in order. */
export async function listedTexts(client: RedisClient, list: string): Promise<string[]> {
  return inOrder([...(await leavesOf(client, list)).values()].flat());
}

/** In code-point order, computed naively. */
export function inOrder(texts: readonly string[]): string[] {
  return [...texts].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

/** Adds a string to a list that has at most one leaf, or removes it, without changing the list's length. */
export async function damageList(
  client: RedisClient,
  list: string,
  text: string,
  isListed: boolean,
): Promise<void> {
  const leaf = keys.leaf(list, '');
  if (!isListed) {
    await client.lrem(leaf, 1, text);
    return;
  }
  await client.zadd(list, 0, '');
  await client.rpush(leaf, text);
}
