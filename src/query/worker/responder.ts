/** A worker's answers to the queries of the fronts. */
import { setImmediate } from 'node:timers/promises';
import { queryCpuMs as queryCpuMsDefault } from '../../contract/limits.ts';
import { facetGroupsPerShardMax } from '../../search/facets/facet.ts';
import { chain, type Maybe, mapInTurn, pace } from '../../search/pace.ts';
import type { Shard } from '../../search/shard/shard.ts';
import type { Store } from '../../store/store.ts';
import type { MessageBody } from '../../store/streams/message-body.ts';
import { RequestReceiver } from '../../store/streams/messages.ts';
import type { Coverage } from '../front/coverage.ts';
import {
  emptyAnswer,
  encodeAnswer,
  encodeCounts,
  encodeResult,
  encodeTexts,
  NeedsReader,
  packMoment,
} from '../protocol/wire.ts';
import { LinkServer } from '../transport/link-server.ts';
import { Evaluation } from './evaluation.ts';
import { type InboundAsks, StreamedAsks } from './inbound-asks.ts';
import { type KnownAsk, KnownAsks } from './known-asks.ts';
import type { LiveShard } from './live-shard.ts';
import { QueryTurns } from './query-turns.ts';
import type { ShardSet } from './shard-set.ts';

/** Leases, changes and other tenants get a turn after this long. */
const sliceMs = 5;
/** Renewed leases tell nobody, so what waits is looked at now and then. */
const recheckMs = 100;

export interface ResponderOptions {
  readonly store: Store;
  /** Process id of the worker, as in its heartbeat. */
  readonly workerId: string;
  readonly shards: ShardSet;
  /** Partitions that are loaded and whose lease holds, with their epochs. */
  covered(): Coverage;
  /** Processor time that a query has; absent: as in the contract. */
  readonly queryCpuMs?: number;
  /** Called for a query that broke; a bug of ours. */
  onTrouble(error: unknown): void;
}

/** A request on its way through the worker. */
interface Run {
  readonly tenant: string;
  readonly inbound: InboundAsks;
  readonly asks: readonly KnownAsk[];
  /** What was done so far; null before it began. */
  work: Work | null;
  /** Lets go of the shards that must not change while it pauses. */
  unpin: (() => void) | null;
}

interface Work {
  readonly evaluation: Evaluation<KnownAsk>;
  /** When it began: what the answers are of. */
  readonly moment: string;
  /** Those that are asked, in the order of the asks, as they were then; null: no item is here. */
  readonly shards: readonly (LiveShard | null)[];
}

/** What the worker is while nothing waits. */
interface WorkerState {
  readonly coverage: Coverage;
  readonly isSettled: boolean;
  /** It has all partitions. */
  readonly isWhole: boolean;
  /** From `packMoment`. */
  readonly moment: string;
}

export interface ResponderFigures {
  /** Requests answered. */
  readonly answered: number;
  /** Queries that took more than their budget of processor time. */
  readonly refused: number;
  /** Slices in which requests did not end. */
  readonly pauses: number;
  /** Requests that nobody waited for any more before they were answered. */
  readonly dropped: number;
  /** Time spent on all of them. */
  readonly busyMs: number;
}

export class Responder {
  readonly #receiver: RequestReceiver;
  readonly #links: LinkServer;
  readonly #asks: KnownAsks;
  readonly #needsReader = new NeedsReader();
  /** Requests that cannot be answered yet: a partition is loading, or behind what the front has seen of it. */
  #waiting: Run[] = [];
  /** Requests to answer. */
  readonly #turns = new QueryTurns<Run>();
  #running = false;
  #isRechecking = false;
  #timer: NodeJS.Timeout | null = null;
  #answered = 0;
  #refused = 0;
  #pauses = 0;
  #dropped = 0;
  #busyMs = 0;
  /** Of the last request that was looked at, and what came of it; most of a moment's requests have the same. */
  #needs: readonly number[] | null = null;
  #isNeedsReached = false;

  constructor(private readonly options: ResponderOptions) {
    const { store, workerId, shards } = options;
    this.#receiver = new RequestReceiver(store.messages, workerId, (inbound) =>
      this.#take(new StreamedAsks(inbound, this.#needsReader)),
    );
    this.#links = new LinkServer((inbound) => this.#take(inbound));
    this.#asks = new KnownAsks(store.secret);
    shards.onProgress(() => this.#recheckSoon());
  }

