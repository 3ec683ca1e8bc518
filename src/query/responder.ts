/** A worker's answers to the queries of the fronts. */
import { setImmediate } from 'node:timers/promises';
import { facetGroupsPerShardMax } from '../search/facet.ts';
import type { MessageBody } from '../store/message-body.ts';
import { RequestReceiver } from '../store/messages.ts';
import type { Store } from '../store/store.ts';
import type { Coverage } from './coverage.ts';
import { type InboundAsks, StreamedAsks } from './inbound-asks.ts';
import { type KnownAsk, KnownAsks } from './known-asks.ts';
import { LinkServer } from './link-server.ts';
import type { ShardSet } from './shard-set.ts';
import {
  emptyAnswer,
  encodeAnswer,
  encodeCounts,
  encodeResult,
  encodeTexts,
  NeedsReader,
  packMoment,
} from './wire.ts';

/** Queries run one after the other; leases and changes get a turn after this long. */
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
  /** Called for a query that broke; a bug of ours. */
  onTrouble(error: unknown): void;
}

export class Responder {
  readonly #receiver: RequestReceiver;
  readonly #links: LinkServer;
  readonly #asks: KnownAsks;
  readonly #needs = new NeedsReader();
  /** Requests that cannot be answered yet: a partition is loading, or behind what the front has seen of it. */
  #waiting: InboundAsks[] = [];
  /** Requests to run. */
  #ready: InboundAsks[] = [];
  #running = false;
  #isRechecking = false;
  #timer: NodeJS.Timeout | null = null;
  #answered = 0;
  #busyMs = 0;

  constructor(private readonly options: ResponderOptions) {
    const { store, workerId, shards } = options;
    this.#receiver = new RequestReceiver(store.messages, workerId, (inbound) =>
      this.#runSoon(new StreamedAsks(inbound, this.#needs)),
    );
    this.#links = new LinkServer((inbound) => this.#runSoon(inbound));
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
    await Promise.all([this.#receiver.close(), this.#links.close()]);
  }

  /** Where fronts of this host can ask without Redis, for the heartbeat; null: nowhere. */
  get link(): string | null {
    return this.#links.path;
  }

  /** Requests answered so far. */
  get answered(): number {
    return this.#answered;
  }

  /** Time spent on them. */
  get busyMs(): number {
    return this.#busyMs;
  }

  /** Requests that came too late to be worked on. */
  get stale(): number {
    return this.#receiver.stale;
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
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    const nowMs = performance.now();
    const coverage = this.options.covered();
    for (const one of waiting) {
      if (one.deadlineMs < nowMs) continue;
      if (this.#canAnswer(one, coverage)) this.#runSoon(one);
      else this.#waiting.push(one);
    }
  }

  #canAnswer({ request }: InboundAsks, coverage: Coverage): boolean {
    return this.#isSettled(coverage) && this.#isReached(request.needs, coverage);
  }

  /** True when every partition of ours has applied what the front has seen of it. */
  #isReached(needs: readonly number[], coverage: Coverage): boolean {
    for (const partition of coverage.keys()) {
      const applied = this.options.shards.applied(partition);
      if (applied !== null && applied < (needs[partition] ?? 0)) return false;
    }
    return true;
  }

  #runSoon(inbound: InboundAsks): void {
    this.#ready.push(inbound);
    if (this.#running) return;
    this.#running = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    // What has just come in one entry runs together.
    await Promise.resolve();
    while (this.#ready.length > 0) {
      const batch = this.#ready;
      this.#ready = [];
      for (let done = 0; done < batch.length; ) {
        done = this.#answerSlice(batch, done);
        if (done < batch.length) await setImmediate();
      }
    }
    this.#running = false;
  }

  /** State, coverage and answers are of one moment: nothing in here waits. @returns place behind the last one done */
  #answerSlice(batch: readonly InboundAsks[], from: number): number {
    const startedMs = performance.now();
    const { shards, store } = this.options;
    const coverage = this.options.covered();
    const isSettled = this.#isSettled(coverage);
    const isWhole = coverage.size === store.partitions.count;
    const moment = packMoment(coverage, (partition) => shards.applied(partition) ?? 0, shards.followed);
    let nowMs = startedMs;
    let at = from;
    /** Of the last request that was looked at; most of a moment's requests have the same. */
    let needs: readonly number[] | null = null;
    let isReached = false;
    for (; at < batch.length && nowMs < startedMs + sliceMs; at += 1) {
      const inbound = batch[at];
      if (inbound === undefined) break;
      const { request, deadlineMs } = inbound;
      if (request.needs !== needs) {
        needs = request.needs;
        isReached = this.#isReached(needs, coverage);
      }
      if (!isSettled || !isReached) this.#waiting.push(inbound);
      else if (deadlineMs > nowMs) this.#answer(inbound, moment, isWhole);
      nowMs = performance.now();
    }
    this.#busyMs += nowMs - startedMs;
    return at;
  }

  /** @param isWhole this worker has all partitions */
  #answer(inbound: InboundAsks, moment: string, isWhole: boolean): void {
    try {
      const answers = this.#asks.read(inbound.request.asks).map((known) => this.#answerOne(known, isWhole));
      inbound.reply(moment, answers);
      this.#answered += 1;
    } catch (error) {
      // For a moment after a change of the configuration a front may ask for fields of a type they do not have here.
      this.options.onTrouble(error);
      inbound.reply(moment, null);
    }
  }

  /** @param isWhole this worker has all partitions */
  #answerOne({ ask, shardName, index, seal }: KnownAsk, isWhole: boolean): MessageBody {
    const shard = this.options.shards.shard(shardName);
    switch (ask.kind) {
      case 'answer': {
        const { query, isText } = ask;
        // Alone, the first groups of a facet are the first ones of all; else the merge needs more than are asked for.
        const answer = shard?.query(query, isWhole ? 0 : facetGroupsPerShardMax) ?? emptyAnswer;
        return isWhole && isText
          ? encodeResult(answer, index, query, seal)
          : encodeAnswer(answer, index, query.offset, isWhole);
      }
      case 'counts':
        return encodeCounts(
          ask.facets.map(
            ({ facetIndex, values }) => shard?.facetCounts(ask.query, facetIndex, values) ?? { groups: [] },
          ),
        );
      case 'texts':
        return encodeTexts(
          ask.rows.map(({ sourceId, originId }) => shard?.fieldsBytesOf(sourceId, originId) ?? null),
        );
    }
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
