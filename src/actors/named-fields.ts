/** Fields that say by their name alone what a partition has: an owner stores each of them once. */
import type { PartitionWrites } from '../store/partitions/commit.ts';

/** Value of such a field. */
const present = Buffer.from('1');

export class NamedFields {
  /** Fields that this owner's commits have stored. */
  readonly #stored = new Set<string>();
  /** Fields of the batch under way. */
  #coming: string[] = [];

  /** Begins a batch, or begins it again: what it wrote before is not stored. */
  begin(): void {
    this.#coming = [];
  }

  add(writes: PartitionWrites, key: string, field: string): void {
    const name = `${key} ${field}`;
    if (this.#stored.has(name)) return;
    writes.set(key, field, present);
    this.#coming.push(name);
  }

  /** Called after the commit of the batch. */
  settle(): void {
    for (const name of this.#coming) this.#stored.add(name);
    this.#coming = [];
  }
}
