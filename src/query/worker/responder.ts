/** Answers the queries of fronts in a worker. */
import { createSecretKey } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { copyBehindMs, queryCpuMs as queryCpuMsDefault, querySliceMs } from '../../contract/limits.ts';
import type { QueryAddresses } from '../../store/processes/process-messages.ts';
import type { Store } from '../../store/store.ts';
import { nothingHeld } from '../protocol/shard-reply.ts';
import { decodeRequest, type ShardRequest } from '../protocol/shard-request.ts';
import { type ListenAddress, loopbackOnly } from '../transport/listen-address.ts';
import type { InboundRequest } from '../transport/messages.ts';
import { WorkerListener } from '../transport/worker-listener.ts';
import { QueryTurns } from './query-turns.ts';
import { type RequestTerms, RunningRequest } from './running-request.ts';
import type { AnsweringShards, ShardState } from './shard-state.ts';

/** Interval for checking waiting requests, because there is no event for renewed leases. */
const recheckMs = 100;

export interface ResponderOptions {
  readonly store: Store;
  /** Process id of the worker, as in its heartbeat. */
  readonly workerId: string;
  readonly shards: AnsweringShards;
  /** Where it listens on TCP; absent for fronts of this machine only. */
  readonly listen?: ListenAddress;
  /** Processor time that a query may take, in ms; the documented default if absent. */
  readonly queryCpuMs?: number;
  /** Called for an unexpected error of a query. */
  onError(error: unknown): void;
  /** See `WorkerListenerOptions`; absent for no notification. */
  onStranger?(from: string): void;
}

export interface ResponderStats {
  /** Number of answered requests. */
  readonly answered: number;
  /** Number of queries that exceeded their budget of processor time. */
  readonly refused: number;
  /** Number of slices in which requests did not end. */
  readonly pauses: number;
  /**
   * Number of requests that were dropped because their front no longer waited: the deadline was over, or it had disconnected.
   */
  readonly dropped: number;
}

export class Responder {
  readonly #listener: WorkerListener;
  readonly #terms: RequestTerms;
  /**
   * Requests that cannot be answered yet, because a partition is loading or has not applied all commits that the front has
   * received.
   */
  #waiting: RunningRequest[] = [];
  /** Requests that can be answered. */
  readonly #turns = new QueryTurns<RunningRequest>();
  #isRunning = false;
  #isRechecking = false;
  #timer: NodeJS.Timeout | null = null;
  #answered = 0;
  #refused = 0;
  #pauses = 0;
  #dropped = 0;

