/** A request in a worker. Its queries are answered one after the other, in slices of time, within budgets. */
import { queryBudgetsPerRequest } from '../../contract/limits.ts';
import { assert } from '../../lib/assert.ts';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { current, type Detail, type Phase } from '../../search/phase.ts';
import {
  encodeRefusal,
  encodeReply,
  type HeldState,
  nothingHeld,
  type ShardReply,
} from '../protocol/shard-reply.ts';
import { asksFurther, type ShardRequest } from '../protocol/shard-request.ts';
import type { InboundRequest, MessageBody } from '../transport/messages.ts';
import { type AnswerOptions, answerQuestion } from './answer-question.ts';
import { Cost } from './cost.ts';
import type { LiveShard } from './live-shard.ts';
import type { ShardState } from './shard-state.ts';

/** A refusal is sent this long before the deadline of the front, because other requests may run before it is written. */
const replyMs = 200;

/** The work on a request so far. */
interface Work {
  readonly evaluation: Evaluation;
  /** State of the shards when the work began. */
  readonly held: HeldState;
  /** The shard of each query, in order; null if this worker has no items of the index. */
  readonly shards: readonly (LiveShard | null)[];
}

export interface RequestTerms extends Omit<AnswerOptions, 'hasAllPartitions'> {
  /** Budget of processor time of each query, in ms. */
  readonly queryCpuMs: number;
}

/** A request whose work can be dropped; it then starts again. */
export class RunningRequest {
  /** Since when it waits for the shards, on the clock of `performance.now()`; null if it has not waited. */
  waitsSinceMs: number | null = null;
  #work: Work | null = null;
  /** Unpins the shards, which must not change while the request pauses. */
  #unpin: (() => void) | null = null;

  constructor(
    private readonly inbound: InboundRequest,
    readonly request: ShardRequest,
    private readonly terms: RequestTerms,
  ) {}

  /** Alias of its tenant, for scheduling. */
  get tenant(): string {
    return this.request.queries[0]?.scope.tenant ?? '';
  }

  /** True for a further round of a query that was answered in part. */
  get asksFurther(): boolean {
    return asksFurther(this.request);
  }

  get isBegun(): boolean {
    return this.#work !== null;
  }

  /**
   * @param nowMs on the clock of `performance.now()`
   * @returns true if its deadline is over, or its front has disconnected
   */
  isGone(nowMs: number): boolean {
    return this.inbound.isGone || this.inbound.deadlineMs < nowMs;
  }

  /** Number of queries that exceeded their budget. */
  get refused(): number {
    return this.#work?.evaluation.refused ?? 0;
  }

  /** Begins the work on the current state of the shards. */
  begin({ hasAllPartitions, held, shardOf }: ShardState): void {
    const { queries } = this.request;
    const shards = queries.map(shardOf);
    const { secret } = this.terms;
    const answerers = queries.map(
      (query, at) => () => answerQuestion(query, shards[at]?.shard ?? null, { secret, hasAllPartitions }),
    );
    this.#work = { evaluation: new Evaluation(answerers, this.terms.queryCpuMs), held, shards };
  }

