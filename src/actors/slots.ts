/**
 * Some at a time, in the order asked: so that what many do at once takes bounded memory. With a patience, who holds a slot
 * for longer most likely waits for a Redis that does not answer, and stands in nobody's way from then on.
 */
export class Slots {
  readonly #waiting: (() => void)[] = [];

  constructor(
    private free: number,
    private readonly patienceMs: number | null = null,
  ) {}

  /** Settles when there is a slot; call the function it gives when the work is done. */
  async take(): Promise<() => void> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    let isHeld = true;
    const release = () => {
      if (!isHeld) return;
      isHeld = false;
      if (timer !== null) clearTimeout(timer);
      const next = this.#waiting.shift();
      if (next === undefined) this.free += 1;
      else next();
    };
    const timer = this.patienceMs === null ? null : setTimeout(release, this.patienceMs);
    return release;
  }
}
