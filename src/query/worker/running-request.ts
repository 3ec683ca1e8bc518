import { assert } from '../../lib/assert.ts';
import type { MessageBody } from '../../store/streams/message-body.ts';
import { encodeReply, type ShardReply, type ShardSnapshot } from '../protocol/shard-reply.ts';
import type { ShardRequest } from '../protocol/shard-request.ts';
import type { InboundRequest } from '../transport/transport.ts';
import { type AnswerOptions, answerQuestion } from './answer-question.ts';
import { Evaluation } from './evaluation.ts';
import type { LiveShard } from './live-shard.ts';
import type { ShardState } from './shard-state.ts';

/** What was done so far. */
interface Work {
  readonly evaluation: Evaluation;
  /** When it began: what the answers are of. */
  readonly snapshot: ShardSnapshot;
  /** In the order of the queries, as they were then; null: no item is here. */
  readonly shards: readonly (LiveShard | null)[];
}

export interface RequestTerms extends Omit<AnswerOptions, 'isWhole'> {
  /** Processor time of each query. */
  readonly queryCpuMs: number;
}

/** A request on its way through a worker. What it did so far can be let go of; then it begins again. */
export class RunningRequest {
  #work: Work | null = null;
  /** Lets go of the shards that must not change while it pauses. */
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

  /** Coverage, state of the shards and answers are of one moment: this one. */
  begin({ isWhole, snapshot, shardOf }: ShardState): void {
    const { queries } = this.request;
    const shards = queries.map(shardOf);
    const answerers = queries.map(
      ({ question, ...index }, at) =>
        () =>
          answerQuestion(question, index, shards[at]?.shard ?? null, { ...this.terms, isWhole }),
    );
    this.#work = { evaluation: new Evaluation(answerers, this.terms.queryCpuMs), snapshot, shards };
  }

  /** Goes on until a time on the clock of `performance.now()`. @returns all answers; null when there is more to do */
  run(nowMs: number, endsMs: number): readonly MessageBody[] | null {
    assert(this.#work !== null, 'a request runs once it has begun');
    return this.#work.evaluation.run(nowMs, endsMs, this.inbound.deadlineMs);
  }

  reply(answers: ShardReply['answers']): void {
    assert(this.#work !== null, 'a request is answered once it has begun');
    this.inbound.reply(encodeReply({ snapshot: this.#work.snapshot, answers }));
  }

  /** Until it goes on its shards stay as they are; changes wait. */
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
