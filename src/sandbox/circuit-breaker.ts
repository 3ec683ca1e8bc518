/**
 * Circuit breaker for builds: an entity whose build took too much time or memory is not built again in the same state for a
 * while. Other entities of the schema, and this one after a change, are not affected.
 */
import { createHash } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { codeBreakerOpenMs } from '../contract/limits.ts';
import { BoundedCache } from '../lib/bounded-cache.ts';

const cacheLimits = { entriesMax: 10_000 };

export class CircuitBreaker {
  /** Build -> time at which it may run again. */
  readonly #openUntilMs = new BoundedCache<string, number>(cacheLimits);
  /** Programs of these builds, so that inputs of all others need not be hashed. */
  readonly #programs = new BoundedCache<string, true>(cacheLimits);

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** @param input the input of the program, as JSON text */
  trip(program: string, input: string): void {
    this.#programs.set(program, true);
    this.#openUntilMs.set(buildKey(program, input), this.nowMs() + codeBreakerOpenMs);
  }

  /** Milliseconds until the build may run again; 0: now. */
  openForMs(program: string, input: string): number {
    if (this.#programs.get(program) === undefined) return 0;
    const untilMs = this.#openUntilMs.get(buildKey(program, input)) ?? 0;
    return Math.max(0, untilMs - this.nowMs());
  }
}

function buildKey(program: string, input: string): string {
  return `${program} ${createHash('sha256').update(input).digest('base64url')}`;
}
