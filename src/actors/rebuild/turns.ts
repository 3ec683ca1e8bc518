/** One turn at a time, in the order asked: heavy work of a process that must not pile up beside its light work. */
export class TurnQueue {
  #last: Promise<void> = Promise.resolve();

  /** Settles when the turn has come; call the function it gives when the work is done. */
  async request(): Promise<() => void> {
    const before = this.#last;
    let release = () => {};
    this.#last = new Promise((resolve) => {
      release = resolve;
    });
    await before;
    return release;
  }
}