  /** Resolves once queries can arrive. Before the first heartbeat, so that no front asks in vain. */
  async start(): Promise<void> {
    await Promise.all([this.#receiver.start(), this.#links.start()]);
    this.#timer = setInterval(() => this.#recheck(), recheckMs);
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    for (const run of this.#turns.takeAllLong()) this.#letGo(run);
    await Promise.all([this.#receiver.close(), this.#links.close()]);
  }

  /** Where fronts of this host can ask without Redis, for the heartbeat; null: nowhere. */
  get link(): string | null {
    return this.#links.path;
  }

  get figures(): ResponderFigures {
    return {
      answered: this.#answered,
      refused: this.#refused,
      pauses: this.#pauses,
      dropped: this.#dropped + this.#receiver.stale,
      busyMs: this.#busyMs,
    };
  }

  /** Not at once: who owns a loaded partition learns of it in the same turn of the event loop. */
  #recheckSoon(): void {
    if (this.#waiting.length === 0 || this.#isRechecking) return;
    this.#isRechecking = true;
    globalThis.setImmediate(() => {
      this.#isRechecking = false;
      this.#recheck();
    });
  }

  #recheck(): void {
    const nowMs = performance.now();
    this.#turns.dropParked((run) => this.#isGone(run, nowMs));
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    const state = this.#state();
    for (const run of waiting) {
      if (this.#isGone(run, nowMs)) continue;
      if (this.#canAnswer(run, state)) this.#runSoon(run);
      else this.#waiting.push(run);
    }
  }

  /** Counts it as well. */
  #isGone({ inbound }: Run, nowMs: number): boolean {
    const isGone = inbound.isGone || inbound.deadlineMs < nowMs;
    if (isGone) this.#dropped += 1;
    return isGone;
  }

  /** What was found of the same needs holds within one state. */
  #canAnswer({ inbound, asks }: Run, { isSettled, coverage }: WorkerState): boolean {
    if (!isSettled) return false;
    const { needs } = inbound.request;
    if (needs !== this.#needs) {
      this.#needs = needs;
      this.#isNeedsReached = this.#isReached(needs, coverage);
    }
    return this.#isNeedsReached && this.#areCurrent(asks);
  }

  #areCurrent(asks: readonly KnownAsk[]): boolean {
    const { shards } = this.options;
    for (const { shardName } of asks) if (shards.live(shardName)?.isCurrent === false) return false;
    return true;
  }

  /** True when every partition of ours has applied what the front has seen of it. */
  #isReached(needs: readonly number[], coverage: Coverage): boolean {
    for (const partition of coverage.keys()) {
      const applied = this.options.shards.applied(partition);
      if (applied !== null && applied < (needs[partition] ?? 0)) return false;
    }
    return true;
  }

  #take(inbound: InboundAsks): void {
    try {
      const asks = this.#asks.read(inbound.request.asks);
      this.#runSoon({ tenant: asks[0]?.tenant ?? '', inbound, asks, work: null, unpin: null });
    } catch (error) {
      this.options.onTrouble(error);
      inbound.reply(this.#state().moment, null);
    }
  }

  #runSoon(run: Run): void {
    this.#turns.add(run);
    if (this.#running) return;
    this.#running = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    // What has just come in one entry runs together.
    await Promise.resolve();
    for (;;) {
      this.#answerFresh();
      if (this.#turns.isEmpty) break;
      await setImmediate();
      if (!this.#turns.hasLong) continue;
      this.#goOnWithLong();
      await setImmediate();
    }
    this.#running = false;
  }

  /** What the worker is, for what is computed before anything else happens. */
  #state(): WorkerState {
    const { shards, store } = this.options;
    const coverage = this.options.covered();
    this.#needs = null;
    return {
      coverage,
      isSettled: this.#isSettled(coverage),
      isWhole: coverage.size === store.partitions.count,
      moment: packMoment(coverage, (partition) => shards.applied(partition) ?? 0, shards.followed),
    };
  }

  /** For a slice, requests that have not begun: each gets a slice of its own to end in. */
  #answerFresh(): void {
    const startedMs = performance.now();
    const state = this.#state();
    let nowMs = startedMs;
    while (nowMs < startedMs + sliceMs) {
      const run = this.#turns.takeFresh();
      if (run === null) break;
      this.#begin(run, state, nowMs);
      nowMs = performance.now();
    }
    this.#busyMs += nowMs - startedMs;
  }

  /** For a slice, one of the requests that take longer. */
  #goOnWithLong(): void {
    const startedMs = performance.now();
    const run = this.#turns.takeLong();
    if (run === null) return;
    if (run.work === null) this.#begin(run, this.#state(), startedMs);
    else if (this.#isGone(run, startedMs)) this.#end(run);
    else this.#goOn(run, run.work, startedMs);
    this.#busyMs += performance.now() - startedMs;
  }

  /** Coverage, state of the shards and answers are of one moment: this one. */
  #begin(run: Run, state: WorkerState, nowMs: number): void {
    if (this.#isGone(run, nowMs)) return;
    if (!this.#canAnswer(run, state)) {
      this.#waiting.push(run);
      return;
    }
    const { queryCpuMs = queryCpuMsDefault } = this.options;
    const { asks } = run;
    const { isWhole, moment } = state;
    const shards = asks.map(({ shardName }) => this.options.shards.live(shardName));
    const answer = (known: KnownAsk, at: number) => answerOne(known, shards[at]?.shard ?? null, isWhole);
    run.work = { evaluation: new Evaluation(asks, answer, queryCpuMs), moment, shards };
    this.#goOn(run, run.work, nowMs);
  }

  #goOn(run: Run, work: Work, nowMs: number): void {
    const { evaluation, moment } = work;
    try {
      const answers = evaluation.run(nowMs, nowMs + sliceMs, run.inbound.deadlineMs);
      if (answers === null) {
        this.#pause(run, work);
        return;
      }
      run.inbound.reply(moment, answers);
      this.#answered += 1;
      this.#refused += evaluation.refused;
    } catch (error) {
      // For a moment after a change of the configuration a front may ask for fields of a type they do not have here.
      this.options.onTrouble(error);
      run.inbound.reply(moment, null);
    }
    this.#end(run);
  }

  /** Until it goes on its shards stay as they are; changes wait. */
  #pause(run: Run, { shards }: Work): void {
    this.#pauses += 1;
    if (!this.#turns.pause(run)) {
      this.#letGo(run);
      return;
    }
    if (run.unpin !== null) return;
    const unpins = [...new Set(shards)].map((live) => live?.pin());
    run.unpin = () => {
      for (const unpin of unpins) unpin?.();
    };
  }

