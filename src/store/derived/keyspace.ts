/** Scans the keys of a store, which is the only way to find data without records. */
import { mastersOf } from '../redis/redis-connection.ts';
import { answerOf } from '../redis/redis-errors.ts';
import { hashPortion, keyNames, portionsFrom } from '../redis/scan.ts';
import type { Store } from '../store.ts';

const keysPerScan = 1000;
const fieldsPerScan = 200;

/** Kinds of keys with data that was built from entities. */
export type StoredKind = 'views' | 'items' | 'claims' | 'ranks' | 'routes' | 'lookup' | 'log';

export interface StoredKey {
  readonly key: string;
  readonly kind: StoredKind;
  readonly tenant: string;
  /** Environment id; for `lookup` the source id. */
  readonly scope: string;
  /**
   * Source id for `views`; source id and index name for `items`, layout id and lookup key for `lookup`, separated by a colon;
   * the URL form for `routes`; otherwise empty.
   */
  readonly rest: string;
}

const keyPattern = /^\{p\d+\.\d+\}:(views|items|claims|ranks|routes|lookup|log):([^:]*):([^:]*)(?::(.*))?$/s;

/** Null for a key of another kind. */
function parseKey(key: string): StoredKey | null {
  const [, kind, tenant, scope, rest = ''] = keyPattern.exec(key) ?? [];
  if (kind === undefined || tenant === undefined || scope === undefined) return null;
  return { key, kind: kind as StoredKind, tenant, scope, rest };
}

/** In portions; like SCAN, it may return a key twice. @throws StoreUnavailableError */
export async function* scanStoredKeys(store: Store): AsyncGenerator<StoredKey[]> {
  for await (const found of scanKeyNames(store, '{p*')) {
    const parsed = found.map(parseKey).filter((key) => key !== null);
    if (parsed.length > 0) yield parsed;
  }
}

/** Names of keys that match a Redis pattern. @throws StoreUnavailableError */
export async function* scanKeyNames(store: Store, pattern: string): AsyncGenerator<string[]> {
  for (const node of mastersOf(store.client)) yield* keyNames(node, pattern, keysPerScan);
}

/** Fields and values of a hash, in portions. @throws StoreUnavailableError */
export async function* scanFields(
  store: Store,
  key: string,
): AsyncGenerator<{ readonly field: string; readonly value: Buffer }[]> {
  for await (const { pairs } of portionsFrom((place) => hashPortion(store, key, place, fieldsPerScan))) {
    if (pairs.length > 0) yield pairs.map(([field, value]) => ({ field: field.toString(), value }));
  }
}

/** Members of a sorted set, in portions. @throws StoreUnavailableError */
export async function* scanSorted(store: Store, key: string): AsyncGenerator<string[]> {
  for await (const { pairs } of portionsFrom((place) =>
    hashPortion(store, key, place, fieldsPerScan, 'ZSCAN'),
  )) {
    if (pairs.length > 0) yield pairs.map(([member]) => member.toString());
  }
}

/** Whether a sorted set contains each of the members, in the given order. @throws StoreUnavailableError */
export async function hasSorted(store: Store, key: string, members: readonly string[]): Promise<boolean[]> {
  if (members.length === 0) return [];
  return (await answerOf(store.client.zmscore(key, ...members))).map((score) => score !== null);
}
