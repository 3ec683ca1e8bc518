/** Asks for the rebuilds that a batch's changes make necessary, wherever their entities are. */
import { portions } from '../../lib/portions.ts';
import { parseDependent } from '../../store/derived/dependents.ts';
import type { DownstreamInvalidation } from '../../store/partitions/announcement.ts';
import { invalidate } from '../../store/partitions/intake.ts';
import type { Caller } from '../../store/partitions/lease.ts';
import type { Store } from '../../store/store.ts';

/** Dependents of one stream entry: a portion of the stream holds at least one entry whole. */
const dependentsPerInvalidation = 1000;

export class DownstreamInvalidations {
  /** The last ones sent, by tenant and partition. */
  readonly #last = new Map<string, DownstreamInvalidation>();

  constructor(
    private readonly store: Store,
    private readonly caller: Caller,
  ) {}

  get list(): DownstreamInvalidation[] {
    return [...this.#last.values()];
  }

  /**
   * @param inBatch `<source>:<origin>` of entities that are built after this anyway. @throws FencedError,
   * StoreUnavailableError
   */
  async send(tenant: string, dependents: Iterable<string>, inBatch: ReadonlySet<string>): Promise<void> {
    const byPartition = new Map<number, string[]>();
    for (const dependent of new Set(dependents)) {
      const parsed = parseDependent(dependent);
      if (parsed === null || inBatch.has(`${parsed.sourceId}:${parsed.originId}`)) continue;
      const partition = this.store.partitions.ofEntity(parsed.sourceId, parsed.originId);
      const group = byPartition.get(partition);
      if (group === undefined) byPartition.set(partition, [dependent]);
      else group.push(dependent);
    }
    await Promise.all([...byPartition].map(([partition, group]) => this.#sendTo(tenant, partition, group)));
  }

  async #sendTo(tenant: string, partition: number, dependents: readonly string[]): Promise<void> {
    for (const portion of portions(dependents, dependentsPerInvalidation)) {
      this.#note(tenant, partition, await invalidate(this.store, this.caller, partition, tenant, portion));
    }
  }

  #note(tenant: string, partition: number, sequence: number): void {
    const key = `${tenant}:${partition}`;
    const known = this.#last.get(key);
    if (known === undefined || known.sequence < sequence)
      this.#last.set(key, { tenant, partition, sequence });
  }
}
