import { performance } from 'node:perf_hooks';
import { Cluster } from 'ioredis';
import { assert } from '../../lib/assert.ts';
import { nodeOf, type RedisClient } from './redis-connection.ts';

/** Redis' clock, estimated from its last known value and the time since then by the process' own clock. */
export class ServerClock {
  #aheadMs: number | null = null;

  get isKnown(): boolean {
    return this.#aheadMs !== null;
  }

  /** Sets the clock from a reply that has just arrived. Because of the latency of the reply, the estimate is never ahead. */
  set(clockMs: number): void {
    this.#aheadMs = clockMs - performance.now();
  }

  get nowMs(): number {
    return this.at(performance.now());
  }

  /** @param ms on the clock of `performance.now()` */
  at(ms: number): number {
    assert(this.#aheadMs !== null, 'the clock is set before it is read');
    return ms + this.#aheadMs;
  }
}

const clocks = new WeakMap<RedisClient, Map<string, ServerClock>>();

/** The clock of the server that has a key. */
export function clockOf(client: RedisClient, key: string): ServerClock {
  const ofClient = clocks.get(client) ?? new Map<string, ServerClock>();
  clocks.set(client, ofClient);
  const node = client instanceof Cluster ? (nodeOf(client, key) ?? '') : '';
  const clock = ofClient.get(node) ?? new ServerClock();
  ofClient.set(node, clock);
  return clock;
}
