/** What compare records of entities that are sent begin with; see `scripts/entities/accept.lua`. */
import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { EncodedEntity } from './entity-record.ts';

/** `performance` does not hear of a clock that is set: so far apart, it is `Date` that is right. */
const apartMs = 2;

let lastStamp = 0;

/** Microseconds since 1970, rising with every call, so that of two writes of one front the later has the later stamp. */
function nextStamp(): number {
  lastStamp = Math.max(lastStamp + 1, Math.floor(1000 * fineNowMs()));
  return lastStamp;
}

/** Two fronts of one machine can take two writes, one after the other, within a millisecond. */
function fineNowMs(): number {
  const [fineMs, dateMs] = [performance.timeOrigin + performance.now(), Date.now()];
  return Math.abs(fineMs - dateMs) < apartMs ? fineMs : dateMs;
}

const tokenBytes = 8;
const headBytes = 56;
/** Where its three stamps begin, which the stored entity begins with too. */
export const stampsAt = 32;
const stampBytes = 8;

/**
 * Of the entities of one request. Stamps rise in its order, whatever partitions its entities go to: of two claims in it
 * the later one is the latest.
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
