/** Random numbers that can be reproduced from a seed (mulberry32). */
export class Dice {
  #state: number;

  constructor(readonly seed: number) {
    this.#state = seed;
  }

  below(count: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296) * count);
  }

  of<T>(choices: readonly [T, ...T[]]): T {
    return choices[this.below(choices.length)] ?? choices[0];
  }

  chance(percent: number): boolean {
    return this.below(100) < percent;
  }
}
