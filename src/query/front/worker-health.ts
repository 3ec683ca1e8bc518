/**
 * Tracks how workers respond, to choose among those that hold the same shards. A worker that is suspended or cut off keeps its
 * connections, so it is only detected by missing replies.
 */
import { workerSilentMs } from '../../contract/limits.ts';
import type { LiveWorker } from '../transport/messages.ts';

/** Silence is counted in ticks of a timer, so that a front that was blocked itself does not consider its workers silent. */
const tickMs = 50;
const silentTicks = Math.ceil(workerSilentMs / tickMs);
/** A worker whose connection broke is avoided for this long. */
const avoidMs = 1_000;

interface Seen {
  /** Number of requests without a reply yet. */
  asked: number;
  /** Consecutive ticks with open requests and without a reply. */
  quietTicks: number;
  avoidUntilMs: number;
}

export class WorkerHealth {
  readonly #seen = new Map<string, Seen>();
  #live: ReadonlySet<string> = new Set();
  #timer: NodeJS.Timeout | null = null;
  #last = 0;

  /** @param onSilence called in each tick while a worker is silent */
  constructor(private readonly onSilence: () => void) {}

  asked(workerId: string): void {
    const seen = this.#of(workerId);
    if (seen.asked === 0) seen.quietTicks = 0;
    seen.asked += 1;
    this.#timer ??= setInterval(() => this.#tick(), tickMs);
  }

  /**
   * @param isReply false if the request was lost
   * @param isGone true if the connection broke, or could not be opened
   */
  ended(
    workerId: string,
    { isReply, isGone }: { readonly isReply: boolean; readonly isGone: boolean },
  ): void {
    const seen = this.#of(workerId);
    seen.asked -= 1;
    if (isReply) {
      seen.quietTicks = 0;
      seen.avoidUntilMs = 0;
    }
    if (isGone) seen.avoidUntilMs = performance.now() + avoidMs;
    this.#forget(workerId, seen);
  }

  /** True if it is not a live worker. */
  hasLeft(workerId: string): boolean {
    return !this.#live.has(workerId);
  }

  /** True if it has open requests, and has not replied for `workerSilentMs`. */
  isSilent(workerId: string): boolean {
    const seen = this.#seen.get(workerId);
    return seen !== undefined && seen.asked > 0 && seen.quietTicks >= silentTicks;
  }

  /** The worker to ask: a responsive one if possible, with the fewest open requests; round robin among equals. */
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

  /** @param workers all live workers */
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
    const seen = { asked: 0, quietTicks: 0, avoidUntilMs: 0 };
    this.#seen.set(workerId, seen);
    return seen;
  }

  #tick(): void {
    let [hasRequests, isSilent] = [false, false];
    for (const [id, seen] of this.#seen) {
      if (seen.asked === 0) continue;
      hasRequests = true;
      seen.quietTicks += 1;
      isSilent ||= this.isSilent(id);
    }
    if (!hasRequests) this.close();
    if (isSilent) this.onSilence();
  }
}