  constructor(private readonly options: ResponderOptions) {
    const { store, workerId, shards, listen = loopbackOnly, queryCpuMs = queryCpuMsDefault } = options;
    this.#listener = new WorkerListener({
      secret: store.secret,
      workerId,
      listen,
      onRequest: (inbound) => this.#take(inbound),
      onStranger: (from) => options.onStranger?.(from),
    });
    this.#terms = { secret: createSecretKey(store.secret), queryCpuMs };
    shards.onProgress(() => this.#recheckSoon());
  }

  /**
   * Resolves when it is listening. Must be called before the first heartbeat, which makes fronts connect.
   * @throws Error with a one-line message if it cannot listen on its TCP address
   */
  async start(): Promise<void> {
    await this.#listener.start();
  }

  async close(): Promise<void> {
    this.#stopRechecks();
    for (const request of this.#turns.takeAllLong()) request.release();
    await this.#listener.close();
  }

  /** Addresses for the heartbeat. */
  get addresses(): QueryAddresses {
    return this.#listener.addresses;
  }

  get stats(): ResponderStats {
    return {
      answered: this.#answered,
      refused: this.#refused,
      pauses: this.#pauses,
      dropped: this.#dropped,
    };
  }

  #take(inbound: InboundRequest): void {
    try {
      this.#runSoon(new RunningRequest(inbound, decodeRequest(inbound.body), this.#terms));
    } catch (error) {
      this.options.onError(error);
      inbound.reply(nothingHeld);
    }
  }

  /** Deferred to the next turn of the event loop, because the owner of a loaded partition is notified later in this one. */
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
    this.#turns.dropParked((request) => this.#isGone(request, nowMs));
    if (this.#waiting.length === 0) {
      if (!this.#turns.hasParked) this.#stopRechecks();
      return;
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    const stateOf = this.#states();
    for (const request of waiting) {
      if (this.#isGone(request, nowMs)) continue;
      const state = stateOf(request.request);
      if (state?.canAnswer(request.request)) this.#runSoon(request);
      else this.#wait(request, state, nowMs);
    }
  }

  /** A request that another worker can answer waits only for a limited time. */
  #wait(request: RunningRequest, state: ShardState | null, nowMs: number): void {
    const hasOthers = request.request.group !== undefined;
    request.waitsSinceMs ??= nowMs;
    if (state === null || (hasOthers && nowMs - request.waitsSinceMs >= copyBehindMs)) request.refuse();
    else {
      this.#waiting.push(request);
      this.#recheckOften();
    }
  }

  /** Rechecks regularly until nothing is waiting. */
  #recheckOften(): void {
    this.#timer ??= setInterval(() => this.#recheck(), recheckMs);
  }

  #stopRechecks(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** True if the front no longer waits for the reply; counts such requests. */
  #isGone(request: RunningRequest, nowMs: number): boolean {
    const isGone = request.isGone(nowMs);
    if (isGone) this.#dropped += 1;
    return isGone;
  }

  /** The current states of the shards, computed once for consecutive requests. */
  #states(): (request: ShardRequest) => ShardState | null {
    const { shards } = this.options;
    let [group, state]: [string | undefined | null, ShardState | null] = [null, null];
    return (request) => {
      if (request.group !== group) [group, state] = [request.group, shards.stateFor(request.group)];
      return state;
    };
  }

  #runSoon(request: RunningRequest): void {
    this.#turns.add(request);
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    // Collects the requests of the same turn.
    await Promise.resolve();
    for (;;) {
      this.#answerFresh();
      if (this.#turns.isEmpty) break;
      await setImmediate();
      if (!this.#turns.hasLong) continue;
      this.#continueLong();
      await setImmediate();
    }
    this.#isRunning = false;
  }

  /** Begins new requests during one slice. Each request gets its own slice. */
  #answerFresh(): void {
    let nowMs = performance.now();
    const endsMs = nowMs + querySliceMs;
    const stateOf = this.#states();
    while (nowMs < endsMs) {
      const request = this.#turns.takeFresh();
      if (request === null) return;
      this.#begin(request, stateOf(request.request), nowMs);
      nowMs = performance.now();
    }
  }

  /** Continues one long-running request for a slice. */
  #continueLong(): void {
    const request = this.#turns.takeLong();
    if (request === null) return;
    const nowMs = performance.now();
    if (!request.isBegun) this.#begin(request, this.#states()(request.request), nowMs);
    else if (this.#isGone(request, nowMs)) this.#end(request);
    else this.#continue(request, nowMs);
  }

  #begin(request: RunningRequest, state: ShardState | null, nowMs: number): void {
    if (this.#isGone(request, nowMs)) return;
    if (!state?.canAnswer(request.request)) {
      this.#wait(request, state, nowMs);
      return;
    }
    request.begin(state);
    this.#continue(request, nowMs);
  }

  #continue(request: RunningRequest, nowMs: number): void {
    try {
      const answers = request.run(nowMs, nowMs + querySliceMs);
      if (answers === null) {
        this.#pause(request);
        return;
      }
      request.reply(answers);
      this.#answered += 1;
      this.#refused += request.refused;
    } catch (error) {
      // Shortly after a configuration change, a front may use field types that differ from those here.
      this.options.onError(error);
      request.reply(null);
    }
    this.#end(request);
  }

  #pause(request: RunningRequest): void {
    this.#pauses += 1;
    if (this.#turns.pause(request)) request.pause();
    else {
      request.release();
      this.#recheckOften();
    }
  }

  #end(request: RunningRequest): void {
    this.#turns.end(request);
    request.release();
  }
}
