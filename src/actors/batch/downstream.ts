/** Requests the rebuilds that a batch's changes require, in all partitions. */
import type { EntityRef } from '../../contract/ids.ts';
import { portions } from '../../lib/lists.ts';
import { parseDependent } from '../../store/derived/dependents.ts';
import type { Caller } from '../../store/ownership/lease.ts';
import { invalidate } from '../../store/partitions/invalidate.ts';
import type { Store } from '../../store/store.ts';
import type { DownstreamInvalidation } from '../../store/streams/announcement.ts';

/** Maximum number of dependents per stream entry, because a portion of the stream contains at least one whole entry. */
const dependentsPerInvalidation = 1000;

interface Caused {
  readonly dependent: string;
  readonly cause: EntityRef | null;
}

export class DownstreamInvalidations {
  /** The last invalidation sent, by tenant and partition. */
  readonly #last = new Map<string, DownstreamInvalidation>();

  constructor(
    private readonly store: Store,
    private readonly caller: Caller,
  ) {}

  get list(): DownstreamInvalidation[] {
    return [...this.#last.values()];
  }

  /**
   * @param dependents with the entity whose change invalidates each; null if unknown
   * @param inBatch `<source>:<origin>` of entities that this batch builds later anyway. @throws FencedError,
   * StoreUnavailableError
   */
  async send(
    tenant: string,
    dependents: ReadonlyMap<string, EntityRef | null>,
    inBatch: ReadonlySet<string>,
  ): Promise<void> {
    const byPartition = new Map<number, Caused[]>();
    for (const [dependent, cause] of dependents) {
      const parsed = parseDependent(dependent);
      if (parsed === null || inBatch.has(`${parsed.sourceId}:${parsed.originId}`)) continue;
      const partition = this.store.partitions.ofEntity(parsed.sourceId, parsed.originId);
      const group = byPartition.get(partition);
      const caused = { dependent, cause };
      if (group === undefined) byPartition.set(partition, [caused]);
      else group.push(caused);
    }
    await Promise.all([...byPartition].map(([partition, group]) => this.#sendTo(tenant, partition, group)));
  }

  async #sendTo(tenant: string, partition: number, caused: readonly Caused[]): Promise<void> {
    const { store, caller } = this;
    for (const portion of portions(caused, dependentsPerInvalidation)) {
      const dependents = portion.map(({ dependent }) => dependent);
      const causes = portion.map(({ cause }) => cause);
      this.#note(tenant, partition, await invalidate(store, caller, partition, tenant, dependents, causes));
    }
  }

  #note(tenant: string, partition: number, sequence: number): void {
    const key = `${tenant}:${partition}`;
    const known = this.#last.get(key);
    if (known === undefined || known.sequence < sequence)
      this.#last.set(key, { tenant, partition, sequence });
  }
}
