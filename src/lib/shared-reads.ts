/**
 * Readings that many ask for at a time. Who asks while a reading of the same name is under way shares the next one: it
 * begins after all who share it, so nobody is told a state older than its question.
 */
export class SharedReads<Result> {
  /** Settle when the reading is over, whether it failed or not. */
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #next = new Map<string, Promise<Result>>();

  /** @throws what `read` throws, for all who share it */
  get(name: string, read: () => Promise<Result>): Promise<Result> {
    const waiting = this.#next.get(name);
    if (waiting !== undefined) return waiting;
    const underWay = this.#underWay.get(name);
    if (underWay === undefined) return this.#begin(name, read);
    const next = underWay.then(() => {
      this.#next.delete(name);
      return this.#begin(name, read);
    });
    this.#next.set(name, next);
    return next;
  }

  #begin(name: string, read: () => Promise<Result>): Promise<Result> {
    const reading = read();
    const end = () => void this.#underWay.delete(name);
    this.#underWay.set(name, reading.then(end, end));
    return reading;
  }
}
