/** The head of entity records; see `scripts/parts/entity-heads.lua`. Type, url and body follow. */
import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { StoredEntity } from '../../contract/entity.ts';

/** `performance` does not follow changes of the system clock. If the two clocks differ by more than this, use `Date`. */
const apartMs = 2;

let lastStamp = 0;

/** Microseconds since 1970, increasing with every call: of two writes of one front, the later has the later stamp. */
function nextStamp(): number {
  lastStamp = Math.max(lastStamp + 1, Math.floor(1000 * fineNowMs()));
  return lastStamp;
}

/** More precise than a millisecond, because two fronts on a machine can accept successive writes within one. */
function fineNowMs(): number {
  const [fineMs, dateMs] = [performance.timeOrigin + performance.now(), Date.now()];
  return Math.abs(fineMs - dateMs) < apartMs ? fineMs : dateMs;
}

const tokenBytes = 8;
const tokenAt = 16;
/** Offset of the number of stamps, which the stamps follow. */
const stampsAt = tokenAt + tokenBytes;
const stampBytes = 8;

interface Hashed {
  readonly contentHash: Buffer;
}

type Stamps = Pick<StoredEntity, 'stamp' | 'bornStamp' | 'urlStamp'>;

/**
 * Heads for the entities of one request. Stamps increase in the order of the request, across partitions. So the later of two
 * claims in a request has the later stamp.
 */
export function recordHeadsOf(entities: readonly Hashed[]): Buffer[] {
  const token = randomBytes(tokenBytes);
  const all = Buffer.allocUnsafe(headBytes(1) * entities.length);
  return entities.map(({ contentHash }, index) => {
    const head = all.subarray(index * headBytes(1), (index + 1) * headBytes(1));
    return writeHead(head, contentHash, token, [nextStamp()]);
  });
}

/** Never used by a call that accepts entities. */
const noToken = Buffer.alloc(tokenBytes);

/** The head of a restored entity with its original stamps. */
export function restoredHead({ contentHash }: Hashed, stamps: Stamps): Buffer {
  const written = writtenStamps(stamps);
  return writeHead(Buffer.alloc(headBytes(written.length)), contentHash, noToken, written);
}

/** Leaves out the last stamps if they equal the ones before them. */
function writtenStamps({ stamp, bornStamp, urlStamp }: Stamps): number[] {
  if (urlStamp !== bornStamp) return [stamp, bornStamp, urlStamp];
  return bornStamp === stamp ? [stamp] : [stamp, bornStamp];
}

/** @param stamps number of stamps in the head */
function headBytes(stamps: number): number {
  return stampsAt + 1 + stamps * stampBytes;
}

function writeHead(head: Buffer, contentHash: Buffer, token: Buffer, stamps: readonly number[]): Buffer {
  contentHash.copy(head, 0);
  token.copy(head, tokenAt);
  head[stampsAt] = stamps.length;
  for (const [at, stamp] of stamps.entries()) head.writeDoubleBE(stamp, headBytes(at));
  return head;
}

/** The stamps of a record, and the offset of its type. */
export function readStamps(record: Buffer): { readonly stamps: Stamps; readonly typeAt: number } {
  const count = record[stampsAt] ?? 0;
  const stamp = record.readDoubleBE(headBytes(0));
  const bornStamp = count > 1 ? record.readDoubleBE(headBytes(1)) : stamp;
  const urlStamp = count > 2 ? record.readDoubleBE(headBytes(2)) : bornStamp;
  return { stamps: { stamp, bornStamp, urlStamp }, typeAt: headBytes(count) };
}
