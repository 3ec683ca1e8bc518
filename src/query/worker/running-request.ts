/** A request on its way through a worker. Its queries are answered one after the other, in slices of time, within budgets. */
import { queryBudgetsPerRequest } from '../../contract/limits.ts';
import { assert } from '../../lib/assert.ts';
import { type Resumable, Suspended, workBudget } from '../../lib/cooperative-yield.ts';
import { current, type Detail, type Phase } from '../../search/phase.ts';
import { encodeRefusal } from '../protocol/refusal.ts';
import { encodeReply, type HeldState, nothingHeld, type ShardReply } from '../protocol/shard-reply.ts';
import { asksFurther, type ShardRequest } from '../protocol/shard-request.ts';
import type { InboundRequest, MessageBody } from '../transport/messages.ts';
import { type AnswerOptions, answerQuestion } from './answer-question.ts';
import { Cost } from './cost.ts';
import type { LiveShard } from './live-shard.ts';
import type { ShardState } from './shard-state.ts';

/** A refusal leaves this long before the front gives up, because others have their turns before it is written. */
const replyMs = 200;

/** The work on a request so far. */
interface Work {
  readonly evaluation: Evaluation;
  /** State of the shards when the work began, which the answers show. */
  readonly held: HeldState;
  /** The shard of each query, in their order; null: no item is here. */
  readonly shards: readonly (LiveShard | null)[];
}

export interface RequestTerms extends Omit<AnswerOptions, 'isWhole'> {
  /** Processor time of each query. */
  readonly queryCpuMs: number;
}

/** The work on it so far can be dropped; then it begins again. */
export class RunningRequest {
  /** Since when the shards cannot answer it; null: it has not waited for them. On the clock of `performance.now()`. */
  waitsSinceMs: number | null = null;
  #work: Work | null = null;
  /** Unpins the shards, which must not change while the request pauses. */
  #unpin: (() => void) | null = null;

  constructor(
    private readonly inbound: InboundRequest,
    readonly request: ShardRequest,
    private readonly terms: RequestTerms,
  ) {}

  /** Alias of the tenant whose turn it takes. */
  get tenant(): string {
    return this.request.queries[0]?.scope.tenant ?? '';
  }

  /** True when workers have done a part of the work on its query before. */
  get asksFurther(): boolean {
    return asksFurther(this.request);
  }

  get isBegun(): boolean {
    return this.#work !== null;
  }

  /** @param nowMs on the clock of `performance.now()` @returns true when its deadline is over, or its front has disconnected */
  isGone(nowMs: number): boolean {
    return this.inbound.isGone || this.inbound.deadlineMs < nowMs;
  }

  /** Queries that took more than their budget. */
  get refused(): number {
    return this.#work?.evaluation.refused ?? 0;
  }

  /** Begins the work. Coverage, state of the shards and answers are those of this call. */
  begin({ isWhole, held, shardOf }: ShardState): void {
    const { queries } = this.request;
    const shards = queries.map(shardOf);
    const { secret } = this.terms;
    const answerers = queries.map(
      (query, at) => () => answerQuestion(query, shards[at]?.shard ?? null, { secret, isWhole }),
    );
    this.#work = { evaluation: new Evaluation(answerers, this.terms.queryCpuMs), held, shards };
  }

