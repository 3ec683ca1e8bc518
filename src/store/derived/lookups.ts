/**
 * Property indexes for lookups, and the dependents of their keys. Entries and dependents of a key are in the same partition.
 */

import type { Json } from '../../contract/json.ts';
import { largeJsonCharacters, parsed } from '../../contract/large-json/parse-in-parts.ts';
import { sliceMs } from '../../contract/limits.ts';
import { groupBy } from '../../lib/lists.ts';
import { Slice } from '../../lib/slices/slice.ts';
import type { LookupCandidate } from '../../schemas/lookup-layout.ts';
import { keys } from '../keys.ts';
import type { Caller } from '../ownership/lease.ts';
import { packForLua } from '../redis/lua-list.ts';
import { hashPortion, type ScannedPair, type ScanPlace } from '../redis/scan.ts';
import { OwnerScript } from '../redis/script.ts';
import type { SourceRef } from '../scopes.ts';
import type { Store } from '../store.ts';
import { changeMembers, scanMembers } from './member-hash.ts';

const touch = new OwnerScript<[number, Buffer[]][]>('derived/touch', 1);

/** Above this, dependents are scanned a portion at a time instead of listed in one reply. */
const dependentsListedMax = 1000;

/** Maximum number of writes in a Lua call, which blocks Redis. */
const writesPerCall = 500;
/** Maximum size of the projections that are packed and sent together, in characters. A single one may be larger. */
const charactersAtOnce = 1024 * 1024;

export const keysAskedPerCall = 100;

export interface LookupKey extends SourceRef {
  readonly lookupKey: string;
}

export interface IndexWrite extends LookupKey {
  readonly layoutId: string;
  readonly originId: string;
  /** Values in the order of the layout's projection, as JSON; null drops the entry. */
  readonly projection: string | null;
}

export interface Registration extends LookupKey {
  readonly action: 'add' | 'drop';
  readonly member: string;
}

/** The Redis keys of a lookup key's entries and dependents. */
export function redisKeysOf(
  store: Store,
  { tenant, sourceId, lookupKey }: LookupKey,
): { entries(layoutId: string): string; readonly dependents: string } {
  const tag = store.partitions.tag(partitionOf(store, { tenant, sourceId, lookupKey }));
  return {
    entries: (layoutId) => keys.lookup(tag, tenant, sourceId, layoutId, lookupKey),
    dependents: keys.dependents(tag, tenant, sourceId, lookupKey),
  };
}

function partitionOf(store: Store, { tenant, sourceId, lookupKey }: LookupKey): number {
  return store.partitions.ofText(`${tenant}:${sourceId}:${lookupKey}`);
}

function groupByPartition<T extends LookupKey>(store: Store, things: readonly T[]): Map<number, T[]> {
  return groupBy(things, (thing) => partitionOf(store, thing));
}

/** Members that depend on a touched key. */
export interface Touched<Key extends LookupKey> {
  readonly key: Key;
  readonly members: readonly string[];
}

/**
 * Publishes index writes, then yields the members that depend on the touched keys, in portions. The writes of a key are done
 * before its dependents are read.
 * @throws FencedError, StoreUnavailableError
 */
export async function* touchKeys<Key extends LookupKey>(
  store: Store,
  caller: Caller,
  writes: readonly IndexWrite[],
  touched: readonly Key[],
): AsyncGenerator<Touched<Key>[]> {
  const large: Key[] = [];
  for (const round of touchRounds(store, writes, touched)) {
    const listed: Touched<Key>[] = [];
    const ask = async ({ tag, entries, asked }: TouchCall<Key>): Promise<void> => {
      caller.reached?.add(tag);
      const replies = await touch.run(
        store.client,
        caller,
        [keys.fence(tag)],
        [
          caller.partition,
          caller.epoch,
          dependentsListedMax,
          packedHashes(tag, entries),
          packForLua(asked.map((key) => dependentsKey(tag, key))),
        ],
      );
      replies.forEach(([count, members], index) => {
        const key = asked[index];
        if (count > dependentsListedMax && key !== undefined) large.push(key);
        if (members.length > 0 && key !== undefined) {
          listed.push({ key, members: members.map((member) => member.toString()) });
        }
      });
    };
    for (let left = round; left.length > 0; ) {
      const size = sizeAtOnce(left, charactersOfCall);
      await Promise.all(left.slice(0, size).map(ask));
      left = left.slice(size);
    }
    if (listed.length > 0) yield listed;
  }
  for (const key of large) {
    for await (const members of scanMembers(store, redisKeysOf(store, key).dependents))
      yield [{ key, members }];
  }
}

interface TouchCall<Key> {
  readonly tag: string;
  readonly entries: IndexWrite[];
  readonly asked: Key[];
}

/**
 * Calls of bounded size, one per partition and round. The writes of a partition go first; its reads go with the last writes and
 * after them.
 */
function touchRounds<Key extends LookupKey>(
  store: Store,
  writes: readonly IndexWrite[],
  touched: readonly Key[],
): TouchCall<Key>[][] {
  const writeGroups = groupByPartition(store, writes);
  const questionGroups = groupByPartition(store, touched);
  const rounds: TouchCall<Key>[][] = [];
  for (const partition of new Set([...writeGroups.keys(), ...questionGroups.keys()])) {
    const tag = store.partitions.tag(partition);
    const entries = writeGroups.get(partition) ?? [];
    const asked = questionGroups.get(partition) ?? [];
    for (let round = 0; entries.length > 0 || asked.length > 0; round += 1) {
      const most = sizeAtOnce(entries.slice(0, writesPerCall), charactersOfWrite);
      const written = entries.splice(0, most);
      const call = {
        tag,
        entries: written,
        asked: entries.length > 0 ? [] : asked.splice(0, keysAskedPerCall),
      };
      const calls = rounds[round];
      if (calls === undefined) rounds[round] = [call];
      else calls.push(call);
    }
  }
  return rounds;
}