  #end(run: Run): void {
    // Most never were there.
    if (run.unpin === null) return;
    this.#turns.end(run);
    this.#letGo(run);
  }

  #letGo(run: Run): void {
    run.work?.evaluation.abandon();
    run.work = null;
    run.unpin?.();
    run.unpin = null;
  }

  /** False while a shard has rows of a partition that is still loading or no longer ours: they cannot be told apart. */
  #isSettled(coverage: Coverage): boolean {
    const { held } = this.options.shards;
    if (held.size !== coverage.size) return false;
    for (const [partition, { epoch }] of held) {
      if (coverage.get(partition) !== epoch) return false;
    }
    return true;
  }
}

/** @param shard null: no item is here @param isWhole this worker has all partitions */
function answerOne(
  { ask, index, seal }: KnownAsk,
  shard: Shard | null,
  isWhole: boolean,
): Maybe<MessageBody> {
  switch (ask.kind) {
    case 'answer': {
      const { query, isText } = ask;
      // Alone, the first groups of a facet are the first ones of all; else the merge needs more than are asked for.
      const groupsMax = isWhole ? 0 : facetGroupsPerShardMax;
      const answered = shard === null ? emptyAnswer : shard.answer(query, groupsMax);
      return chain(answered, (answer) => {
        pace.enter('page');
        const terms = { index, query, isWhole };
        return isWhole && isText ? encodeResult(answer, terms, seal) : encodeAnswer(answer, terms);
      });
    }
    case 'counts': {
      const { query, facets } = ask;
      const counted = mapInTurn(facets, ({ facetIndex, values }) =>
        shard === null ? { groups: [] } : shard.counts(query, facetIndex, values),
      );
      return chain(counted, (counts) => {
        pace.enter('page');
        return encodeCounts(counts);
      });
    }
    case 'texts':
      return encodeTexts(
        ask.rows.map(({ sourceId, originId }) => shard?.fieldsBytesOf(sourceId, originId) ?? null),
      );
  }
}
