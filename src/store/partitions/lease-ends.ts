/**
 * Until when the leases of a worker hold. All its threads see a change at once: one thread renews and writes, the other
 * answers and reads.
 */
export class LeaseEnds {
  readonly #endsMs: BigInt64Array;

  /** @param shared what several threads share */
  constructor(readonly shared: SharedArrayBuffer) {
    this.#endsMs = new BigInt64Array(shared);
  }

  static ofPartitions(count: number): LeaseEnds {
    return new LeaseEnds(new SharedArrayBuffer(count * BigInt64Array.BYTES_PER_ELEMENT));
  }

  /** By the clock of the worker's main thread, rounded down; 0 when there was never a lease. */
  endMs(partition: number): number {
    return Number(Atomics.load(this.#endsMs, partition));
  }

  set(partition: number, endMs: number): void {
    Atomics.store(this.#endsMs, partition, BigInt(Math.floor(endMs)));
  }
}
