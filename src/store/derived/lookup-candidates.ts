/** Reads the entries of lookup keys. */

import type { Json } from '../../contract/json.ts';
import { largeJsonCharacters, parsed } from '../../contract/large-json/parse-in-parts.ts';
import { sliceMs } from '../../contract/limits.ts';
import { Slice } from '../../lib/slices/slice.ts';
import type { LookupCandidate } from '../../schemas/lookup-layout.ts';
import { hashPortion, type ScannedPair, type ScanPlace } from '../redis/scan.ts';
import type { Store } from '../store.ts';
import { keysAskedPerCall, type LookupKey, redisKeysOf } from './lookups.ts';

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
