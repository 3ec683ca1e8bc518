/** A share of the event loop's time, for work that may be long: between its parts it lets others go first. */
import { setImmediate } from 'node:timers/promises';

export class Slice {
  #endsMs: number;

  constructor(private readonly ms: number) {
    this.#endsMs = performance.now() + ms;
  }

  get isOver(): boolean {
    return performance.now() >= this.#endsMs;
  }

  /** Lets other work of the process run, and begins anew. */
  async next(): Promise<void> {
    await setImmediate();
    this.#endsMs = performance.now() + this.ms;
  }

  /** Runs steps to their end, with pauses. @returns their result */
  async run<T>(steps: Generator<undefined, T, undefined>): Promise<T> {
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      if (this.isOver) await this.next();
    }
  }
}
