/**
 * An owner's knowledge of the schedule of its partition: the next time for each source. The schedule itself is in Redis
 * (`store/entities/entity-schedule.ts`). Only the owner writes it, so it need not be read while nothing is due. The partitions
 * of a worker process due entries in portions with a common size.
 */

import { Semaphore } from '../lib/semaphore.ts';
import {
  countScheduled,
  nextMoments,
  type ScheduledMoment,
  scheduledSources,
} from '../store/entities/entity-schedule.ts';
import type { EntityWork } from '../store/partitions/intake.ts';
import { type SourceRef, sourceField } from '../store/scopes.ts';
import type { Store } from '../store/store.ts';
import type { ScheduleChange } from './batch/batch-changes.ts';

/** How soon a change of Redis' clock is noticed. */
const lookMs = 500;

interface OfSource extends SourceRef {
  /** No entity of the source waits for an earlier time; infinite if none waits. */
  nextMs: number;
}

export class Schedule {
  /** Sources by tenant and source id, in the order of their turns. */
  readonly #sources = new Map<string, OfSource>();
  #size = 0;

  constructor(
    private readonly store: Store,
    private readonly tag: string,
  ) {}

  /** Number of waiting entities. */
  get size(): number {
    return this.#size;
  }

  /** Loads the state of the previous owner. @throws StoreUnavailableError */
  async load(): Promise<void> {
    const sources = await scheduledSources(this.store, this.tag);
    await Promise.all(
      sources.map(async (source) => {
        const [[first], count] = await Promise.all([
          nextMoments(this.store, this.tag, source, 1),
          countScheduled(this.store, this.tag, source),
        ]);
        if (first !== undefined) this.#expect(source, first.atMs);
        this.#size += count;
      }),
    );
  }

  /** Milliseconds until an entry is due or the clock is checked: 0 for now, null if nothing waits. */
  readyInMs(nowMs: number): number | null {
    let nextMs = Number.POSITIVE_INFINITY;
    for (const source of this.#sources.values()) nextMs = Math.min(nextMs, source.nextMs);
    if (nextMs === Number.POSITIVE_INFINITY) return null;
    return Math.min(lookMs, Math.max(0, nextMs - nowMs));
  }

  /**
   * The due entities of one source, at most `limit`; sources take turns. A source stays due until its entries are removed from
   * Redis, because a turn may find that nothing has changed.
   * @throws StoreUnavailableError
   */
  async takeDue(nowMs: number, limit: number): Promise<EntityWork[]> {
    for (const [name, source] of this.#sources) {
      if (source.nextMs > nowMs) continue;
      this.#sources.delete(name);
      const moments = await nextMoments(this.store, this.tag, source, limit);
      const [first] = moments;
      if (first === undefined) continue;
      this.#expect(source, first.atMs);
      const due = moments.filter(({ atMs }) => atMs <= nowMs);
      if (due.length > 0) return worksOf(source, due);
    }
    return [];
  }

  /** Applies the changes of a commit. */
  settle(changes: readonly ScheduleChange[]): void {
    for (const { tenant, sourceId, atMs, waits } of changes) {
      this.#size += waits ? 1 : -1;
      if (waits) this.#expect({ tenant, sourceId }, atMs);
    }
  }

  #expect({ tenant, sourceId }: SourceRef, atMs: number): void {
    const name = sourceField({ tenant, sourceId });
    const known = this.#sources.get(name);
    if (known === undefined) this.#sources.set(name, { tenant, sourceId, nextMs: atMs });
    else known.nextMs = Math.min(known.nextMs, atMs);
  }
}

/** One turn per entity, even if several of its times are due. */
function worksOf({ tenant, sourceId }: SourceRef, due: readonly ScheduledMoment[]): EntityWork[] {
  const works = new Map<string, EntityWork & { moments: number[] }>();
  for (const { atMs, originId } of due) {
    const work = works.get(originId) ?? { tenant, sourceId, originId, only: null, repair: null, moments: [] };
    works.set(originId, work);
    work.moments.push(atMs);
  }
  return [...works.values()];
}

/** Number of concurrent portions: one is computed while the others wait for Redis, and their commits share a call. */
const portionsAtOnce = 4;
const patienceMs = 1000;
const wantedMs = 100;
const entitiesAtFirst = 25;
const entitiesMin = 5;
const entitiesMax = 200;
/** A portion is at most this many times as large as the one before. */
const growth = 2;

/**
 * Adapts the size of schedule portions of a worker to about a tenth of a second of work. So a burst is processed at the rate of
 * an import, and a save waits no longer than during an import, whatever an entity costs.
 */
export class SchedulePortions {
  readonly turns = new Semaphore(portionsAtOnce, patienceMs);
  #entities = entitiesAtFirst;

  /** Number of entities in the next portion. */
  get size(): number {
    return Math.round(this.#entities);
  }

  /** Records how long a portion took, including concurrent work. */
  took(entities: number, ms: number): void {
    const fitting = (entities * wantedMs) / Math.max(1, ms);
    // A small portion says little about larger ones.
    const most = Math.max(growth * entities, this.#entities / growth);
    this.#entities = Math.min(entitiesMax, Math.max(entitiesMin, Math.min(fitting, most)));
  }
}