function charactersOfWrite({ projection }: IndexWrite): number {
  return projection?.length ?? 0;
}

function charactersOfCall({ entries }: { readonly entries: readonly IndexWrite[] }): number {
  return entries.reduce((sum, write) => sum + charactersOfWrite(write), 0);
}

/** Number of leading items within the size limit, at least one. */
function sizeAtOnce<T>(things: readonly T[], charactersOf: (thing: T) => number): number {
  let characters = 0;
  for (const [at, thing] of things.entries()) {
    characters += charactersOf(thing);
    if (characters > charactersAtOnce) return Math.max(1, at);
  }
  return things.length;
}

/** Packed for `scripts/derived/touch.lua`, grouped because entities of a batch often have the same key. */
function packedHashes(tag: string, writes: readonly IndexWrite[]): Buffer {
  const hashes = groupBy(writes, ({ tenant, sourceId, layoutId, lookupKey }) =>
    keys.lookup(tag, tenant, sourceId, layoutId, lookupKey),
  );
  return packForLua(
    [...hashes].map(([key, entries]) => {
      const drops: string[] = [];
      const sets: string[] = [];
      for (const { originId, projection } of entries) {
        if (projection === null) drops.push(originId);
        else sets.push(originId, projection);
      }
      return [key, drops, sets];
    }),
  );
}

function dependentsKey(tag: string, { tenant, sourceId, lookupKey }: LookupKey): string {
  return keys.dependents(tag, tenant, sourceId, lookupKey);
}

/** Adds and drops dependents. Callers do this before they read the lookup. @throws FencedError, StoreUnavailableError */
export async function registerDependents(
  store: Store,
  caller: Caller,
  registrations: readonly Registration[],
): Promise<void> {
  await Promise.all(
    [...groupByPartition(store, registrations)].map(([partition, group]) => {
      const tag = store.partitions.tag(partition);
      const changes = group.map(({ action, member, ...lookup }) => ({
        action,
        key: dependentsKey(tag, lookup),
        member,
      }));
      return changeMembers(store, caller, partition, changes);
    }),
  );
}

/** Dependents of a key, up to about `most`. @throws StoreUnavailableError */
export async function readDependents(store: Store, key: LookupKey, most: number): Promise<string[]> {
  const found: string[] = [];
  for await (const members of scanMembers(store, redisKeysOf(store, key).dependents)) {
    found.push(...members);
    if (found.length >= most) break;
  }
  return found;
}

/**
 * Approximate number of entries per portion: it takes a millisecond in Redis, and a few in the reader. Most lookup keys have
 * fewer.
 */
const candidatesPerPortion = 2000;
/** Entries of one lookup key. */
export interface CandidatePortion {
  readonly size: number;
  /** Decoded lazily. */
  readonly candidates: Iterable<LookupCandidate>;
}

/**
 * All entries of the keys, in portions, so that a whole type of entities blocks neither Redis nor the reader. An entry may be
 * returned several times, in particular if it has several of the keys. For an entry that changes meanwhile, either state may be
 * returned, because the dependent is registered and will be invalidated.
 * @throws StoreUnavailableError
 */
export async function* candidatePortions(
  store: Store,
  layoutId: string,
  lookupKeys: readonly LookupKey[],
): AsyncGenerator<CandidatePortion> {
  const slice = new Slice(sliceMs);
  const hashes = lookupKeys.map((key) => redisKeysOf(store, key).entries(layoutId));
  for (let at = 0; at < hashes.length; at += keysAskedPerCall) {
    const asked = hashes.slice(at, at + keysAskedPerCall);
    const read = (key: string, place: ScanPlace | null) =>
      hashPortion(store, key, place, candidatesPerPortion);
    const portions = await Promise.all(asked.map((key) => read(key, null)));
    for (const [index, key] of asked.entries()) {
      for (let portion = portions[index]; portion !== undefined; ) {
        const { pairs, next } = portion;
        const small = pairs.filter(([, projection]) => projection.length <= largeJsonCharacters);
        if (small.length > 0) yield { size: small.length, candidates: decodeCandidates(small) };
        // Sequentially, because each may have megabytes.
        for (const [originId, projection] of pairs) {
          if (projection.length <= largeJsonCharacters) continue;
          const values = await slice.whole(() => parsed(projection.toString()));
          yield { size: 1, candidates: [{ originId: originId.toString(), values: values as Json[] }] };
        }
        portion = next === null ? undefined : await read(key, next);
      }
    }
  }
}

/** All results of `candidatePortions`. @throws StoreUnavailableError */
export async function readCandidates(
  store: Store,
  layoutId: string,
  lookupKeys: readonly LookupKey[],
): Promise<LookupCandidate[]> {
  const found: LookupCandidate[] = [];
  for await (const { candidates } of candidatePortions(store, layoutId, lookupKeys)) {
    for (const candidate of candidates) found.push(candidate);
  }
  return found;
}

function* decodeCandidates(pairs: readonly ScannedPair[]): Generator<LookupCandidate> {
  for (const [originId, projection] of pairs) {
    yield { originId: originId.toString(), values: JSON.parse(projection.toString()) as Json[] };
  }
}
