/** The heads of compare records; see `scripts/entities/accept.lua`. */
import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { EncodedEntity } from './entity-record.ts';

/** `performance` does not notice that somebody sets the clock. When the two differ by more than this, `Date` is right. */
const apartMs = 2;

let lastStamp = 0;

/** Microseconds since 1970, rising with every call: the later of two writes of one front has the later stamp. */
function nextStamp(): number {
  lastStamp = Math.max(lastStamp + 1, Math.floor(1000 * fineNowMs()));
  return lastStamp;
}

/** Finer than a millisecond: within one, two fronts of a machine can take two writes, one after the other. */
function fineNowMs(): number {
  const [fineMs, dateMs] = [performance.timeOrigin + performance.now(), Date.now()];
  return Math.abs(fineMs - dateMs) < apartMs ? fineMs : dateMs;
}

const tokenBytes = 8;
const headBytes = 56;
/** Where the three stamps of a head begin. The stored entity begins with the same stamps. */
export const stampsAt = 32;
const stampBytes = 8;

/**
 * Heads for the entities of one request. Stamps rise in the order of the request, whatever partitions its entities go to.
 * So the later of two claims in a request has the later stamp.
 */
export function compareHeadsOf(entities: readonly EncodedEntity[]): Buffer[] {
  const token = randomBytes(tokenBytes);
  const all = Buffer.allocUnsafe(headBytes * entities.length);
  return entities.map(({ contentHash, urlHash }, index) => {
    const head = all.subarray(index * headBytes, (index + 1) * headBytes);
    contentHash.copy(head, 0);
    token.copy(head, 16);
    urlHash.copy(head, 24);
    head.writeDoubleBE(nextStamp(), stampsAt);
    head.copyWithin(stampsAt + stampBytes, stampsAt, stampsAt + stampBytes);
    head.copyWithin(stampsAt + 2 * stampBytes, stampsAt, stampsAt + stampBytes);
    return head;
  });
}
