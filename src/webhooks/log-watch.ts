/** Detects new commits, for all senders of a process. */
import { repeat } from '../lib/repeat.ts';
import type { Store } from '../store/store.ts';
import { readAnnounced } from '../store/visibility/version.ts';

const pollMs = 200;

export class LogWatch {
  #count = 0;
  #last = '';
  #waiting = new Set<() => void>();

  constructor(private readonly store: Store) {}

  /** A number that changes when something has been committed. */
  get count(): number {
    return this.#count;
  }

  /** Polls until the signal is aborted. */
  run(signal: AbortSignal): Promise<void> {
    return repeat(() => this.#poll(), { pauseMs: pollMs, signal, onError: () => {} });
  }

  async #poll(): Promise<void> {
    const { fields, partitions } = this.store;
    const now = (await readAnnounced(fields, partitions.tags)).join();
    if (now === this.#last) return;
    this.#last = now;
    this.#count += 1;
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const wake of waiting) wake();
  }

  /** Waits for a commit, at most for a time. @throws the reason of the signal */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    // A signal that is already aborted fires no event.
    signal.throwIfAborted();
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake);
    });
    signal.throwIfAborted();
  }
}
