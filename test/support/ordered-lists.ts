/** Ordered lists as they stand in Redis, read and damaged key by key. */
import { keys } from '../../src/store/keys.ts';
import type { RedisClient } from '../../src/store/redis/redis-connection.ts';

/** The texts of each leaf, as they stand, by the leaf's bound. */
export async function leavesOf(client: RedisClient, list: string): Promise<Map<string, string[]>> {
  const bounds = await client.zrange(list, '0', '-1');
  const leaves = bounds.map(
    async (bound) => [bound, await client.lrange(keys.leaf(list, bound), 0, -1)] as const,
  );
  return new Map(await Promise.all(leaves));
}

/** All texts in order. */
export async function listedTexts(client: RedisClient, list: string): Promise<string[]> {
  return inOrder([...(await leavesOf(client, list)).values()].flat());
}

/** In code-point order, as the naive way has it. */
export function inOrder(texts: readonly string[]): string[] {
  return [...texts].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

/** Puts a text into a list that has one leaf at most, or takes it out, and leaves the list's length as it was. */
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
