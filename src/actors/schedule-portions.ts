/**
 * How much of what is due the partitions of a worker process at a time: about as much as takes a tenth of a second. So a burst is
 * done at the rate of an import, and a save waits no longer than behind an import, whatever an entity costs.
 */
import { Semaphore } from '../lib/semaphore.ts';

/** Portions under way together: one is computed while the others wait for Redis, and their commits share a call. */
const portionsAtOnce = 4;
const patienceMs = 1000;
const wantedMs = 100;
const entitiesAtFirst = 25;
const entitiesLeast = 5;
const entitiesMost = 200;
/** A portion is at most so many times as large as the one before. */
const growth = 2;

export class SchedulePortions {
  readonly turns = new Semaphore(portionsAtOnce, patienceMs);
  #entities = entitiesAtFirst;

  /** Entities of the next portion. */
  get size(): number {
    return Math.round(this.#entities);
  }

  /** Notes how long a portion took, with what went on beside it. */
  took(entities: number, ms: number): void {
    const fitting = (entities * wantedMs) / Math.max(1, ms);
    // A small portion says little of larger ones.
    const most = Math.max(growth * entities, this.#entities / growth);
    this.#entities = Math.min(entitiesMost, Math.max(entitiesLeast, Math.min(fitting, most)));
  }
}
