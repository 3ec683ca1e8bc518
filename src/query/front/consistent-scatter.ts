import type { Progress } from '../../store/visibility/progress.ts';
import type { ShardQuery } from '../protocol/shard-request.ts';
import { UnavailableError } from '../query-service.ts';
import type { GatheredReply } from './attempt.ts';
import type { Scatter } from './scatter.ts';

/**
 * Asks for one request of a client: of two answers of this front the later is never of the older state. What the front
 * has seen committed before, every shard must have, and an answer waits until the front has heard of all that it shows.
 */
export class ConsistentScatter {
  readonly #needs: readonly number[];

  constructor(
    private readonly scatter: Scatter,
    private readonly progress: Progress,
    /** On the clock of `performance.now()`. */
    private readonly deadlineMs: number,
  ) {
    this.#needs = progress.commits;
  }

  get isOver(): boolean {
    return performance.now() > this.deadlineMs;
  }

  /**
   * @returns what each worker of a complete cover says, in the order of the queries
   * @throws UnavailableError when nothing complete or current came in time
   */
  async gather(queries: readonly ShardQuery[]): Promise<GatheredReply[]> {
    const replies = await this.scatter.gather({ needs: this.#needs, queries }, this.deadlineMs);
    for (const { applied } of replies) if (this.#isNews(applied)) await this.#untilHeard(applied);
    return replies;
  }

  /** Whether there are commits that this front had not heard of when it asked. */
  #isNews(applied: ReadonlyMap<number, number>): boolean {
    for (const [partition, commit] of applied) if (commit > (this.#needs[partition] ?? 0)) return true;
    return false;
  }

  /** @throws UnavailableError when that takes too long */
  async #untilHeard(applied: ReadonlyMap<number, number>): Promise<void> {
    if (await this.progress.waitUntilCommits(applied, this.deadlineMs - performance.now())) return;
    throw new UnavailableError('what the workers have is not announced yet');
  }
}
