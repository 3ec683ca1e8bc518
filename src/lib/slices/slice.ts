/**
 * Time slices of the event loop, for long-running work. A `Slice` yields to other work between the parts of one task.
 * `TimeSlices` runs many tasks within the time of one turn; the rest waits for the next turns. So a flood of bodies does not
 * block other requests.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Resumable, Suspended, workBudget } from '../cooperative-yield.ts';

/** The time slice of one task. */
export class Slice {
  #endsMs: number;
  readonly #clock = (): boolean => this.isOver;

  constructor(private readonly ms: number) {
    this.#endsMs = performance.now() + ms;
  }

  get isOver(): boolean {
    return performance.now() >= this.#endsMs;
  }

  /** Yields to other work of the process, then starts a new slice. */
  async next(): Promise<void> {
    await nextTurn();
    this.#endsMs = performance.now() + this.ms;
  }

  /** Runs `make` with this slice as its work budget. Returns unfinished work if the slice ends first. */
  begin<T>(make: () => Resumable<T>): Resumable<T> {
    workBudget.clock = this.#clock;
    return make();
  }

  /** Runs work to its end, with pauses. @returns its result */
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

/** Time of one turn of the event loop; parsing a body on this thread takes less. */
const sliceMs = 4;

/** Runs work on the main thread in the order of the calls. */
export class TimeSlices {
  readonly #waiting: (() => void)[] = [];
  #spentMs = 0;
  #isTurnBegun = false;

  /**
   * Runs the work immediately if this turn has time and no other work waits, otherwise later, in order.
   * @throws what `work` throws
   */
  run<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      });
      if (this.#waiting.length === 1) this.#work();
    });
  }

  #work(): void {
    if (this.#waiting.length === 0) return;
    if (!this.#isTurnBegun) {
      this.#isTurnBegun = true;
      setImmediate(() => this.#nextTurn());
    }
    while (this.#spentMs < sliceMs) {
      const startMs = performance.now();
      const work = this.#waiting.shift();
      if (work === undefined) return;
      work();
      this.#spentMs += performance.now() - startMs;
    }
  }

  #nextTurn(): void {
    this.#isTurnBegun = false;
    this.#spentMs = 0;
    this.#work();
  }
}
