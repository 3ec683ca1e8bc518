/**
 * What a front has seen of the workers that it asks, to choose among those that hold the same copy. A worker that is stopped
 * or cut off keeps its connections, so it is only detected by missing replies.
 */
import { workerSilentMs } from '../../contract/limits.ts';
import type { LiveWorker } from '../transport/messages.ts';

/** Silence is counted in turns of a timer. So a front that was held up itself does not take its workers for silent. */
const turnMs = 50;
const silentTurns = Math.ceil(workerSilentMs / turnMs);
/** A worker whose connection broke is asked again when it still lives after this long. */
const avoidMs = 1_000;

interface Seen {
  /** Requests that it has not replied to. */
  asked: number;
  /** Turns in which it had requests and nothing came of it. */
  quietTurns: number;
  avoidUntilMs: number;
}

export class WorkerHealth {
  readonly #seen = new Map<string, Seen>();
  #live: ReadonlySet<string> = new Set();
  #timer: NodeJS.Timeout | null = null;
  #last = 0;

  /** @param onSilence called while a worker is silent, turn by turn */
  constructor(private readonly onSilence: () => void) {}

  asked(workerId: string): void {
    const seen = this.#of(workerId);
    if (seen.asked === 0) seen.quietTurns = 0;
    seen.asked += 1;
    this.#timer ??= setInterval(() => this.#turn(), turnMs);
  }

  /** @param isReply false: the request was lost. @param isGone the connection to it broke, or could not be opened */
  ended(
    workerId: string,
    { isReply, isGone }: { readonly isReply: boolean; readonly isGone: boolean },
  ): void {
    const seen = this.#of(workerId);
    seen.asked -= 1;
    if (isReply) {
      seen.quietTurns = 0;
      seen.avoidUntilMs = 0;
    }
    if (isGone) seen.avoidUntilMs = performance.now() + avoidMs;
    this.#forget(workerId, seen);
  }

  /** True once it is no longer a live worker. */
  hasLeft(workerId: string): boolean {
    return !this.#live.has(workerId);
  }

  /** True while it has requests, and nothing came of it for `workerSilentMs`. */
  isSilent(workerId: string): boolean {
    const seen = this.#seen.get(workerId);
    return seen !== undefined && seen.asked > 0 && seen.quietTurns >= silentTurns;
  }

  /** The worker to ask: one that answers rather than one that does not, then the one with the fewest requests, in turns. */
  choose(workers: readonly LiveWorker[]): LiveWorker | null {
    const nowMs = performance.now();
    let [best, least] = [null as LiveWorker | null, Number.POSITIVE_INFINITY];
    this.#last += 1;
    for (let at = 0; at < workers.length; at += 1) {
      const worker = workers[(at + this.#last) % workers.length];
      if (worker === undefined) continue;
      const load = this.#loadOf(worker.id, nowMs);
      if (load < least) [best, least] = [worker, load];
    }
    return best;
  }

  /** @param workers that live now, all of them */
  follow(workers: readonly LiveWorker[]): void {
    this.#live = new Set(workers.map(({ id }) => id));
    for (const [id, seen] of this.#seen) this.#forget(id, seen);
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #loadOf(workerId: string, nowMs: number): number {
    const seen = this.#seen.get(workerId);
    if (seen === undefined) return 0;
    const isAvoided = seen.avoidUntilMs > nowMs || this.isSilent(workerId);
    return seen.asked + (isAvoided ? Number.MAX_SAFE_INTEGER / 2 : 0);
  }

  #forget(workerId: string, { asked }: Seen): void {
    if (asked === 0 && this.hasLeft(workerId)) this.#seen.delete(workerId);
  }

  #of(workerId: string): Seen {
    const known = this.#seen.get(workerId);
    if (known !== undefined) return known;
    const seen = { asked: 0, quietTurns: 0, avoidUntilMs: 0 };
    this.#seen.set(workerId, seen);
    return seen;
  }

  #turn(): void {
    let [isAsked, isSilent] = [false, false];
    for (const [id, seen] of this.#seen) {
      if (seen.asked === 0) continue;
      isAsked = true;
      seen.quietTurns += 1;
      isSilent ||= this.isSilent(id);
    }
    if (!isAsked) this.close();
    if (isSilent) this.onSilence();
  }
}
