/** Fields that say by their name alone what a partition has: an owner stores each of them once for each configuration. */
import type { Configuration } from '../config/configuration.ts';
import type { PartitionWrites } from '../store/partitions/commit.ts';

/** Value of such a field. */
const present = Buffer.from('1');
/** Clients name entity types, so they say how many fields there are. Those that were forgotten are stored again. */
const rememberedMax = 10_000;

export class NamedFields {
  /** Fields that this owner's commits have stored. */
  readonly #stored = new Set<string>();
  /** Fields of the batch under way. */
  #coming: string[] = [];
  #configuration: Configuration | null = null;

  /**
   * Begins a batch, or begins it again: what it wrote before is not stored. Another configuration may have a source that
   * was purged, and its fields with it, since they were stored.
   */
  begin(configuration: Configuration): void {
    this.#coming = [];
    if (configuration !== this.#configuration || this.#stored.size > rememberedMax) this.#stored.clear();
    this.#configuration = configuration;
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
