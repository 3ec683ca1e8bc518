/** Keeps a worker alive in the eyes of others: renews its leases and repeats its heartbeat. */
import { performance } from 'node:perf_hooks';
import type { Lease } from '../../store/ownership/lease.ts';
import { type LeaseEnds, LeaseRenewal } from '../../store/ownership/lease-renewal.ts';
import { Heartbeat } from '../../store/processes/heartbeat.ts';
import type { ProcessBeat, ProcessHost } from '../../store/processes/process-messages.ts';
import { StoreUnavailableError } from '../../store/redis/redis-errors.ts';

export interface KeeperEvents {
  /** The lease is no longer ours. */
  lost(lease: Lease): void;
  trouble(message: string, error: unknown): void;
  /** Metrics of the worker, in Prometheus' text form. */
  metrics(): Promise<string>;
}

export interface Keeper {
  /** Renews a lease from now on. @param askedMs when it was asked for, by `performance.now()` */
  keep(lease: Lease, askedMs: number): void;
  /** The lease of a partition is not renewed any more. */
  letGo(partition: number): void;
  /** Tells it at once, and again every second. */
  tell(beat: ProcessBeat): void;
  /** The worker's main thread is at work; without a word for `mainThreadStuckMs` it counts as dead. */
  turn(): void;
  /** Says that the worker has ended. */
  close(): Promise<void>;
}

/** How long leases last, and where their ends are written. */
export interface KeeperTerms {
  readonly leaseMs: number;
  /** The keeper writes here until when leases hold, by the worker's `performance.now()`. */
  readonly ends: LeaseEnds;
}

export type OpenKeeper = (host: ProcessHost, terms: KeeperTerms, events: KeeperEvents) => Keeper;

/** The clock of a keeper that does not run on the worker's main thread. */
export interface KeeperClock {
  /** In place of the main thread's `performance.now()`. */
  nowMs(): number;
  /** False while the main thread counts as dead: nothing is renewed or told then. */
  isAlive(): boolean;
}

const ofThisThread: KeeperClock = { nowMs: () => performance.now(), isAlive: () => true };

/** A keeper on the thread that opens it: nothing is renewed while that thread computes. */
export class LocalKeeper implements Keeper {
  readonly #renewal: LeaseRenewal;
  #heartbeat: Heartbeat | null = null;
  #beat: ProcessBeat | null = null;

  constructor(
    private readonly host: ProcessHost,
    { leaseMs, ends }: KeeperTerms,
    private readonly events: KeeperEvents,
    private readonly clock = ofThisThread,
  ) {
    this.#renewal = new LeaseRenewal(host.client, leaseMs, ends, clock.nowMs, clock.isAlive, {
      lost: (lease) => events.lost(lease),
      trouble: (error) => {
        // The watch over the connection reports a lost Redis once.
        if (!(error instanceof StoreUnavailableError)) events.trouble('a lease was not renewed', error);
      },
    });
  }

  keep(lease: Lease, askedMs: number): void {
    this.#renewal.add(lease, askedMs);
  }

  letGo(partition: number): void {
    this.#renewal.remove(partition);
  }

  tell(beat: ProcessBeat): void {
    this.#beat = beat;
    if (this.#heartbeat !== null) this.#heartbeat.tell();
    else
      this.#heartbeat = new Heartbeat(this.host, {
        beat: () => (this.clock.isAlive() ? this.#beat : null),
        metrics: () => this.events.metrics(),
      });
  }

  turn(): void {}

  async close(): Promise<void> {
    this.#renewal.close();
    await this.#heartbeat?.close();
  }
}

export const openLocalKeeper: OpenKeeper = (host, terms, events) => new LocalKeeper(host, terms, events);
