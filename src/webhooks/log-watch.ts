/** Whether anything has been committed since one looked last, for all senders of a process. */
import { repeat } from '../lib/repeat.ts';
import { keys } from '../store/keys.ts';
import type { Store } from '../store/store.ts';

const lookMs = 200;

export class LogWatch {
  #count = 0;
  #last = '';
  #waiting = new Set<() => void>();

  constructor(private readonly store: Store) {}

  /** Another number when something has been committed. */
  get count(): number {
    return this.#count;
  }

  /** Looks until the signal says otherwise. */
  run(signal: AbortSignal): Promise<void> {
    return repeat(() => this.#look(), { pauseMs: lookMs, signal, onError: () => {} });
  }

  async #look(): Promise<void> {
    const { fields, partitions } = this.store;
    const numbers = await fields.read(
      partitions.tags.map((tag) => ({ key: keys.clock(tag), field: 'changes' })),
    );
    const now = numbers.map(String).join();
    if (now === this.#last) return;
    this.#last = now;
    this.#count += 1;
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const wake of waiting) wake();
  }

  /** Until something has been committed, or a time is over. @throws the reason of the signal */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    // A past abort is no longer an event.
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
