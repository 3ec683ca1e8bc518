/**
 * Reports leases that were taken, lost or given back. Leases mostly come and go together, so those of half a second are
 * one report.
 */

export type LeaseEvent = 'taken' | 'lost' | 'given back';

const gatherMs = 500;

export class LeaseNews {
  readonly #gathered = new Map<LeaseEvent, Set<number>>();
  #timer: NodeJS.Timeout | null = null;

  constructor(private readonly tell: (event: LeaseEvent, partitions: readonly number[]) => void) {}

  add(event: LeaseEvent, partition: number): void {
    this.#gathered.set(event, (this.#gathered.get(event) ?? new Set()).add(partition));
    this.#timer ??= setTimeout(() => this.#flush(), gatherMs);
  }

  /** Tells what was gathered. */
  close(): void {
    this.#flush();
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    for (const [event, partitions] of this.#gathered)
      this.tell(
        event,
        [...partitions].sort((a, b) => a - b),
      );
    this.#gathered.clear();
  }
}
