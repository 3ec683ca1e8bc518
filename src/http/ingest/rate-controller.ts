/**
 * Backpressure for ingest. Accepting an entity costs less than processing it. An import that is accepted as fast as it arrives
 * would run far ahead of the workers, and all other writes would wait at the end of the queue. So a window bounds the work that
 * a front has accepted and the workers have not done. Requests beyond that wait here, before any part of them is accepted.
 * Bulk and single saves each have their own window and queue, so that neither waits for the other. Tenants take turns.
 */
import { ProblemError, problems } from '../../contract/errors.ts';
import type { FrontLimits } from '../../contract/front-limits.ts';
import { ingestWaitMs } from '../../contract/limits.ts';
import type { PlaceListener } from '../../store/visibility/progress.ts';
import type { VersionVector } from '../../store/visibility/version.ts';
import { WaitingWrites, type WriteKind } from './writes-under-way.ts';

/** A worker that has done none of its waiting work for this long counts as away, and new writes do not wait for it. */
const awayMs = 3_000;
const pollMs = 50;

export interface QueuedWrite {
  readonly kind: WriteKind;
  readonly tenant: string;
  /** Estimated work, from `workOf`. */
  readonly work: number;
}

export interface Accepted {
  /** Positions of the write in the streams. */
  readonly version: VersionVector;
  /** How much of the write is work for the workers, 0 to 1. An entity that changes nothing causes no work. */
  readonly changedShare: number;
}

interface Waiting {
  readonly work: number;
  readonly untilMs: number;
  readonly enter: () => void;
  readonly refuse: () => void;
}

/** The window and the queue of bulk saves, or of single ones. */
class Lane {
  readonly window = new IngestWindow();
  /** Tenant -> its requests in the order of arrival; tenants in the order of their turns. */
  readonly #queue = new Map<string, Waiting[]>();

  get isEmpty(): boolean {
    return this.#queue.size === 0;
  }

  waitingOf(tenant: string): number {
    return this.#queue.get(tenant)?.length ?? 0;
  }

  wait(tenant: string, waiting: Waiting): void {
    const ofTenant = this.#queue.get(tenant);
    if (ofTenant === undefined) this.#queue.set(tenant, [waiting]);
    else ofTenant.push(waiting);
  }

  letIn(): void {
    for (const [tenant, waiting] of this.#queue) {
      if (!this.window.hasRoom) return;
      const first = waiting.shift();
      // A tenant with more requests moves to the end of the turns.
      this.#queue.delete(tenant);
      if (waiting.length > 0) this.#queue.set(tenant, waiting);
      if (first === undefined) continue;
      this.window.take(first.work);
      first.enter();
    }
  }

  refuseUntil(nowMs: number): void {
    for (const [tenant, waiting] of this.#queue) {
      const from = waiting.findIndex(({ untilMs }) => untilMs > nowMs);
      for (const { refuse } of waiting.splice(0, from < 0 ? waiting.length : from)) refuse();
      if (waiting.length === 0) this.#queue.delete(tenant);
    }
  }
}

/** The part of `Progress` that the rate depends on. */
interface Places {
  onPlace(listener: PlaceListener): void;
}

