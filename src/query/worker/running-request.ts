import { assert } from '../../lib/assert.ts';
import type { MessageBody } from '../../store/streams/message-body.ts';
import { encodeReply, type HeldState, nothingHeld, type ShardReply } from '../protocol/shard-reply.ts';
import { asksFurther, type ShardRequest } from '../protocol/shard-request.ts';
import type { InboundRequest } from '../transport/transport.ts';
import { type AnswerOptions, answerQuestion } from './answer-question.ts';
import { Evaluation } from './evaluation.ts';
import type { LiveShard } from './live-shard.ts';
import type { ShardState } from './shard-state.ts';

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

/** A request on its way through a worker. Its work so far can be dropped; then it begins again. */
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

  /** @param nowMs on the clock of `performance.now()` @returns whether nobody waits for it any more */
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
    const answerers = queries.map(
      ({ question, ...index }, at) =>
        () =>
          answerQuestion(question, index, shards[at]?.shard ?? null, { ...this.terms, isWhole }),
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

  letGo(): void {
    this.#work?.evaluation.abandon();
    this.#work = null;
    this.#unpin?.();
    this.#unpin = null;
  }
}
