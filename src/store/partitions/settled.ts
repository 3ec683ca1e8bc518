/** Waits until all announced changes are visible, for processes that do not follow the changes. */

import { setTimeout } from 'node:timers/promises';
import { asTyped } from '../../lib/typed-command.mjs';
import type { Store } from '../store.ts';
import type { DownstreamInvalidation } from '../streams/announcement.ts';
import { type PartitionState, readPartitionStates, rebuiltUpTo } from './partition-state.ts';

/** No partition made progress for a while: most likely no worker runs. */
export class StandstillError extends Error {
  override readonly name = 'StandstillError';
}

const pollMs = 50;

const standstillMs = 20_000;

/**
 * Waits until all changes announced before the call are visible, including the rebuilds they caused.
 * @returns false if `signal` aborted
 * @throws StandstillError, StoreUnavailableError
 */
export async function waitUntilSettled(store: Store, signal?: AbortSignal): Promise<boolean> {
  let states = await readPartitionStates(store);
  const ends = states.map(({ end }) => end);
  const invalidations = new Map<string, DownstreamInvalidation>();
  let passed = false;
  let seen = '';
  let seenMs = performance.now();
  for (;;) {
    if (signal?.aborted) return false;
    if (!passed && states.every((state, partition) => isPassed(state, ends[partition] ?? 0))) {
      passed = true;
      // Only after the writes are processed, all invalidations that they sent downstream are known.
      for (const invalidation of states.flatMap(({ downstream }) => downstream)) {
        const key = `${invalidation.tenant}:${invalidation.partition}`;
        if ((invalidations.get(key)?.sequence ?? 0) < invalidation.sequence)
          invalidations.set(key, invalidation);
      }
    }
    if (passed) {
      for (const [key, { tenant, partition, sequence }] of invalidations) {
        const state = states[partition];
        if (state === undefined || rebuiltUpTo(state, tenant) >= sequence) invalidations.delete(key);
      }
      if (invalidations.size === 0) return true;
    }
    const now = states.map(({ commits }) => commits).join();
    if (now !== seen) [seen, seenMs] = [now, performance.now()];
    else if (performance.now() - seenMs > standstillMs) throw new StandstillError(standstillText(states));
    await setTimeout(pollMs);
    states = await readPartitionStates(store);
  }
}

function isPassed(state: PartitionState, end: number): boolean {
  if (state.checkpoint < end) return false;
  return [...state.pendingRebuilds.values()].every((first) => first > end);
}

function standstillText(states: readonly PartitionState[]): string {
  const entries = states.reduce((sum, { end, checkpoint }) => sum + Math.max(0, end - checkpoint), 0);
  const rebuilds = states.reduce((sum, { waiting }) => sum + waiting, 0);
  return (
    `nothing was processed for ${standstillMs / 1000} s while work waits (stream entries: ${entries}, rebuilds: ${rebuilds}); ` +
    asTyped('is a worker running (npm start, or npm run worker)?')
  );
}