  /** Goes on until a time on the clock of `performance.now()`. @returns all answers; null when there is more to do */
  run(nowMs: number, endsMs: number): readonly MessageBody[] | null {
    assert(this.#work !== null, 'a request runs once it has begun');
    return this.#work.evaluation.run(nowMs, endsMs, this.inbound.deadlineMs);
  }

  /** Leaves it to another worker. */
  refuse(): void {
    this.inbound.reply(nothingHeld);
  }

  reply(answers: ShardReply['answers']): void {
    assert(this.#work !== null, 'a request is answered once it has begun');
    this.inbound.reply(encodeReply({ held: this.#work.held, answers }));
  }

  /** Pauses the request. Its shards stay as they are, and changes to them wait. */
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
 * The answers to the queries of one request. Each query has a budget of processor time, and so have all of them together. A
 * query that takes more is refused, and the others continue.
 */
export class Evaluation {
  readonly #answers: MessageBody[] = [];
  /** The steps that are left of the query under way; null before it began. */
  #left: Suspended<MessageBody> | null = null;
  /** The cost of the query under way; null while it has not taken long. */
  #cost: Cost | null = null;
  /** Processor time of the query under way, and of those before it. */
  #spentMs = 0;
  #spentBeforeMs = 0;
  #phase: Phase = 'filters';
  #detail: Detail = null;
  #slices = 0;
  #refused = 0;
  /** When the time was last added to the cost, on the clock of `performance.now()`. */
  #lookedMs = 0;
  #endsMs = 0;

  /** @param answerers of the queries, in their order @param budgetMs processor time that each query has */
  constructor(
    private readonly answerers: readonly (() => Resumable<MessageBody>)[],
    private readonly budgetMs: number,
  ) {}

  /** Queries that took more than their budget. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Goes on for a slice.
   * @param nowMs on the clock of `performance.now()`, as `endsMs` and `deadlineMs` are
   * @param deadlineMs deadline of the answers
   * @returns all answers; null when there is more to do
   */
  run(nowMs: number, endsMs: number, deadlineMs: number): readonly MessageBody[] | null {
    // Most requests end within their first slice, and this call would make it longer.
    const usedBefore = this.#slices === 0 ? null : process.cpuUsage();
    this.#lookedMs = nowMs;
    this.#endsMs = endsMs;
    workBudget.clock = this.#look;
    workBudget.units = 0;
    current.enter(this.#phase, this.#detail);
    let countedMs = this.#costMs;
    while (this.#answers.length < this.answerers.length) {
      const answer = this.#goOn();
      const isLast = this.#answers.length + 1 === this.answerers.length;
      // The last answer is not counted, because nothing comes after it.
      if (!(answer instanceof Suspended) && isLast) {
        this.#answers.push(answer);
        break;
      }
      this.#look();
      if (!(answer instanceof Suspended)) {
        this.#spentMs += this.#costMs - countedMs;
        countedMs = 0;
        this.#settle(answer);
        continue;
      }
      this.#slices += 1;
      this.#phase = current.phase;
      this.#detail = current.detail;
      this.#spentMs += (this.#costMs - countedMs) * shareOfTime(usedBefore, this.#lookedMs - nowMs);
      if (this.#spentMs < this.#leftMs && !this.#isInVain(deadlineMs)) return null;
      this.#refuse();
      countedMs = 0;
    }
    return this.#answers;
  }

  /** Drops what was done so far. */
  abandon(): void {
    this.#left?.steps.return(null);
    this.#left = null;
  }

  /** The next answer, or what is left of it. */
  #goOn(): Resumable<MessageBody> {
    if (this.#left === null) {
      const begin = this.answerers[this.#answers.length];
      assert(begin !== undefined, 'a query is left to be answered');
      const answer = begin();
      if (!(answer instanceof Suspended)) return answer;
      // Unfinished work may still end within this slice.
      this.#left = answer;
    }
    const { done, value } = this.#left.steps.next();
    return done ? value : this.#left;
  }

  /** Adds the time since the last look to the cost of the current phase. @returns whether the slice is over */
  readonly #look = (): boolean => {
    const nowMs = performance.now();
    this.#cost ??= new Cost();
    this.#cost.add(current.phase, current.detail, nowMs - this.#lookedMs);
    this.#lookedMs = nowMs;
    return nowMs >= this.#endsMs;
  };

  get #costMs(): number {
    return this.#cost?.ms ?? 0;
  }

  /** Processor time of all queries of the request. */
  get #requestMs(): number {
    return this.#spentBeforeMs + this.#spentMs;
  }

  get #leftMs(): number {
    return Math.min(this.budgetMs, queryBudgetsPerRequest * this.budgetMs - this.#spentBeforeMs);
  }

  /**
   * On a busy machine the front of a costly query may give up before the query reaches its budget. The client would not
   * learn what the query cost, and a second try would cost as much again. So such a query is refused in time.
   */
  #isInVain(deadlineMs: number): boolean {
    return this.#lookedMs > deadlineMs - replyMs && this.#requestMs >= this.budgetMs / 2;
  }

  #refuse(): void {
    const isRequests = this.#leftMs < this.budgetMs || this.#spentBeforeMs > this.#spentMs;
    const requestMs = Math.min(queryBudgetsPerRequest * this.budgetMs, Math.ceil(this.#requestMs));
    this.abandon();
    this.#refused += 1;
    this.#settle(
      encodeRefusal(
        isRequests
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

/** Share of the time that passed in which this process had a processor, 0 to 1. @param before null: not known */
function shareOfTime(before: NodeJS.CpuUsage | null, passedMs: number): number {
  if (before === null || passedMs <= 0) return 1;
  const { user, system } = process.cpuUsage(before);
  return Math.min(1, (user + system) / 1000 / passedMs);
}
