/** Memory of Redis: of the one, or of all masters of a cluster together. */
import { Cluster } from 'ioredis';
import type { Store } from '../store.ts';
import { factOf } from './info.ts';
import { answerOf } from './redis-errors.ts';

export interface RedisMemory {
  readonly usedBytes: number;
  /** Null when a master has no limit. */
  readonly maxBytes: number | null;
}

/** @throws StoreUnavailableError */
export async function readMemory({ client }: Pick<Store, 'client'>): Promise<RedisMemory> {
  const nodes = client instanceof Cluster ? client.nodes('master') : [client];
  const infos = await answerOf(Promise.all(nodes.map((node) => node.info('memory'))));
  const limits = infos.map((info) => Number(factOf(info, 'maxmemory') ?? 0));
  return {
    usedBytes: sum(infos.map((info) => Number(factOf(info, 'used_memory') ?? 0))),
    maxBytes: limits.includes(0) ? null : sum(limits),
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
