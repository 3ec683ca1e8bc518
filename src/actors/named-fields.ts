/** Hash fields whose names list what a partition has. An owner stores each of them once per configuration. */
import type { Configuration } from '../config/configuration.ts';
import type { PartitionWrites } from '../store/partitions/commit.ts';

/** Value of such a field. */
const present = Buffer.from('1');
/**
 * Maximum number of remembered fields, because clients determine the number of entity types. Forgotten fields are stored again.
 */
const rememberedMax = 10_000;

export class NamedFields {
  /** Fields that this owner's commits have stored. */
  readonly #stored = new Set<string>();
  /** Fields of the current batch. */
  #coming: string[] = [];
  #configuration: Configuration | null = null;

  /**
   * Begins a batch or its retry, whose former writes were not stored. After a configuration change, all fields are stored
   * again, because a source may have been purged with its fields and added again.
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
