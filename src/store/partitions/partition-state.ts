/** How far partitions have come, read straight from Redis: for processes that do not follow the changes. */
import { setTimeout } from 'node:timers/promises';
import { unpack } from '../codec/pack.ts';
import { keys } from '../keys.ts';
import { storeError } from '../redis/connection.ts';
import type { Store } from '../store.ts';
import type { CausedMark } from './commit.ts';

export interface PartitionState {
  /** Sequence of the last entry of the stream. */
  readonly end: number;
  /** Sequence of the last entry that is taken in. */
  readonly checkpoint: number;
  readonly commits: number;
  /** Tenant -> first mark that waits for its rebuild. */
  readonly dirty: ReadonlyMap<string, number>;
  /** Views, items and entities that wait for a rebuild. */
  readonly waiting: number;
  /** Last marks that this partition's changes sent to others. */
  readonly caused: readonly CausedMark[];
}

/** What an owner's last commit says of its partition. */
export type CommittedState = Pick<PartitionState, 'checkpoint' | 'commits' | 'dirty'>;

/** For who waits until the owner has come so far, and asks often. @throws StoreUnavailableError */
export async function readCommittedState(store: Store, partition: number): Promise<CommittedState> {
  try {
    const owner = keys.owner(store.partitions.tag(partition));
    const [checkpoint, commits, dirty] = await store.client.hmgetBuffer(
      owner,
      'checkpoint',
      'commits',
      'dirty',
    );
    return {
      checkpoint: Number(checkpoint ?? 0),
      commits: Number(commits ?? 0),
      dirty: new Map(dirty ? unpack<[string, number][]>(dirty) : []),
    };
  } catch (error) {
    throw storeError(error);
  }
}

/** @throws StoreUnavailableError */
export async function readPartitionState(store: Store, partition: number): Promise<PartitionState> {
  const tag = store.partitions.tag(partition);
  try {
    const [end, committed, waiting, caused] = await Promise.all([
      store.client.hget(keys.clock(tag), 'stream'),
      readCommittedState(store, partition),
      store.client.hlen(keys.dirty(tag)),
      store.client.hgetall(keys.caused(tag)),
    ]);
    return {
      ...committed,
      end: Number(end ?? 0),
      waiting,
      caused: Object.entries(caused).map(([field, sequence]) => causedMark(field, Number(sequence))),
    };
  } catch (error) {
    throw storeError(error);
  }
}

function causedMark(field: string, sequence: number): CausedMark {
  const colon = field.lastIndexOf(':');
  return { tenant: field.slice(0, colon), partition: Number(field.slice(colon + 1)), sequence };
}

/** @throws StoreUnavailableError */
export function readPartitionStates(store: Store): Promise<PartitionState[]> {
  return Promise.all(store.partitions.tags.map((_, partition) => readPartitionState(store, partition)));
}

/** Last mark up to which every rebuild of a tenant is done. */
export function rebuiltUpTo({ checkpoint, dirty }: CommittedState, tenant: string): number {
  return Math.min(checkpoint, (dirty.get(tenant) ?? Number.POSITIVE_INFINITY) - 1);
}

/** No partition came any further for a while: most likely no worker runs. */
export class StandstillError extends Error {
  override readonly name = 'StandstillError';
}

const pollMs = 50;
const standstillMs = 20_000;

/**
 * Waits until everything that was announced before the call is visible, with every rebuild that it caused.
 * @returns false when `signal` aborted. @throws StandstillError, StoreUnavailableError
 */
export async function waitUntilSettled(store: Store, signal?: AbortSignal): Promise<boolean> {
  let states = await readPartitionStates(store);
  const ends = states.map(({ end }) => end);
  const marks = new Map<string, CausedMark>();
  let passed = false;
  let seen = '';
  let seenMs = performance.now();
  for (;;) {
    if (signal?.aborted) return false;
    if (!passed && states.every((state, partition) => isPassed(state, ends[partition] ?? 0))) {
      passed = true;
      // Learnt after the writes were passed: only then are all marks known that they caused.
      for (const mark of states.flatMap(({ caused }) => caused)) {
        const key = `${mark.tenant}:${mark.partition}`;
        if ((marks.get(key)?.sequence ?? 0) < mark.sequence) marks.set(key, mark);
      }
    }
    if (passed) {
      for (const [key, { tenant, partition, sequence }] of marks) {
        const state = states[partition];
        if (state === undefined || rebuiltUpTo(state, tenant) >= sequence) marks.delete(key);
      }
      if (marks.size === 0) return true;
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
  return [...state.dirty.values()].every((first) => first > end);
}

function standstillText(states: readonly PartitionState[]): string {
  const entries = states.reduce((sum, { end, checkpoint }) => sum + Math.max(0, end - checkpoint), 0);
  const rebuilds = states.reduce((sum, { waiting }) => sum + waiting, 0);
  return (
    `nothing was processed for ${standstillMs / 1000} s while ${entries} stream entries and ${rebuilds} rebuilds wait; ` +
    'is a worker running (npm start, or npm run worker)?'
  );
}

/** Sequence of the last entry of a partition's stream, read or not; 0 before the first. @throws StoreUnavailableError */
export async function lastSequence(store: Store, tag: string): Promise<number> {
  try {
    return Number((await store.client.hget(keys.clock(tag), 'stream')) ?? 0);
  } catch (error) {
    throw storeError(error);
  }
}
