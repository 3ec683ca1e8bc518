/** An endless supply of values from a fast-check arbitrary, reproducible from a seed. They are generated in batches. */
import fc from 'fast-check';
import type { Random } from '../../system/support/random.ts';

const portionSize = 64;

export class Supply<T> {
  readonly #values: T[] = [];

  constructor(
    private readonly arbitrary: fc.Arbitrary<T>,
    private readonly random: Random,
  ) {}

  next(): T {
    if (this.#values.length === 0) {
      this.#values.push(
        ...fc.sample(this.arbitrary, { seed: this.random.below(2 ** 31), numRuns: portionSize }),
      );
    }
    const value = this.#values.pop();
    if (value === undefined) throw new Error('the arbitrary gave nothing');
    return value;
  }
}
