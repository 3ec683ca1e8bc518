/**
 * Sends a request to all workers and gathers replies until every partition is covered exactly once. An incomplete cover is
 * never returned. If a worker has died, partitions are moving or replies overlap, the workers are asked again. If workers hold
 * copies of shards, one worker of each group of partitions is asked instead of all.
 *
 * No answer of this front shows an older state than an earlier one: every shard must have applied the commits that the front
 * has received, and an answer waits until the front has received every commit that it shows.
 */
import { setTimeout } from 'node:timers/promises';
import { assert } from '../../lib/assert.ts';
import { SlotMap } from '../../lib/slot-map.ts';
import type { Progress } from '../../store/visibility/progress.ts';
import {
  encodeRequest,
  forGroup,
  formatGroup,
  partitionsOf,
  type ShardQuery,
} from '../protocol/shard-request.ts';
import { UnavailableError } from '../query-service.ts';
import type { FrontTransport } from '../transport/front-transport.ts';
import type { LiveWorker, MessageBody, Reply } from '../transport/messages.ts';
import { Attempt, type GatheredReply } from './attempt.ts';
import { GroupAttempt } from './group-attempt.ts';
import { WorkerHealth } from './worker-health.ts';
import type { GroupHolders, WorkerList } from './worker-list.ts';

const backOffFirstMs = 10;
const backOffMaxMs = 160;
/** If an answer takes this long, a worker may have died, and the list of workers is read more often. */
const suspicionMs = 200;

/** A request in progress. */
interface Gathering {
  /** From `encodeRequest`. */
  readonly body: MessageBody;
  readonly startedMs: number;
  /** On the clock of `performance.now()`. */
  readonly deadlineMs: number;
}

export class Scatter {
  #scatters = 0;
  #attempts = 0;
  readonly #gatherings = new SlotMap<Gathering>();
  readonly #attemptsNow = new SlotMap<Attempt>();
  readonly #groupAttemptsNow = new SlotMap<GroupAttempt>();
  readonly #health = new WorkerHealth(() => this.#groupAttemptsNow.each((attempt) => attempt.passOver()));
  #watch: NodeJS.Timeout | null = null;

  constructor(
    private readonly transport: FrontTransport,
    private readonly workers: WorkerList,
    private readonly progress: Progress,
    private readonly partitionCount: number,
  ) {
    // A partition may have moved away from a worker that has not answered, and only its new owner can answer for it.
    workers.onChange(() => {
      this.#attemptsNow.each((attempt) => attempt.end(null));
      this.#health.follow(workers.workers);
      this.#groupAttemptsNow.each((attempt) => attempt.passOver());
    });
  }

  close(): void {
    this.#health.close();
  }

  /** Number of requests so far. */
  get scatters(): number {
    return this.#scatters;
  }

  /** Number of repeated attempts. */
  get retries(): number {
    return this.#attempts - this.#scatters;
  }

  /**
   * @param deadlineMs on the clock of `performance.now()`
   * @returns replies that together cover every partition exactly once
   * @throws UnavailableError if there was no complete and current cover in time
   */
  async gather(queries: readonly ShardQuery[], deadlineMs: number): Promise<GatheredReply[]> {
    this.#scatters += 1;
    this.#watch ??= setInterval(() => this.#suspect(), suspicionMs);
    const needs = this.progress.commits;
    const gathering = { body: encodeRequest({ needs, queries }), startedMs: performance.now(), deadlineMs };
    const place = this.#gatherings.add(gathering);
    try {
      const cover = (await this.#attempt(gathering)) ?? (await this.#coverLater(gathering));
      const covered = cover.reduce((sum, { covers }) => sum + covers.size, 0);
      assert(covered === this.partitionCount, 'a cover has every partition once');
      for (const { applied } of cover) {
        if (hasNewCommits(applied, needs)) await this.#untilReceived(applied, deadlineMs);
      }
      return cover;
    } finally {
      this.#gatherings.remove(place);
    }
  }

  /** Repeats the attempt until the cover is complete. @throws UnavailableError */
  async #coverLater(gathering: Gathering): Promise<GatheredReply[]> {
    for (let backOffMs = backOffFirstMs; ; backOffMs = Math.min(backOffMs * 2, backOffMaxMs)) {
      if (performance.now() + backOffMs >= gathering.deadlineMs)
        throw new UnavailableError('partitions do not respond');
      await Promise.all([this.workers.refresh(), setTimeout(backOffMs)]);
      const cover = await this.#attempt(gathering);
      if (cover !== null) return cover;
    }
  }

