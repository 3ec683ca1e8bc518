/**
 * What is known of programs that took too much time or memory. A program that did runs apart from the others, and after each
 * time it is not run for a while, for longer the more often it does: so what it costs those that wait beside it is bounded.
 * So is what many programs of one tenant cost: those of which nothing good is known yet are held back with it.
 */
import { performance } from 'node:perf_hooks';
import { codeFirstPauseMs, codePauseFactor, codePauseMaxMs, codeTenantPauseMs } from '../contract/limits.ts';
import { BoundedCache } from '../lib/bounded-cache.ts';

interface Offences {
  count: number;
  lastMs: number;
  pausedUntilMs: number;
}

/** Each configuration brings programs and sets of its own: those used longest ago are forgotten, and begin anew. */
const remembered = { entriesMax: 10_000 };

export class Conduct {
  readonly #offenders = new BoundedCache<string, Offences>(remembered);
  /** Until when programs of a set that are not known are held back. */
  readonly #pausedSets = new BoundedCache<string, number>(remembered);
  /** Programs that kept within their limits and never took too much. */
  readonly #sound = new BoundedCache<string, true>(remembered);

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** True for a program that ever took too much. */
  isSuspect(program: string): boolean {
    return this.#offenders.get(program) !== undefined;
  }

  /** True for one of which nothing bad is known, and something good. */
  isSound(program: string): boolean {
    return this.#sound.get(program) !== undefined;
  }

  /** Milliseconds until a program is run again; 0: it is run. @param set all programs of its tenant */
  pausedForMs(set: string, program: string): number {
    const ownMs = this.#offenders.get(program)?.pausedUntilMs ?? 0;
    const setMs = this.isSound(program) ? 0 : (this.#pausedSets.get(set) ?? 0);
    return Math.max(0, ownMs - this.nowMs(), setMs - this.nowMs());
  }

  offended(set: string, program: string): void {
    const nowMs = this.nowMs();
    const { count } = this.#offenders.get(program) ?? { count: 0 };
    const pauseMs = Math.min(codePauseMaxMs, codeFirstPauseMs * codePauseFactor ** count);
    this.#sound.delete(program);
    this.#offenders.set(program, { count: count + 1, lastMs: nowMs, pausedUntilMs: nowMs + pauseMs });
    this.#pausedSets.set(set, nowMs + codeTenantPauseMs);
  }

  /** It kept within its limits. */
  behaved(program: string): void {
    const offences = this.#offenders.get(program);
    if (offences === undefined) {
      this.#sound.set(program, true);
      return;
    }
    // One that takes too much now and then is no better than one that always does.
    if (this.nowMs() - offences.lastMs > codePauseMaxMs) offences.count = 0;
  }
}
