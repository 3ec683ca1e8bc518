/**
 * A fair semaphore: callers acquire slots in order. With `patienceMs`, a slot is freed after that time, because its holder
 * probably waits for an unresponsive Redis and must not block others.
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

  /** Settles when enough slots are free. Call the returned function to release them. */
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
      this.#admitWaiting();
    };
    const timer = this.patienceMs === null ? null : setTimeout(release, this.patienceMs);
    return release;
  }

  #admitWaiting(): void {
    for (let first = this.#waiting[0]; first !== undefined; first = this.#waiting[0]) {
      if (first.count > this.#free) return;
      this.#free -= first.count;
      this.#waiting.shift();
      first.enter();
    }
  }
}