export class IngestRateController {
  readonly #lanes: Readonly<Record<WriteKind, Lane>> = { single: new Lane(), bulk: new Lane() };
  readonly #writes = new WaitingWrites(({ kind, work }, waitedMs) => {
    const lane = this.#lanes[kind];
    lane.window.give(work);
    if (waitedMs !== null) lane.window.fit(work, waitedMs, !lane.isEmpty);
  });
  #polling: NodeJS.Timeout | null = null;

  constructor(
    places: Places,
    private readonly limits: Pick<FrontLimits, 'ingestBacklogEntries'>,
  ) {
    places.onPlace((partition, checkpoint, last) => {
      this.#writes.passed(partition, checkpoint, performance.now());
      if (last !== null) this.#writes.forgetBeyond(partition, last);
      this.#letIn();
    });
  }

  /**
   * Must be called before anything of a request is read.
   * @throws ProblemError `ingestBusy` if too many entries and requests of the tenant are waiting
   */
  refuseWhenBusy(tenant: string): void {
    const { single, bulk } = this.#lanes;
    const waiting = this.#writes.entriesOf(tenant) + single.waitingOf(tenant) + bulk.waitingOf(tenant);
    if (waiting > this.limits.ingestBacklogEntries) throw new ProblemError(problems.ingestBusy);
  }

  /**
   * Accepts a write when its turn comes.
   * @throws ProblemError `ingestBusy` if that takes longer than `ingestWaitMs`; what `accept` throws
   */
  async accept<T extends Accepted>(write: QueuedWrite, accept: () => Promise<T>): Promise<T> {
    const { kind, tenant, work } = write;
    const lane = this.#lanes[kind];
    if (lane.isEmpty && this.#hasRoom(lane)) lane.window.take(work);
    else await this.#wait(lane, tenant, work);
    let left = 0;
    try {
      const accepted = await accept();
      left = accepted.version.size === 0 ? 0 : work * accepted.changedShare;
      if (left > 0) this.#writes.add(tenant, accepted.version, { kind, work: left }, performance.now());
      return accepted;
    } finally {
      lane.window.give(work - left);
      this.#letIn();
    }
  }

  #wait(lane: Lane, tenant: string, work: number): Promise<void> {
    return new Promise((enter, reject) => {
      const refuse = () => reject(new ProblemError(problems.ingestBusy));
      lane.wait(tenant, { work, untilMs: performance.now() + ingestWaitMs, enter, refuse });
      this.#polling ??= setInterval(() => this.#poll(), pollMs);
    });
  }

  /** Polls, because there is no event for workers that are stuck. */
  #poll(): void {
    const nowMs = performance.now();
    for (const lane of Object.values(this.#lanes)) lane.refuseUntil(nowMs);
    this.#writes.giveUpUnmoved(nowMs - awayMs);
    this.#letIn();
  }

  #letIn(): void {
    const lanes = Object.values(this.#lanes);
    for (const lane of lanes) lane.letIn();
    if (this.#polling === null || lanes.some((lane) => !lane.isEmpty)) return;
    clearInterval(this.#polling);
    this.#polling = null;
  }

  #hasRoom({ window }: Lane): boolean {
    if (window.hasRoom) return true;
    this.#writes.giveUpUnmoved(performance.now() - awayMs);
    return window.hasRoom;
  }
}

/** Half of the 200 ms in which the median single save becomes visible (docs/promises.md "Load and outages"). */
const aimMs = 100;
const sizeFirst = 400;
/**
 * A smaller size would hardly make writes faster: an entry then waits mostly for Redis and for a free core, and not for other
 * entries. And an import would make almost no progress.
 */
const sizeMin = 200;
const sizeMax = 100_000;
/** The window is refilled when at most this share of it is in use. */
const refillShare = 0.5;
/** Share of the correction that is applied to the size after each completed write. */
const gain = 0.5;
const factorMin = 0.5;
const factorMax = 2;

/**
 * Bounds the accepted work that may wait for the workers to what they do in about `aimMs`. The size is adjusted by how long
 * accepted writes had to wait. So it adapts to the cost of entities and to the number of fronts: each front measures how long
 * its own writes waited among all others. Work is counted in small entities (`workOf`).
 */
export class IngestWindow {
  #size = sizeFirst;
  #used = 0;
  #isFilling = true;

  get size(): number {
    return this.#size;
  }

  get used(): number {
    return this.#used;
  }

  /**
   * A full window has no room until much of its work is done. The writes that are then accepted together share calls to Redis
   * and stream entries, each of which costs as much as several entities. The last write may exceed the size.
   */
  get hasRoom(): boolean {
    if (this.#used >= this.#size) this.#isFilling = false;
    else if (this.#used <= this.#size * refillShare) this.#isFilling = true;
    return this.#isFilling;
  }

  take(work: number): void {
    this.#used += work;
  }

  give(work: number): void {
    // Sums of fractions have rounding errors.
    this.#used = Math.max(0, this.#used - work);
  }

  /**
   * Adjusts the size after work was done.
   * @param waitedMs time since the work was accepted
   * @param isWanted true if a request waits for room. Otherwise the size does not grow
   */
  fit(work: number, waitedMs: number, isWanted: boolean): void {
    const factor = Math.min(factorMax, Math.max(factorMin, aimMs / Math.max(1, waitedMs)));
    if (factor > 1 && !isWanted) return;
    this.#size = Math.min(sizeMax, Math.max(sizeMin, this.#size + gain * work * (factor - 1)));
  }
}
