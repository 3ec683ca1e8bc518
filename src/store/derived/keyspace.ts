/** Finds what a store holds by its keys. Only this shows what no record knows of. */
import { Redis } from 'ioredis';
import type { RedisClient } from '../redis/redis-connection.ts';
import { answerOf } from '../redis/redis-errors.ts';
import { hashPortion, keyNames, portionsFrom, sortedPortion } from '../redis/scan.ts';
import type { Store } from '../store.ts';

const keysPerScan = 1000;
const fieldsPerScan = 200;

/** Kinds of keys that hold what was built from entities. */
export type StoredKind = 'views' | 'items' | 'claims' | 'ranks' | 'routes' | 'lookup' | 'log';

export interface StoredKey {
  readonly key: string;
  readonly kind: StoredKind;
  readonly tenant: string;
  /** Environment id; for `lookup` the source id. */
  readonly scope: string;
  /**
   * Source id for `views`; source id and index name for `items`, layout id and lookup key for `lookup`, with a colon between
   * them; for `routes` the form of URLs; else empty.
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

/** A portion at a time; as SCAN, a key may come twice. @throws StoreUnavailableError */
export async function* scanStoredKeys(store: Store): AsyncGenerator<StoredKey[]> {
  for await (const found of scanKeyNames(store, '{p*')) {
    const parsed = found.map(parseKey).filter((key) => key !== null);
    if (parsed.length > 0) yield parsed;
  }
}

/** Names of keys that fit a pattern of Redis. @throws StoreUnavailableError */
export async function* scanKeyNames(store: Store, pattern: string): AsyncGenerator<string[]> {
  for (const node of nodesOf(store.client)) yield* keyNames(node, pattern, keysPerScan);
}

function nodesOf(client: RedisClient): Redis[] {
  return client instanceof Redis ? [client] : client.nodes('master');
}

/** Fields and values of a hash, a portion at a time. @throws StoreUnavailableError */
export async function* scanFields(
  store: Store,
  key: string,
): AsyncGenerator<{ readonly field: string; readonly value: Buffer }[]> {
  for await (const { pairs } of portionsFrom((place) => hashPortion(store, key, place, fieldsPerScan))) {
    if (pairs.length > 0) yield pairs.map(([field, value]) => ({ field: field.toString(), value }));
  }
}

/** Members of a sorted set, a portion at a time. @throws StoreUnavailableError */
export async function* scanSorted(store: Store, key: string): AsyncGenerator<string[]> {
  for await (const { pairs } of portionsFrom((place) => sortedPortion(store, key, place, fieldsPerScan))) {
    if (pairs.length > 0) yield pairs.map(([member]) => member.toString());
  }
}

/** Which of the members a sorted set has, in the order given. @throws StoreUnavailableError */
export async function hasSorted(store: Store, key: string, members: readonly string[]): Promise<boolean[]> {
  if (members.length === 0) return [];
  return (await answerOf(store.client.zmscore(key, ...members))).map((score) => score !== null);
}