  /** @returns null if the cover is not complete */
  #attempt(gathering: Gathering): Promise<GatheredReply[] | null> {
    this.#attempts += 1;
    const { holders } = this.workers;
    return new Promise((resolve) => {
      if (holders === null) this.#askAll(gathering, resolve);
      else this.#askGroups(gathering, holders, resolve);
    });
  }

  #askAll({ body, deadlineMs }: Gathering, onEnd: (cover: GatheredReply[] | null) => void): void {
    const { workers } = this.workers;
    const timeoutMs = Math.max(1, deadlineMs - performance.now());
    const attempt = new Attempt(workers.length, this.partitionCount, (cover) => {
      this.#attemptsNow.remove(place);
      onEnd(cover);
    });
    const place = this.#attemptsNow.add(attempt);
    for (const worker of workers) {
      this.#send(worker, body, timeoutMs, (reply) => attempt.take(worker.id, reply));
    }
    if (workers.length === 0) attempt.end(null);
  }

  #askGroups(
    { body, deadlineMs }: Gathering,
    holders: GroupHolders<LiveWorker>,
    onEnd: (cover: GatheredReply[] | null) => void,
  ): void {
    const of = holders.length;
    const attempt = new GroupAttempt({
      groups: of,
      holders: () => this.workers.holders,
      sizeOf: (index) => partitionsOf({ index, of }, this.partitionCount).length,
      health: this.#health,
      send: (worker, index, onReply) => {
        const timeoutMs = Math.max(1, deadlineMs - performance.now());
        const asked = forGroup(body, formatGroup({ index, of }));
        this.#send(worker, asked, timeoutMs, onReply);
      },
      onEnd: (cover) => {
        this.#groupAttemptsNow.remove(place);
        onEnd(cover);
      },
    });
    const place = this.#groupAttemptsNow.add(attempt);
    attempt.begin();
  }

  /** @param onEnd called once, with null if the worker cannot be asked */
  #send(
    worker: LiveWorker,
    body: MessageBody,
    timeoutMs: number,
    onEnd: (reply: Reply | null) => void,
  ): void {
    if (!this.transport.send(worker, body, timeoutMs, onEnd)) onEnd(null);
  }

  /** Waits until the front has received commits. @throws UnavailableError on a timeout */
  async #untilReceived(applied: ReadonlyMap<number, number>, deadlineMs: number): Promise<void> {
    if (await this.progress.waitUntilCommits(applied, deadlineMs - performance.now())) return;
    throw new UnavailableError('what the workers have is not announced yet');
  }

  #suspect(): void {
    if (this.#gatherings.size === 0) {
      if (this.#watch !== null) clearInterval(this.#watch);
      this.#watch = null;
      return;
    }
    let oldestMs = Number.POSITIVE_INFINITY;
    this.#gatherings.each(({ startedMs }) => {
      oldestMs = Math.min(oldestMs, startedMs);
    });
    if (performance.now() - oldestMs >= suspicionMs) void this.workers.refresh();
  }
}

/** True if a reply has commits that this front had not received when it sent the request. */
function hasNewCommits(applied: ReadonlyMap<number, number>, needs: readonly number[]): boolean {
  for (const [partition, commit] of applied) if (commit > (needs[partition] ?? 0)) return true;
  return false;
}
