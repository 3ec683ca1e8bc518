/**
 * Scans that skip nothing if Redis restarts. A cursor of HSCAN, ZSCAN or SCAN is only valid in the server process that created
 * it. Each process hashes fields differently, and with a cursor of another process it silently skips many of them. So each
 * portion names its server process, and a scan restarts when the process changes.
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
  /** Server process of the cursor. */
  readonly server: string;
}

export interface ScannedPortion {
  readonly pairs: readonly ScannedPair[];
  /** Null after the last portion. */
  readonly next: ScanPlace | null;
}

/** A field and its value, or a member of a sorted set and its score. */
export type ScannedPair = readonly [name: Buffer, value: Buffer];

/**
 * Yields all portions of a scan.
 * @param read reads the portion at a scan position
 * @throws what `read` throws
 */
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

type ScanReply = [cursor: Buffer, pairs: Buffer[]];

/**
 * Some fields of a hash, or members of a sorted set with `ZSCAN`, about `count`. Those that exist during the whole scan are in at
 * least one of its portions, possibly in several.
 * @param place null: from the beginning
 * @throws StoreUnavailableError
 */
export async function hashPortion(
  store: Store,
  key: string,
  place: ScanPlace | null,
  count: number,
  command: 'HSCAN' | 'ZSCAN' = 'HSCAN',
): Promise<ScannedPortion> {
  try {
    const scan = (cursor: string) => sendRaw(store.client, command, [key, cursor, 'COUNT', count]);
    if (place === null) {
      // Usually one reply has everything. Then no cursor is needed.
      const [cursor, pairs] = (await scan('0')) as ScanReply;
      if (cursor.toString() === '0') return { pairs: pairsIn(pairs), next: null };
    }
    // The order matters: if the same process replies before and after, it also did in between.
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

export interface FieldsPortion {
  readonly fields: readonly Buffer[];
  /** Null after the last portion. */
  readonly next: ScanPlace | null;
}

/** Like `hashPortion`, but without the values, which may be large. @throws StoreUnavailableError */
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

/**
 * Yields the names of the keys of one node that match a pattern, in portions; starts over if the node restarts meanwhile.
 * @throws StoreUnavailableError
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

function pairsIn(flat: readonly Buffer[]): ScannedPair[] {
  const pairs: ScannedPair[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const [name, value] = [flat[at], flat[at + 1]];
    if (name !== undefined && value !== undefined) pairs.push([name, value]);
  }
  return pairs;
}
