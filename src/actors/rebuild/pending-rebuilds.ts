/**
 * The rebuilds that wait in a partition. Redis has a field for each, from the commit that takes it in to the commit
 * that contains it.
 */
import { parseDependent } from '../../store/derived/dependents.ts';
import { keys } from '../../store/keys.ts';
import type { HashWrites } from '../../store/partitions/hash-writes.ts';
import { encodePendingRebuild, readPendingRebuilds } from '../../store/partitions/pending-rebuilds.ts';
import type { Store } from '../../store/store.ts';
import { type IntakePortion, nameOfWork } from '../batch/work.ts';
import { RebuildQueue, type Waiting } from './rebuild-queue.ts';

const noNames: ReadonlySet<string> = new Set();

export class PendingRebuilds {
  readonly queue = new RebuildQueue();

  constructor(
    private readonly store: Store,
    private readonly tag: string,
  ) {}

  /** Takes over what a former owner left. @throws StoreUnavailableError */
  async load(): Promise<void> {
    const left = [...(await readPendingRebuilds(this.store, this.tag))].sort(([, [a]], [, [b]]) => a - b);
    for (const [field, [first, last]] of left) {
      const [tenant = '', ...dependent] = field.split('|');
      this.queue.add(tenant, dependent.join('|'), first, last);
    }
  }

  /** Queues what a portion asks for. @param writes of the commit that takes the portion in */
  add({ works, invalidations }: IntakePortion, writes: HashWrites): void {
    const whole = invalidations.length === 0 ? noNames : new Set(works.map(nameOfWork));
    for (const { tenant, dependents, sequence } of invalidations) {
      for (const dependent of dependents) {
        // A whole turn in this portion has seen the change that invalidated it.
        if (isWholeTurn(tenant, dependent, whole)) continue;
        const waiting = this.queue.add(tenant, dependent, sequence, sequence);
        writes.set(
          keys.pendingRebuilds(this.tag),
          fieldOf(waiting),
          encodePendingRebuild(waiting.first, waiting.last),
        );
      }
    }
  }

  /** @param writes of the commit that contains their rebuilds */
  remove(done: readonly Waiting[], writes: HashWrites): void {
    for (const waiting of done) writes.delete(keys.pendingRebuilds(this.tag), fieldOf(waiting));
  }
}

function isWholeTurn(tenant: string, dependent: string, whole: ReadonlySet<string>): boolean {
  const parsed = parseDependent(dependent);
  // A repair asks for more than a whole turn does.
  if (parsed?.kind === 'repair') return false;
  return parsed === null || whole.has(nameOfWork({ tenant, ...parsed }));
}

/** Field of `keys.pendingRebuilds`: the tenant, then the dependent. */
function fieldOf({ tenant, dependent }: Waiting): string {
  return `${tenant}|${dependent}`;
}
