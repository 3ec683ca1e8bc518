/** Renews the leases of a worker and sends its heartbeats. */
import { performance } from 'node:perf_hooks';
import { type Lease, type LeaseEnds, LeaseRenewal } from '../../store/ownership/lease.ts';
import { Heartbeat } from '../../store/processes/heartbeat.ts';
import type { ProcessBeat, ProcessChannels, ProcessHost } from '../../store/processes/process-messages.ts';
import type { RedisAddress } from '../../store/redis/redis-connection.ts';
import { StoreUnavailableError } from '../../store/redis/redis-errors.ts';

export interface KeeperEvents {
  /** This worker has lost the lease. */
  lost(lease: Lease): void;
  error(message: string, error: unknown): void;
  /** Metrics of the worker in the Prometheus text format. */
  metrics(): Promise<string>;
}

export interface Keeper {
  /** Starts to renew a lease. @param requestedMs when it was requested, on the clock of `performance.now()` */
  keep(lease: Lease, requestedMs: number): void;
  /** Stops renewing the lease of a partition. */
  stopRenewing(partition: number): void;
  /** Sends a heartbeat now, and repeats it every second. */
  sendBeat(beat: ProcessBeat): void;
  /** Reports that the worker's main thread is running. Without this for `mainThreadStuckMs`, it counts as dead. */
  markAlive(): void;
  /** Stops, and announces that the worker has ended. */
  close(): Promise<void>;
}

/** How long leases last, and where their expiry times go. */
export interface KeeperTerms {
  readonly leaseMs: number;
  /** The keeper writes the expiry times of leases here, on the clock of the worker's `performance.now()`. */
  readonly ends: LeaseEnds;
}

export type OpenKeeper = (host: ProcessHost, terms: KeeperTerms, events: KeeperEvents) => Keeper;

/** The clock of a keeper that does not run on the worker's main thread. */
export interface KeeperClock {
  /** Used instead of the main thread's `performance.now()`. */
  nowMs(): number;
  /** False while the main thread counts as dead: then nothing is renewed or sent. */
  isAlive(): boolean;
}

const ofThisThread: KeeperClock = { nowMs: () => performance.now(), isAlive: () => true };

/** A keeper on the current thread: it renews nothing while that thread is busy. */
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
      error: (error) => {
        // `OutageWatch` reports a lost Redis, once.
        if (!(error instanceof StoreUnavailableError)) events.error('a lease was not renewed', error);
      },
    });
  }

  keep(lease: Lease, requestedMs: number): void {
    this.#renewal.add(lease, requestedMs);
  }

  stopRenewing(partition: number): void {
    this.#renewal.remove(partition);
  }

  sendBeat(beat: ProcessBeat): void {
    this.#beat = beat;
    if (this.#heartbeat !== null) this.#heartbeat.send();
    else
      this.#heartbeat = new Heartbeat(this.host, {
        beat: () => (this.clock.isAlive() ? this.#beat : null),
        metrics: () => this.events.metrics(),
      });
  }

  markAlive(): void {}

  async close(): Promise<void> {
    this.#renewal.close();
    await this.#heartbeat?.close();
  }
}

export const openLocalKeeper: OpenKeeper = (host, terms, events) => new LocalKeeper(host, terms, events);

/** Start parameters of the thread. */
export interface KeeperStart {
  readonly address: RedisAddress;
  readonly channels: ProcessChannels;
  readonly leaseMs: number;
  /** Shared memory of the `LeaseEnds`. */
  readonly ends: SharedArrayBuffer;
  /** Without an `alive` message for this long, the main thread counts as dead. */
  readonly stuckMs: number;
  /** The main thread's `performance.now()` minus the shared clock, in milliseconds. */
  readonly clockOffsetMs: number;
}

export type ToKeeper =
  | { readonly kind: 'keep'; readonly lease: Lease; readonly requestedMs: number }
  | { readonly kind: 'stopRenewing'; readonly partition: number }
  | { readonly kind: 'beat'; readonly beat: ProcessBeat }
  | { readonly kind: 'alive' }
  | { readonly kind: 'metrics'; readonly text: string }
  | { readonly kind: 'close' };

export type FromKeeper =
  /** The thread is ready. */
  | { readonly kind: 'started' }
  | { readonly kind: 'lost'; readonly lease: Lease }
  | { readonly kind: 'error'; readonly message: string; readonly reason: string }
  | { readonly kind: 'metrics' };

/** Milliseconds on a clock that all threads of a process share. */
export function sharedClockMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
