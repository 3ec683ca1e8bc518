/**
 * Circuit breaker for builds: an entity whose build took too much time or memory is not built again in the same state for a
 * while. Other entities of the schema, and this one after a change, are not affected.
 */
import { createHash } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { codeBreakerOpenMs } from '../contract/limits.ts';
import { BoundedCache } from '../lib/bounded-cache.ts';

const remembered = { entriesMax: 10_000 };

export class CircuitBreaker {
  /** Build -> until when it is not run. */
  readonly #openUntilMs = new BoundedCache<string, number>(remembered);
  /** Programs of these builds: inputs of all others need no digest. */
  readonly #programs = new BoundedCache<string, true>(remembered);

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** @param input what the program was given, as JSON text */
  trip(program: string, input: string): void {
    this.#programs.set(program, true);
    this.#openUntilMs.set(buildOf(program, input), this.nowMs() + codeBreakerOpenMs);
  }

  /** Milliseconds until the build may be run again; 0: now. */
  openForMs(program: string, input: string): number {
    if (this.#programs.get(program) === undefined) return 0;
    const untilMs = this.#openUntilMs.get(buildOf(program, input)) ?? 0;
    return Math.max(0, untilMs - this.nowMs());
  }
}

function buildOf(program: string, input: string): string {
  return `${program} ${createHash('sha256').update(input).digest('base64url')}`;
}
