/**
 * The pace of ingest. Accepting an entity costs less than processing it. An import that is accepted as fast as it comes
 * would run far ahead of the workers, and all other writes would wait at the end of the queue. So `window.ts`
 * bounds what a front has accepted and the workers have not done. Requests beyond that wait here, before anything of
 * them is accepted. Bulk and single saves have a window and a line each, so that neither waits behind the other.
 * Tenants take turns.
 */
import { ProblemError, problems } from '../../contract/errors.ts';
import type { FrontLimits } from '../../contract/front-limits.ts';
import { ingestWaitMs } from '../../contract/limits.ts';
import type { PlaceListener } from '../../store/visibility/progress.ts';
import type { VersionVector } from '../../store/visibility/version.ts';
import { IngestWindow } from './window.ts';
import { WaitingWrites, type WriteKind } from './writes-under-way.ts';

/** If nothing was done for this long while something waits, the worker is away. A new write then does not wait for it. */
const awayMs = 3_000;
const lookMs = 50;

export interface QueuedWrite {
  readonly kind: WriteKind;
  readonly tenant: string;
  /** See `workOf`. */
  readonly work: number;
}

export interface Accepted {
  /** Where the write is in the streams. */
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

/** The window and the line of bulk saves, or of single ones. */
class Lane {
  readonly window = new IngestWindow();
  /** Tenant -> its requests in the order in which they came; tenants in the order of their turns. */
  readonly #line = new Map<string, Waiting[]>();

  get isEmpty(): boolean {
    return this.#line.size === 0;
  }

  waitingOf(tenant: string): number {
    return this.#line.get(tenant)?.length ?? 0;
  }

  wait(tenant: string, waiting: Waiting): void {
    const ofTenant = this.#line.get(tenant);
    if (ofTenant === undefined) this.#line.set(tenant, [waiting]);
    else ofTenant.push(waiting);
  }

  letIn(): void {
    for (const [tenant, waiting] of this.#line) {
      if (!this.window.hasRoom) return;
      const first = waiting.shift();
      // A tenant with more requests is last in the order of turns from now on.
      this.#line.delete(tenant);
      if (waiting.length > 0) this.#line.set(tenant, waiting);
      if (first === undefined) continue;
      this.window.take(first.work);
      first.enter();
    }
  }

  refuseUntil(nowMs: number): void {
    for (const [tenant, waiting] of this.#line) {
      const from = waiting.findIndex(({ untilMs }) => untilMs > nowMs);
      for (const { refuse } of waiting.splice(0, from < 0 ? waiting.length : from)) refuse();
      if (waiting.length === 0) this.#line.delete(tenant);
    }
  }
}

/** The part of `Progress` that the pace follows. */
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
  #looking: NodeJS.Timeout | null = null;

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
   * @throws ProblemError `ingestBusy` when too much of the tenant waits
   */
  refuseWhenBusy(tenant: string): void {
    const { single, bulk } = this.#lanes;
    const waiting = this.#writes.entriesOf(tenant) + single.waitingOf(tenant) + bulk.waitingOf(tenant);
    if (waiting > this.limits.ingestBacklogEntries) throw new ProblemError(problems.ingestBusy);
  }

  /**
   * Accepts a write when its turn has come.
   * @throws ProblemError `ingestBusy` when that would take too long; what `accept` throws
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
      if (left > 0) this.#writes.note(tenant, accepted.version, { kind, work: left }, performance.now());
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
      this.#looking ??= setInterval(() => this.#look(), lookMs);
    });
  }

  /** Polls, because there is no event when the workers are stuck. */
  #look(): void {
    const nowMs = performance.now();
    for (const lane of Object.values(this.#lanes)) lane.refuseUntil(nowMs);
    this.#writes.giveUpUnmoved(nowMs - awayMs);
    this.#letIn();
  }

  #letIn(): void {
    const lanes = Object.values(this.#lanes);
    for (const lane of lanes) lane.letIn();
    if (this.#looking === null || lanes.some((lane) => !lane.isEmpty)) return;
    clearInterval(this.#looking);
    this.#looking = null;
  }

  #hasRoom({ window }: Lane): boolean {
    if (window.hasRoom) return true;
    this.#writes.giveUpUnmoved(performance.now() - awayMs);
    return window.hasRoom;
  }
}
