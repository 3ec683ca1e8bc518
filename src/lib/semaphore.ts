/**
 * Lets a bounded number of holders in, in the order in which they asked. So work of many callers takes bounded memory.
 * With `patienceMs`, a slot that is held for longer becomes free: its holder most likely waits for a Redis that does not
 * answer, and must not be in the way of others.
 */
export class Semaphore {
  readonly #waiting: { readonly count: number; readonly enter: () => void }[] = [];
  #free: number;

  constructor(
    private readonly count: number,
    private readonly patienceMs: number | null = null,
  ) {
    this.#free = count;
  }

  /** Settles when so many slots are free. The caller calls the function that it gives when the work is done. */
  async acquire(wanted = 1): Promise<() => void> {
    const count = Math.min(wanted, this.count);
    if (this.#waiting.length === 0 && this.#free >= count) this.#free -= count;
    else await new Promise<void>((enter) => this.#waiting.push({ count, enter }));
    let isHeld = true;
    const release = () => {
      if (!isHeld) return;
      isHeld = false;
      if (timer !== null) clearTimeout(timer);
      this.#free += count;
      this.#letIn();
    };
    const timer = this.patienceMs === null ? null : setTimeout(release, this.patienceMs);
    return release;
  }

  #letIn(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (first.count > this.#free) return;
      this.#free -= first.count;
      this.#waiting.shift();
      first.enter();
    }
  }
}
