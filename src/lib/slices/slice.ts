/** A share of the event loop's time, for work that may be long: between its parts it lets others go first. */
import { setImmediate } from 'node:timers/promises';
import { type Resumable, Suspended, workBudget } from '../cooperative-yield.ts';

export class Slice {
  #endsMs: number;
  readonly #clock = (): boolean => this.isOver;

  constructor(private readonly ms: number) {
    this.#endsMs = performance.now() + ms;
  }

  get isOver(): boolean {
    return performance.now() >= this.#endsMs;
  }

  /** Lets other work of the process run, and starts over. */
  async next(): Promise<void> {
    await setImmediate();
    this.#endsMs = performance.now() + this.ms;
  }

  /** Has the pace of work that begins now follow this slice: `make` gives what is left of it when the slice is over. */
  begin<T>(make: () => Resumable<T>): Resumable<T> {
    workBudget.clock = this.#clock;
    return make();
  }

  /** Does work to its end, with pauses. @returns its result */
  async whole<T>(make: () => Resumable<T>): Promise<T> {
    const made = this.begin(make);
    return made instanceof Suspended ? await this.run(made.steps) : made;
  }

  /** Runs steps to their end, with pauses. @returns their result */
  async run<T>(steps: Generator<undefined, T, undefined>): Promise<T> {
    for (;;) {
      workBudget.clock = this.#clock;
      const { done, value } = steps.next();
      if (done) return value;
      if (this.isOver) await this.next();
    }
  }
}
