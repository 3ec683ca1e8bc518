/**
 * The rebuilds that wait in a partition. Redis has a field for each, from the commit that takes it in to the commit
 * that contains it.
 */
import { codeFirstPauseMs } from '../../contract/limits.ts';
import { parseDependent } from '../../store/derived/dependents.ts';
import { keys } from '../../store/keys.ts';
import type { PartitionWrites } from '../../store/partitions/commit.ts';
import { type IntakePortion, nameOfWork } from '../../store/partitions/intake.ts';
import {
  encodePendingRebuild,
  readPendingRebuilds,
  readRefusedRebuilds,
} from '../../store/partitions/pending-rebuilds.ts';
import type { Store } from '../../store/store.ts';
import { RebuildQueue, type Waiting } from './rebuild-queue.ts';
import { type Refused, RefusedRebuilds } from './refused-rebuilds.ts';

const noNames: ReadonlySet<string> = new Set();
const nothing = Buffer.alloc(0);

type Named = Pick<Waiting, 'tenant' | 'dependent'>;

export class PendingRebuilds {
  readonly queue = new RebuildQueue();
  readonly #refused = new RefusedRebuilds();
  /** Fields of what was refused and is in the queue again. */
  readonly #retried = new Set<string>();

  constructor(
    private readonly store: Store,
    private readonly tag: string,
  ) {}

  /** Takes over what a former owner left. @throws StoreUnavailableError */
  async load(): Promise<void> {
    const left = [...(await readPendingRebuilds(this.store, this.tag))].sort(
      ([, a], [, b]) => a.first - b.first,
    );
    for (const [field, { first, last, cause }] of left) {
      const { tenant, dependent } = ofField(field);
      this.queue.add(tenant, dependent, first, last, cause);
    }
    const nowMs = performance.now();
    for (const field of await readRefusedRebuilds(this.store, this.tag)) {
      this.#refused.add({ ...ofField(field), retryInMs: codeFirstPauseMs }, nowMs);
    }
  }

  /** Queues what a portion asks for. @param writes of the commit that takes the portion in */
  add({ works, invalidations }: IntakePortion, writes: PartitionWrites): void {
    const whole = invalidations.length === 0 ? noNames : new Set(works.map(nameOfWork));
    for (const { tenant, dependents, causes, sequence } of invalidations) {
      for (const [at, dependent] of dependents.entries()) {
        // A whole turn in this portion has seen the change that invalidated it.
        if (isWholeTurn(tenant, dependent, whole)) continue;
        const waiting = this.queue.add(tenant, dependent, sequence, sequence, causes[at] ?? null);
        writes.set(keys.pendingRebuilds(this.tag), fieldOf(waiting), encodePendingRebuild(waiting));
      }
    }
  }

  /** Notes what a batch was refused. @param writes of its commit; a later owner finds it there */
  refuse(refused: readonly Refused[], writes: PartitionWrites, nowMs: number): void {
    for (const one of refused) {
      this.#refused.add(one, nowMs);
      writes.set(keys.refusedRebuilds(this.tag), fieldOf(one), nothing);
    }
  }

  /** Queues what was refused and is to be tried again. @param sequence of the last entry that is taken in */
  retry(sequence: number, nowMs: number): void {
    for (const { tenant, dependent } of this.#refused.take(nowMs)) {
      this.#retried.add(fieldOf(this.queue.add(tenant, dependent, sequence, sequence)));
    }
  }

  /** Milliseconds until a rebuild may begin: 0 now, null when none waits. */
  readyInMs(nowMs: number): number | null {
    const refusedMs = this.#refused.readyInMs(nowMs);
    const queuedMs = this.queue.readyInMs(nowMs);
    if (refusedMs === null || queuedMs === null) return refusedMs ?? queuedMs;
    return Math.min(refusedMs, queuedMs);
  }

  /** @param writes of the commit that contains their rebuilds */
  remove(done: readonly Waiting[], writes: PartitionWrites): void {
    for (const waiting of done) {
      const field = fieldOf(waiting);
      writes.delete(keys.pendingRebuilds(this.tag), field);
      if (this.#retried.delete(field)) writes.delete(keys.refusedRebuilds(this.tag), field);
    }
  }
}

function isWholeTurn(tenant: string, dependent: string, whole: ReadonlySet<string>): boolean {
  const parsed = parseDependent(dependent);
  // A repair asks for more than a whole turn does.
  if (parsed?.kind === 'repair') return false;
  return parsed === null || whole.has(nameOfWork({ tenant, ...parsed }));
}

/** Field of `keys.pendingRebuilds`: the tenant, then the dependent. */
function fieldOf({ tenant, dependent }: Named): string {
  return `${tenant}|${dependent}`;
}

function ofField(field: string): Named {
  const [tenant = '', ...dependent] = field.split('|');
  return { tenant, dependent: dependent.join('|') };
}
