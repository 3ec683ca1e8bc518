/**
 * What an owner knows of the schedule of its partition: of each source the next moment. Redis has the schedule itself
 * (`store/entities/entity-schedule.ts`). Only the owner writes it, so the owner needs no look at it while nothing is due.
 * Partitions of a worker process what is due in portions whose size they decide together.
 */

import { Semaphore } from '../lib/semaphore.ts';
import {
  countScheduled,
  nextMoments,
  type ScheduledMoment,
  type ScheduledSource,
  scheduledSources,
} from '../store/entities/entity-schedule.ts';
import type { EntityWork } from '../store/partitions/intake.ts';
import type { Store } from '../store/store.ts';
import type { ScheduleChange } from './batch/batch-changes.ts';

/** How soon a clock of Redis that was set is noticed. */
const lookMs = 500;

interface OfSource extends ScheduledSource {
  /** No entity of the source waits for an earlier moment; infinite when none waits. */
  nextMs: number;
}

export class Schedule {
  /** By tenant and source, in the order of their turns. */
  readonly #sources = new Map<string, OfSource>();
  #size = 0;

  constructor(
    private readonly store: Store,
    private readonly tag: string,
  ) {}

  /** Entities that wait for a moment. */
  get size(): number {
    return this.#size;
  }

  /** Takes over what a former owner left. @throws StoreUnavailableError */
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

  /** Milliseconds until something is due or the clock is looked at: 0 now, null when nothing waits. */
  readyInMs(nowMs: number): number | null {
    let nextMs = Number.POSITIVE_INFINITY;
    for (const source of this.#sources.values()) nextMs = Math.min(nextMs, source.nextMs);
    if (nextMs === Number.POSITIVE_INFINITY) return null;
    return Math.min(lookMs, Math.max(0, nextMs - nowMs));
  }

  /**
   * The entities of one source whose moments have come, at most `limit`; sources take turns. A source is due until Redis no
   * longer has its moments: a turn may find that nothing has moved. @throws StoreUnavailableError
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

  /** Notes what a commit has changed. */
  settle(changes: readonly ScheduleChange[]): void {
    for (const { tenant, sourceId, atMs, waits } of changes) {
      this.#size += waits ? 1 : -1;
      if (waits) this.#expect({ tenant, sourceId }, atMs);
    }
  }

  #expect({ tenant, sourceId }: ScheduledSource, atMs: number): void {
    const name = `${tenant}|${sourceId}`;
    const known = this.#sources.get(name);
    if (known === undefined) this.#sources.set(name, { tenant, sourceId, nextMs: atMs });
    else known.nextMs = Math.min(known.nextMs, atMs);
  }
}

/** A turn for each entity, whatever number of its moments has come. */
function worksOf({ tenant, sourceId }: ScheduledSource, due: readonly ScheduledMoment[]): EntityWork[] {
  const works = new Map<string, EntityWork & { moments: number[] }>();
  for (const { atMs, originId } of due) {
    const work = works.get(originId) ?? { tenant, sourceId, originId, only: null, repair: null, moments: [] };
    works.set(originId, work);
    work.moments.push(atMs);
  }
  return [...works.values()];
}

/** Portions under way together: one is computed while the others wait for Redis, and their commits share a call. */
const portionsAtOnce = 4;
const patienceMs = 1000;
const wantedMs = 100;
const entitiesAtFirst = 25;
const entitiesLeast = 5;
const entitiesMost = 200;
/** A portion is at most this many times as large as the one before. */
const growth = 2;

/**
 * How much of what is due the partitions of a worker process at a time: about as much as takes a tenth of a second. So a burst is
 * done at the rate of an import, and a save waits no longer than behind an import, whatever an entity costs.
 */
export class SchedulePortions {
  readonly turns = new Semaphore(portionsAtOnce, patienceMs);
  #entities = entitiesAtFirst;

  /** Entities of the next portion. */
  get size(): number {
    return Math.round(this.#entities);
  }

  /** Records how long a portion took, including concurrent work. */
  took(entities: number, ms: number): void {
    const fitting = (entities * wantedMs) / Math.max(1, ms);
    // A small portion says little of larger ones.
    const most = Math.max(growth * entities, this.#entities / growth);
    this.#entities = Math.min(entitiesMost, Math.max(entitiesLeast, Math.min(fitting, most)));
  }
}
