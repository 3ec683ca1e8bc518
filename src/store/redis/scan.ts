/**
 * Scans that skip nothing when Redis restarts. A cursor of HSCAN, ZSCAN or SCAN means something only to the server process
 * that gave it. Every process spreads fields in another way, and with a foreign cursor it silently passes over many of them.
 * So each portion names its process, and a scan begins again when another process continues with it.
 */
import type { Redis } from 'ioredis';
import type { Store } from '../store.ts';
import { storeError } from './redis-errors.ts';
import { Script } from './script.ts';
import { sendRaw } from './send.ts';

const serverScript = new Script<Buffer>('redis/server', 1);
const fieldsScript = new Script<[server: Buffer, cursor: Buffer, fields: Buffer[]]>('redis/fields', 1);

/** Where a scan continues. */
export interface ScanPlace {
  readonly cursor: string;
  /** Process that gave the cursor. */
  readonly server: string;
}

export interface ScannedPortion {
  readonly pairs: readonly ScannedPair[];
  /** Null when this was the last portion. */
  readonly next: ScanPlace | null;
}

/** A field and its value; of a sorted set a member and its score. */
export type ScannedPair = readonly [name: Buffer, value: Buffer];

/** All portions of a scan, from its beginning. @param read gives the portion at a place. @throws what `read` throws */
export async function* portionsFrom<Portion extends { readonly next: ScanPlace | null }>(
  read: (place: ScanPlace | null) => Promise<Portion>,
): AsyncGenerator<Portion> {
  let place: ScanPlace | null = null;
  do {
    const portion: Portion = await read(place);
    yield portion;
    place = portion.next;
  } while (place !== null);
}

/**
 * Some fields of a hash, about `count`. What stays during the whole scan is in one of its portions at least, and may be
 * in several. @param place null: from the beginning. @throws StoreUnavailableError
 */
export async function hashPortion(
  store: Store,
  key: string,
  place: ScanPlace | null,
  count: number,
): Promise<ScannedPortion> {
  return await portion(store, 'HSCAN', key, place, count);
}

export interface FieldsPortion {
  readonly fields: readonly Buffer[];
  /** Null when this was the last portion. */
  readonly next: ScanPlace | null;
}

/** As `hashPortion`, without the values: of a hash whose values may be large. @throws StoreUnavailableError */
export async function fieldsPortion(
  store: Store,
  key: string,
  place: ScanPlace | null,
  count: number,
): Promise<FieldsPortion> {
  const from = [place?.cursor ?? '0', place?.server ?? '', count];
  const [server, cursor, fields] = await fieldsScript.run(store.client, [key], from);
  const next = cursor.toString();
  return { fields, next: next === '0' ? null : { cursor: next, server: server.toString() } };
}

/** As `hashPortion`, of a sorted set. @throws StoreUnavailableError */
export async function sortedPortion(
  store: Store,
  key: string,
  place: ScanPlace | null,
  count: number,
): Promise<ScannedPortion> {
  return await portion(store, 'ZSCAN', key, place, count);
}

/**
 * Names of the keys of one node that fit a pattern, a portion at a time; begins again when the node is restarted
 * meanwhile. @throws StoreUnavailableError
 */
export async function* keyNames(node: Redis, pattern: string, count: number): AsyncGenerator<string[]> {
  try {
    for (let server = await serverOf(node); ; ) {
      let cursor = '0';
      do {
        const [next, found] = await node.scan(cursor, 'MATCH', pattern, 'COUNT', count);
        cursor = next;
        yield found;
      } while (cursor !== '0');
      const after = await serverOf(node);
      if (after === server) return;
      server = after;
    }
  } catch (error) {
    throw storeError(error);
  }
}

async function serverOf(node: Redis): Promise<string> {
  return /run_id:(\w+)/.exec(await node.info('server'))?.[1] ?? '';
}

type ScanReply = [cursor: Buffer, pairs: Buffer[]];

async function portion(
  store: Store,
  command: 'HSCAN' | 'ZSCAN',
  key: string,
  place: ScanPlace | null,
  count: number,
): Promise<ScannedPortion> {
  try {
    const scan = (cursor: string) => sendRaw(store.client, command, [key, cursor, 'COUNT', count]);
    if (place === null) {
      // Mostly one reply has everything: then no cursor is needed that could be foreign.
      const [cursor, pairs] = (await scan('0')) as ScanReply;
      if (cursor.toString() === '0') return { pairs: pairsIn(pairs), next: null };
    }
    // In this order: when the same process answers before and after, it has answered in between.
    const [before, reply, after] = await Promise.all([
      serverScript.run(store.client, [key], []),
      scan(place?.cursor ?? '0'),
      serverScript.run(store.client, [key], []),
    ]);
    const [cursor, pairs] = reply as ScanReply;
    const server = after.toString();
    const isOne = before.equals(after) && (place === null || place.server === server);
    if (!isOne) return { pairs: pairsIn(pairs), next: { cursor: '0', server } };
    const next = cursor.toString();
    return { pairs: pairsIn(pairs), next: next === '0' ? null : { cursor: next, server } };
  } catch (error) {
    throw storeError(error);
  }
}

function pairsIn(flat: readonly Buffer[]): ScannedPair[] {
  const pairs: ScannedPair[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const [name, value] = [flat[at], flat[at + 1]];
    if (name !== undefined && value !== undefined) pairs.push([name, value]);
  }
  return pairs;
}
