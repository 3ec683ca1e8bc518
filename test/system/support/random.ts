import { runs } from '../../support/runs.ts';

/** Random choices that can be reproduced from a seed. */
export class Random {
  #state: number;

  constructor(readonly seed: number) {
    this.#state = seed >>> 0;
  }

  /** Uses MILLRACE_SEED, or else a random seed, and prints it so that a failure can be reproduced. */
  static forTest(name: string): Random {
    const given = process.env.MILLRACE_SEED;
    const seed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);
    console.log(`${name}: MILLRACE_SEED=${seed}`);
    return new Random(seed);
  }

  /** From 0 to below 1 (mulberry32). */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number below `end`. */
  below(end: number): number {
    return Math.floor(this.fraction() * end);
  }

  between(first: number, last: number): number {
    return first + this.below(last - first + 1);
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(things: readonly T[]): T {
    const thing = things[this.below(things.length)];
    if (thing === undefined) throw new RangeError('nothing to pick from');
    return thing;
  }

  /** Includes each thing with the same probability, in their order. */
  some<T>(things: readonly T[], probability = 0.5): T[] {
    return things.filter(() => this.chance(probability));
  }

  shuffled<T>(things: readonly T[]): T[] {
    const shuffled = [...things];
    for (let at = shuffled.length - 1; at > 0; at -= 1) {
      const other = this.below(at + 1);
      const [a, b] = [shuffled[at], shuffled[other]];
      if (a === undefined || b === undefined) continue;
      [shuffled[at], shuffled[other]] = [b, a];
    }
    return shuffled;
  }
}

/**
 * How much a random test does: a number of turns, multiplied by MILLRACE_RUNS, or as many as fit into MILLRACE_SECONDS. Turns are
 * the default, because a busy machine would do few of them in a given time.
 * @returns a function that counts a turn and returns whether there is another
 */
export function testTurns(usual: number): () => boolean {
  const seconds = process.env.MILLRACE_SECONDS;
  const endMs = performance.now() + Number(seconds) * 1_000;
  let turns = 0;
  return () => {
    turns += 1;
    return seconds === undefined ? turns <= runs(usual) : performance.now() < endMs;
  };
}

/** How long a test continues: MILLRACE_SECONDS, or else the given seconds. */
export function testSeconds(usual: number): number {
  return Number(process.env.MILLRACE_SECONDS ?? usual);
}
