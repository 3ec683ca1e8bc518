/** What a worker's main thread and the thread that keeps it alive tell each other. */

import type { Lease } from '../../store/ownership/lease.ts';
import type { ProcessBeat, ProcessChannels } from '../../store/processes/process-messages.ts';
import type { RedisAddress } from '../../store/redis/redis-connection.ts';

/** What the thread begins with. */
export interface KeeperStart {
  readonly address: RedisAddress;
  readonly channels: ProcessChannels;
  readonly leaseMs: number;
  /** Shared memory of the `LeaseEnds`. */
  readonly ends: SharedArrayBuffer;
  /** The main thread counts as dead when it has not turned for so long. */
  readonly stuckMs: number;
  /** The main thread's `performance.now()` minus the clock that both threads have, in milliseconds. */
  readonly clockOffsetMs: number;
}

export type ToKeeper =
  | { readonly kind: 'keep'; readonly lease: Lease; readonly askedMs: number }
  | { readonly kind: 'letGo'; readonly partition: number }
  | { readonly kind: 'tell'; readonly beat: ProcessBeat }
  | { readonly kind: 'turn' }
  | { readonly kind: 'metrics'; readonly text: string }
  | { readonly kind: 'close' };

export type FromKeeper =
  /** The thread listens. */
  | { readonly kind: 'started' }
  | { readonly kind: 'lost'; readonly lease: Lease }
  | { readonly kind: 'trouble'; readonly message: string; readonly reason: string }
  | { readonly kind: 'metrics' };

/** Milliseconds by the clock that all threads of a process have in common. */
export function sharedClockMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
