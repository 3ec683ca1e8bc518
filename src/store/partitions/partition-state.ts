/**
 * Reads the progress of partitions and the backlog of their streams from Redis, and waits until all announced changes are
 * visible, for processes that do not follow the changes.
 */

import { setTimeout } from 'node:timers/promises';
import { asTyped } from '../../lib/typed-command.mjs';
import { unpack } from '../codec/pack.ts';
import { keys } from '../keys.ts';
import { readOwner } from '../ownership/owners.ts';
import type { HashField } from '../redis/field-reader.ts';
import { answerOf } from '../redis/redis-errors.ts';
import { Script } from '../redis/script.ts';
import type { Store } from '../store.ts';
import type { DownstreamInvalidation } from '../streams/changes-stream.ts';

export interface PartitionState {
  /** Sequence of the last entry of the stream. */
  readonly end: number;
  /** Sequence of the last processed entry. */
  readonly checkpoint: number;
  readonly commits: number;
  /** Tenant -> first invalidation whose rebuild is pending. */
  readonly pendingRebuilds: ReadonlyMap<string, number>;
  /** Number of pending rebuilds of views, items and entities. */
  readonly waiting: number;
  /** The last invalidations that this partition's changes sent to others. */
  readonly downstream: readonly DownstreamInvalidation[];
}

/** The state of a partition after its owner's last commit. */
export type CommittedState = Pick<PartitionState, 'checkpoint' | 'commits' | 'pendingRebuilds'>;

/** Cheaper than `readPartitionState`, for callers that poll. @throws StoreUnavailableError */
export async function readCommittedState(store: Store, partition: number): Promise<CommittedState> {
  const owner = keys.owner(store.partitions.tag(partition));
  const [checkpoint, commits, pendingRebuilds] = await answerOf(
    store.client.hmgetBuffer(owner, 'checkpoint', 'commits', 'dirty'),
  );
  return {
    checkpoint: Number(checkpoint ?? 0),
    commits: Number(commits ?? 0),
    pendingRebuilds: new Map(pendingRebuilds ? unpack<[string, number][]>(pendingRebuilds) : []),
  };
}

/** @throws StoreUnavailableError */
export async function readPartitionState(store: Store, partition: number): Promise<PartitionState> {
  const tag = store.partitions.tag(partition);
  const [end, committed, waiting, downstream] = await answerOf(
    Promise.all([
      store.client.hget(keys.clock(tag), 'stream'),
      readCommittedState(store, partition),
      store.client.hlen(keys.pendingRebuilds(tag)),
      store.client.hgetall(keys.downstream(tag)),
    ]),
  );
  return {
    ...committed,
    end: Number(end ?? 0),
    waiting,
    downstream: Object.entries(downstream).map(([field, sequence]) =>
      invalidationOf(field, Number(sequence)),
    ),
  };
}

function invalidationOf(field: string, sequence: number): DownstreamInvalidation {
  const colon = field.lastIndexOf(':');
  return { tenant: field.slice(0, colon), partition: Number(field.slice(colon + 1)), sequence };
}

/** @throws StoreUnavailableError */
export function readPartitionStates(store: Store): Promise<PartitionState[]> {
  return Promise.all(store.partitions.tags.map((_, partition) => readPartitionState(store, partition)));
}

/** Sequence of the invalidation up to which all rebuilds of a tenant are done. */
export function rebuiltUpTo({ checkpoint, pendingRebuilds }: CommittedState, tenant: string): number {
  return Math.min(checkpoint, (pendingRebuilds.get(tenant) ?? Number.POSITIVE_INFINITY) - 1);
}

/** Sequence of the last entry of a partition's stream, processed or not; 0 before the first. @throws StoreUnavailableError */
export async function lastSequence(store: Store, tag: string): Promise<number> {
  const { key, field } = fieldOfLastSequence(tag);
  return Number((await answerOf(store.client.hget(key, field))) ?? 0);
}

/** Where `lastSequence` is stored. */
export function fieldOfLastSequence(tag: string): HashField {
  return { key: keys.clock(tag), field: 'stream' };
}

export interface Backlog {
  /** Worker that owns the partition; null: none. */
  readonly owner: string | null;
  /** Number of unprocessed stream entries. */
  readonly entries: number;
  /** Age of the first of them, by the clock of the front that wrote it; 0 if there are none. */
  readonly lagMs: number;
}

/** @throws StoreUnavailableError */
export async function readBacklog(store: Store, partition: number): Promise<Backlog> {
  const tag = store.partitions.tag(partition);
  const { workerId, holds, checkpoint } = await readOwner(store, partition);
  const entries = Math.max(0, (await lastSequence(store, tag)) - checkpoint);
  const lagMs = entries === 0 ? 0 : await lagOf(store, tag, checkpoint + 1);
  return { owner: holds ? workerId : null, entries, lagMs };
}

const stampScript = new Script<Buffer | null>('partitions/stamp', 1, ['entity-heads']);

/** Number of entries to search for one with an entity, because invalidations have no time. */
const entriesSearched = 20;

/** Age of the current state of the first existing entity in the entries from a sequence on; 0 if there is none. */
async function lagOf(store: Store, tag: string, from: number): Promise<number> {
  const { client } = store;
  const entries = await answerOf(
    client.xrangeBuffer(keys.stream(tag), `${from}-0`, '+', 'COUNT', entriesSearched),
  );
  for (const [, fields] of entries) {
    const [name, packed] = fields;
    if (name?.toString() !== 'e' || packed === undefined) continue;
    const [tenant, sourceId, [originId]] = unpack<[string, string, string[]]>(packed);
    if (originId === undefined) continue;
    const stamp = await stampScript.run(client, [keys.entities(tag, tenant, sourceId)], [originId]);
    if (stamp !== null) return Math.max(0, Math.round(Date.now() - Number(stamp.toString()) / 1000));
  }
  return 0;
}

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
