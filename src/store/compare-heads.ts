/** What compare records of entities that are sent begin with; see `scripts/accept.lua`. */
import { randomBytes } from 'node:crypto';
import type { EncodedEntity } from './types.ts';

let lastStamp = 0;

/** Microseconds since 1970, rising with every call, so that of two writes of one front the later has the later stamp. */
function nextStamp(): number {
  lastStamp = Math.max(lastStamp + 1, Date.now() * 1000);
  return lastStamp;
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
