/** A worker's answers to the queries of the fronts. */
import { setImmediate } from 'node:timers/promises';
import { type InboundRequest, type MessageBody, RequestReceiver } from '../store/messages.ts';
import type { Store } from '../store/store.ts';
import type { Coverage } from './coverage.ts';
import type { ShardSet } from './shard-set.ts';
import {
  cannotAnswer,
  decodeRequest,
  emptyAnswer,
  encodeAnswer,
  encodeCounts,
  encodeReply,
  type ScatterQuery,
  type ScatterRequest,
} from './wire.ts';

/** Queries run one after the other; leases and changes get a turn after this long. */
const sliceMs = 5;
/** How often requests are looked for that nobody waits for any more. */
const sweepMs = 1000;

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

interface Waiting {
  readonly inbound: InboundRequest;
  readonly request: ScatterRequest;
}

export class Responder {
  readonly #receiver: RequestReceiver;
  /** Requests whose state is not reached yet. */
  #waiting: Waiting[] = [];
  /** Requests to run. */
  #ready: Waiting[] = [];
  #running = false;
  #timer: NodeJS.Timeout | null = null;
  #answered = 0;
  #busyMs = 0;

  constructor(private readonly options: ResponderOptions) {
    const { store, workerId, shards } = options;
    this.#receiver = new RequestReceiver(store, workerId, (inbound) => this.#receive(inbound));
    shards.onProgress(() => this.#recheck());
  }

  /** Resolves once queries can arrive. Before the first heartbeat, so that no front asks in vain. */
  async start(): Promise<void> {
    await this.#receiver.start();
    this.#timer = setInterval(() => this.#recheck(), sweepMs);
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#receiver.close();
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

  #receive(inbound: InboundRequest): void {
    const waiting = { inbound, request: decodeRequest(inbound.body) };
    if (this.#isReached(waiting.request, this.options.covered())) this.#runSoon(waiting);
    else this.#waiting.push(waiting);
  }

  #recheck(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    const nowMs = performance.now();
    const coverage = this.options.covered();
    for (const one of waiting) {
      if (one.inbound.deadlineMs < nowMs) continue;
      if (this.#isReached(one.request, coverage)) this.#runSoon(one);
      else this.#waiting.push(one);
    }
  }

  /** True when every partition of ours has applied what the front has seen of it. */
  #isReached({ needs }: ScatterRequest, coverage: Coverage): boolean {
    for (const partition of coverage.keys()) {
      const applied = this.options.shards.applied(partition);
      if (applied !== null && applied < (needs[partition] ?? 0)) return false;
    }
    return true;
  }

  #runSoon(waiting: Waiting): void {
    this.#ready.push(waiting);
    if (this.#running) return;
    this.#running = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    let sliceEndsMs = performance.now() + sliceMs;
    while (this.#ready.length > 0) {
      const batch = this.#ready;
      this.#ready = [];
      for (const { inbound, request } of batch) {
        if (inbound.deadlineMs > performance.now()) this.#answer(inbound, request);
        if (performance.now() < sliceEndsMs) continue;
        await setImmediate();
        sliceEndsMs = performance.now() + sliceMs;
      }
    }
    this.#running = false;
  }

  /** State, coverage and answers are of one moment: nothing in here waits. */
  #answer(inbound: InboundRequest, request: ScatterRequest): void {
    const { store, covered, onTrouble } = this.options;
    const startedMs = performance.now();
    try {
      const coverage = covered();
      if (!this.#isSettled(coverage) || !this.#isReached(request, coverage)) {
        inbound.reply(cannotAnswer);
        return;
      }
      const isAlone = coverage.size === store.partitions.count;
      const answers = request.queries.map((query) => this.#answerOne(query, isAlone));
      inbound.reply(encodeReply({ covers: coverage, answers }));
      this.#answered += 1;
    } catch (error) {
      // For a moment after a change of the configuration a front may ask for fields of a type they do not have here.
      onTrouble(error);
      inbound.reply(cannotAnswer);
    } finally {
      this.#busyMs += performance.now() - startedMs;
    }
  }

  /** @param isAlone the answer is the whole one, so rows before the page need not be sent */
  #answerOne({ query, counts, ...index }: ScatterQuery, isAlone: boolean): MessageBody {
    const shard = this.options.shards.shard(index);
    if (counts !== null) {
      return encodeCounts(
        counts.map(
          ({ facetIndex, values }) => shard?.facetCounts(query, facetIndex, values) ?? { groups: [] },
        ),
      );
    }
    return encodeAnswer(shard?.query(query) ?? emptyAnswer, isAlone ? query.offset : 0);
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
