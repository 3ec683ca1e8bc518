/** How much memory of Redis each kind of key takes. */
import { Redis } from 'ioredis';
import type { System } from './system.ts';

/** Redis looks at all elements of a key to say how large it is. */
const samples = 0;
const keysPerScan = 500;

/** Kind of key, as `src/store/keys.ts` names it -> bytes of all keys of a tenant, the largest first. Leaves count for their list. */
export async function bytesByKind(system: System, tenant: string): Promise<Map<string, number>> {
  const redis = new Redis(system.redisUrl);
  const bytes = new Map<string, number>();
  try {
    let cursor = '0';
    do {
      const [next, keys] = await redis.scan(cursor, 'MATCH', `*:${tenant}:*`, 'COUNT', keysPerScan);
      cursor = next;
      const sizes = await Promise.all(keys.map((key) => redis.memory('USAGE', key, 'SAMPLES', samples)));
      keys.forEach((key, at) => {
        const [, ownKind = '', , listKind = ''] = key.split(':');
        const kind = ownKind === 'leaf' ? listKind : ownKind;
        bytes.set(kind, (bytes.get(kind) ?? 0) + (sizes[at] ?? 0));
      });
    } while (cursor !== '0');
  } finally {
    redis.disconnect();
  }
  return new Map([...bytes].sort(([, a], [, b]) => b - a));
}
