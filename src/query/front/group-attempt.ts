/**
 * One try to have every group of partitions answered for by one of the workers that hold it. What one of them does not answer,
 * because it is gone, silent or not so far, another one is asked immediately.
 */

import { decodeReply } from '../protocol/shard-reply.ts';
import type { LiveWorker, Reply } from '../transport/messages.ts';
import { type GatheredReply, gatheredReply } from './attempt.ts';
import type { WorkerHealth } from './worker-health.ts';
import type { GroupHolders } from './worker-list.ts';

export interface GroupAttemptOptions {
  /** How many groups all partitions are divided into. */
  readonly groups: number;
  /** The workers that hold each group as it is known now; the division can be another one than the try began with. */
  holders(): GroupHolders<LiveWorker> | null;
  /** Number of partitions of a group. */
  sizeOf(groupIndex: number): number;
  readonly standing: WorkerHealth;
  /** @param onReply called once, with null for a worker that cannot be asked */
  send(worker: LiveWorker, groupIndex: number, onReply: (reply: Reply | null) => void): void;
  /** Called once, with null when this attempt can no longer cover all partitions. */
  onEnd(cover: GatheredReply[] | null): void;
}

interface AskedGroup {
  readonly index: number;
  /** Ids of the workers that were asked, and of those of them that have not replied. */
  readonly asked: Set<string>;
  readonly outstanding: Set<string>;
  reply: GatheredReply | null;
}

export class GroupAttempt {
  readonly #groups: readonly AskedGroup[];
  #isOver = false;

  constructor(private readonly options: GroupAttemptOptions) {
    this.#groups = Array.from({ length: options.groups }, (_, index) => {
      return { index, asked: new Set(), outstanding: new Set(), reply: null };
    });
  }

  begin(): void {
    for (const group of this.#groups) if (!this.#isOver) this.#askNext(group);
  }

  /** Asks others in place of workers that are silent or have left. */
  passOver(): void {
    for (const group of this.#groups) {
      if (this.#isOver) return;
      if (group.reply === null) this.#passOver(group);
    }
  }

  #passOver(group: AskedGroup): void {
    const { standing } = this.options;
    const { outstanding, asked } = group;
    const isAway = (id: string) => standing.isSilent(id) || standing.hasLeft(id);
    if (![...outstanding].every(isAway)) return;
    const answering = this.#holdersOf(group)?.filter(({ id }) => !isAway(id));
    if (answering?.some(({ id }) => !asked.has(id))) this.#askNext(group);
    // Those that could not answer it a moment ago are asked in another try, rather than those that are away waited for. So are
    // those of other groups.
    else if (answering?.length !== 0 || [...outstanding].every((id) => standing.hasLeft(id))) this.end(null);
  }

  end(cover: GatheredReply[] | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.options.onEnd(cover);
  }

  #askNext(group: AskedGroup): void {
    const { standing, send } = this.options;
    const { asked, outstanding, index } = group;
    const holders = this.#holdersOf(group) ?? [];
    const worker = standing.choose(asked.size === 0 ? holders : holders.filter(({ id }) => !asked.has(id)));
    if (worker === null) {
      if (outstanding.size === 0) this.end(null);
      return;
    }
    asked.add(worker.id);
    outstanding.add(worker.id);
    standing.asked(worker.id);
    send(worker, index, (reply) => {
      const isReply = reply?.kind === 'answer';
      standing.ended(worker.id, { isReply, isGone: reply?.kind === 'lost' && reply.reason === 'gone' });
      this.#take(group, worker.id, isReply ? reply : null);
    });
  }

  /** Null when all partitions are divided into other groups by now. */
  #holdersOf({ index }: AskedGroup): readonly LiveWorker[] | null {
    const holders = this.options.holders();
    return holders?.length === this.#groups.length ? (holders[index] ?? []) : null;
  }

  #take(group: AskedGroup, workerId: string, reply: Extract<Reply, { kind: 'answer' }> | null): void {
    group.outstanding.delete(workerId);
    if (this.#isOver || group.reply !== null) return;
    const decoded = reply === null ? null : decodeReply(reply.body);
    const isWhole = decoded?.held.covers.size === this.options.sizeOf(group.index);
    if (decoded === null || decoded.answers === null || !isWhole) {
      this.#askNext(group);
      return;
    }
    group.reply = gatheredReply(workerId, decoded.held, decoded.answers);
    const cover = this.#groups.flatMap((one) => one.reply ?? []);
    if (cover.length === this.#groups.length) this.end(cover);
  }
}