  /** Continues until a time on the clock of `performance.now()`. @returns all answers; null if there is more to do */
  run(nowMs: number, endsMs: number): readonly MessageBody[] | null {
    assert(this.#work !== null, 'a request runs once it has begun');
    return this.#work.evaluation.run(nowMs, endsMs, this.inbound.deadlineMs);
  }

  /** Replies without an answer, so that the front asks another worker. */
  refuse(): void {
    this.inbound.reply(nothingHeld);
  }

  reply(answers: ShardReply['answers']): void {
    assert(this.#work !== null, 'a request is answered once it has begun');
    this.inbound.reply(encodeReply({ held: this.#work.held, answers }));
  }

  /** Pauses the request. Its shards are pinned, so changes to them wait. */
  pause(): void {
    if (this.#unpin !== null) return;
    const unpins = [...new Set(this.#work?.shards)].map((live) => live?.pin());
    this.#unpin = () => {
      for (const unpin of unpins) unpin?.();
    };
  }

  release(): void {
    this.#work?.evaluation.abandon();
    this.#work = null;
    this.#unpin?.();
    this.#unpin = null;
  }
}

/**
 * Computes the answers to the queries of one request. Each query has a budget of processor time, and so have all of them
 * together. A query that exceeds its budget is refused, and the others continue.
 */
export class Evaluation {
  readonly #answers: MessageBody[] = [];
  /** The remaining steps of the current query; null before it has begun. */
  #left: Steps<MessageBody> | null = null;
  /** The cost of the current query; null before the first check of the clock. */
  #cost: Cost | null = null;
  /** Processor time of the current query in ms, and of those before it. */
  #spentMs = 0;
  #spentBeforeMs = 0;
  #phase: Phase = 'filters';
  #detail: Detail = null;
  #slices = 0;
  #refused = 0;
  /** When the time was last added to the cost, on the clock of `performance.now()`. */
  #checkedMs = 0;
  #endsMs = 0;

  /**
   * @param answerers of the queries, in order
   * @param budgetMs processor time of each query
   */
  constructor(
    private readonly answerers: readonly (() => Steps<MessageBody>)[],
    private readonly budgetMs: number,
  ) {}

  /** Number of queries that exceeded their budget. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Continues for a slice.
   * @param nowMs on the clock of `performance.now()`, as `endsMs` and `deadlineMs` are
   * @param deadlineMs deadline of the answers
   * @returns all answers; null if there is more to do
   */
  run(nowMs: number, endsMs: number, deadlineMs: number): readonly MessageBody[] | null {
    // Not called in the first slice, in which most requests end, because the call is slow.
    const usedBefore = this.#slices === 0 ? null : process.cpuUsage();
    this.#checkedMs = nowMs;
    this.#endsMs = endsMs;
    workBudget.clock = this.#checkClock;
    workBudget.units = 0;
    current.enter(this.#phase, this.#detail);
    let countedMs = this.#costMs;
    const spentMs = () =>
      (this.#costMs - countedMs) * shareOfTime(usedBefore, this.#checkedMs - nowMs, endsMs - nowMs);
    while (this.#answers.length < this.answerers.length) {
      this.#left ??= this.#begin();
      const { done, value: answer } = this.#left.next();
      const isLast = this.#answers.length + 1 === this.answerers.length;
      // The cost of the last answer is not needed.
      if (done && isLast) {
        this.#answers.push(answer);
        break;
      }
      this.#checkClock();
      if (done) {
        this.#spentMs += spentMs();
        countedMs = 0;
        this.#settle(answer);
        continue;
      }
      this.#slices += 1;
      this.#phase = current.phase;
      this.#detail = current.detail;
      this.#spentMs += spentMs();
      if (this.#spentMs < this.#leftMs && !this.#willMissDeadline(deadlineMs)) return null;
      this.#refuse();
      countedMs = 0;
    }
    return this.#answers;
  }

  /** Drops unfinished work. */
  abandon(): void {
    this.#left?.return(null);
    this.#left = null;
  }

  #begin(): Steps<MessageBody> {
    const begin = this.answerers[this.#answers.length];
    assert(begin !== undefined, 'a query is left to be answered');
    return begin();
  }

  /** Adds the time since the last check to the cost of the current phase. @returns whether the slice is over */
  readonly #checkClock = (): boolean => {
    const nowMs = performance.now();
    this.#cost ??= new Cost();
    this.#cost.add(current.phase, current.detail, nowMs - this.#checkedMs);
    this.#checkedMs = nowMs;
    return nowMs >= this.#endsMs;
  };

  get #costMs(): number {
    return this.#cost?.ms ?? 0;
  }

  /** Processor time of all queries of the request, in ms. */
  get #requestMs(): number {
    return this.#spentBeforeMs + this.#spentMs;
  }

  get #leftMs(): number {
    return Math.min(this.budgetMs, queryBudgetsPerRequest * this.budgetMs - this.#spentBeforeMs);
  }

  /**
   * On a busy machine the deadline of an expensive query may come before its budget is used up. The client would not learn
   * about the cost, and a retry would be as expensive. So such a query is refused in time.
   */
  #willMissDeadline(deadlineMs: number): boolean {
    return this.#checkedMs > deadlineMs - replyMs && this.#requestMs >= this.budgetMs / 2;
  }

  #refuse(): void {
    const isRequestBudget = this.#leftMs < this.budgetMs || this.#spentBeforeMs > this.#spentMs;
    const requestMs = Math.min(queryBudgetsPerRequest * this.budgetMs, Math.ceil(this.#requestMs));
    this.abandon();
    this.#refused += 1;
    this.#settle(
      encodeRefusal(
        isRequestBudget
          ? `the queries of this request were stopped after ${requestMs} ms of processor time in a worker; send them in several requests`
          : (this.#cost ?? new Cost()).explain(Math.min(this.budgetMs, Math.ceil(this.#spentMs))),
      ),
    );
  }

  #settle(answer: MessageBody): void {
    this.#answers.push(answer);
    this.#left = null;
    this.#spentBeforeMs += this.#spentMs;
    this.#spentMs = 0;
    this.#cost = null;
    this.#phase = 'filters';
    this.#detail = null;
  }
}

/**
 * Share of the passed time in which this process was running, 0 to 1.
 * @param before null if unknown: then it was running for the length of a slice, because on a free core a slice hardly takes longer
 */
function shareOfTime(before: NodeJS.CpuUsage | null, passedMs: number, sliceMs: number): number {
  if (passedMs <= 0) return 1;
  if (before === null) return Math.min(1, sliceMs / passedMs);
  const { user, system } = process.cpuUsage(before);
  return Math.min(1, (user + system) / 1000 / passedMs);
}
