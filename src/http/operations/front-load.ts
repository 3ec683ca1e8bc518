/** What a front tells of its load with each of its heartbeats. */
import { placeOfLastSequence } from '../../store/partitions/partition-state.ts';
import { heartbeatMs } from '../../store/processes/heartbeat.ts';
import type { ProcessBeat } from '../../store/processes/process-messages.ts';
import type { Store } from '../../store/store.ts';
import type { FrontMetrics } from './front-metrics.ts';
import { ReadWait } from './read-wait.ts';
import { InterfaceRate, RequestRate } from './request-rate.ts';

export type FrontFigures = Required<Pick<ProcessBeat, 'requestsPerSecond' | 'readWaitMs' | 'rates'>>;

/** Measures as often as a heart beats. */
export class FrontLoad {
  readonly #requests: RequestRate;
  readonly #interfaces: InterfaceRate;
  readonly #readWait: ReadWait;
  readonly #timer: NodeJS.Timeout;
  #figures: FrontFigures = {
    requestsPerSecond: 0,
    readWaitMs: null,
    rates: { ingest: 0, delivery: 0, query: 0 },
  };

  constructor({ fields, partitions }: Pick<Store, 'fields' | 'partitions'>, metrics: FrontMetrics) {
    const nowMs = performance.now();
    this.#requests = new RequestRate(metrics, nowMs);
    this.#interfaces = new InterfaceRate(metrics, nowMs);
    this.#readWait = new ReadWait((turn) =>
      fields.read([placeOfLastSequence(partitions.tag(turn % partitions.count))]),
    );
    this.#timer = setInterval(() => this.#measure(), heartbeatMs);
  }

  /** As they were measured last. */
  get figures(): FrontFigures {
    return this.#figures;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#readWait.close();
  }

  #measure(): void {
    const nowMs = performance.now();
    const requestsPerSecond = this.#requests.perSecond(nowMs);
    const rates = this.#interfaces.perSecond(nowMs);
    this.#figures = { requestsPerSecond, rates, readWaitMs: this.#readWait.take() };
    this.#readWait.follow(requestsPerSecond >= 1);
  }
}
