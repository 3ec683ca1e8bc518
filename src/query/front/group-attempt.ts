/**
 * One attempt to get a reply for every group of partitions from one of the workers that hold it. If a worker does not answer,
 * because it is gone, silent or not up to date, another one is asked immediately.
 */

import { decodeReply } from '../protocol/shard-reply.ts';
import type { LiveWorker, Reply } from '../transport/messages.ts';
import { type GatheredReply, gatheredReply } from './attempt.ts';
import type { WorkerHealth } from './worker-health.ts';
import type { GroupHolders } from './worker-list.ts';

export interface GroupAttemptOptions {
  /** Number of groups of the division. */
  readonly groups: number;
  /** The currently known holders of each group. The division may have changed since the attempt began. */
  holders(): GroupHolders<LiveWorker> | null;
  /** Number of partitions of a group. */
  sizeOf(groupIndex: number): number;
  readonly health: WorkerHealth;
  /** @param onReply called once, with null if the worker cannot be asked */
  send(worker: LiveWorker, groupIndex: number, onReply: (reply: Reply | null) => void): void;
  /** Called once, with null when this attempt can no longer cover all partitions. */
  onEnd(cover: GatheredReply[] | null): void;
}

interface AskedGroup {
  readonly index: number;
  /** Ids of the workers that were asked, and of those that have not replied. */
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

  /** Asks other workers instead of those that are silent or have left. */
  passOver(): void {
    for (const group of this.#groups) {
      if (this.#isOver) return;
      if (group.reply === null) this.#passOver(group);
    }
  }

  #passOver(group: AskedGroup): void {
    const { health } = this.options;
    const { outstanding, asked } = group;
    const isAway = (id: string) => health.isSilent(id) || health.hasLeft(id);
    if (![...outstanding].every(isAway)) return;
    const answering = this.#holdersOf(group)?.filter(({ id }) => !isAway(id));
    if (answering?.some(({ id }) => !asked.has(id))) this.#askNext(group);
    // All responsive holders have already failed to answer, or the division has changed. A new attempt is better than waiting
    // for workers that are away.
    else if (answering?.length !== 0 || [...outstanding].every((id) => health.hasLeft(id))) this.end(null);
  }

  end(cover: GatheredReply[] | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.options.onEnd(cover);
  }

  #askNext(group: AskedGroup): void {
    const { health, send } = this.options;
    const { asked, outstanding, index } = group;
    const holders = this.#holdersOf(group) ?? [];
    const worker = health.choose(asked.size === 0 ? holders : holders.filter(({ id }) => !asked.has(id)));
    if (worker === null) {
      if (outstanding.size === 0) this.end(null);
      return;
    }
    asked.add(worker.id);
    outstanding.add(worker.id);
    health.asked(worker.id);
    send(worker, index, (reply) => {
      const isReply = reply?.kind === 'answer';
      health.ended(worker.id, { isReply, isGone: reply?.kind === 'lost' && reply.reason === 'gone' });
      this.#take(group, worker.id, isReply ? reply : null);
    });
  }

  /** Null if the division has changed. */
  #holdersOf({ index }: AskedGroup): readonly LiveWorker[] | null {
    const holders = this.options.holders();
    return holders?.length === this.#groups.length ? (holders[index] ?? []) : null;
  }

  #take(group: AskedGroup, workerId: string, reply: Extract<Reply, { kind: 'answer' }> | null): void {
    group.outstanding.delete(workerId);
    if (this.#isOver || group.reply !== null) return;
    const decoded = reply === null ? null : decodeReply(reply.body);
    const isComplete = decoded?.held.covers.size === this.options.sizeOf(group.index);
    if (decoded === null || decoded.answers === null || !isComplete) {
      this.#askNext(group);
      return;
    }
    group.reply = gatheredReply(workerId, decoded.held, decoded.answers);
    const cover = this.#groups.flatMap((one) => one.reply ?? []);
    if (cover.length === this.#groups.length) this.end(cover);
  }
}
