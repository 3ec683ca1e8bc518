/** Messages between a worker's main thread and its keeper thread. */

import type { Lease } from '../../store/ownership/lease.ts';
import type { ProcessBeat, ProcessChannels } from '../../store/processes/process-messages.ts';
import type { RedisAddress } from '../../store/redis/redis-connection.ts';

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
  | { readonly kind: 'trouble'; readonly message: string; readonly reason: string }
  | { readonly kind: 'metrics' };

/** Milliseconds on a clock that all threads of a process share. */
export function sharedClockMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
