/** What entity records begin with; see `scripts/parts/entity-heads.lua`. The type and the body follow. */
import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { StoredEntity } from '../../contract/entity.ts';
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
/** Where the three stamps of a record begin. */
export const stampsAt = 32;
const stampBytes = 8;
export const bornStampAt = stampsAt + stampBytes;
export const urlStampAt = bornStampAt + stampBytes;
/** Where the type begins. */
export const typeAt = urlStampAt + stampBytes;

/**
 * Heads for the entities of one request. Stamps rise in the order of the request, whatever partitions its entities go to.
 * So the later of two claims in a request has the later stamp.
 */
export function recordHeadsOf(entities: readonly EncodedEntity[]): Buffer[] {
  const token = randomBytes(tokenBytes);
  const all = Buffer.allocUnsafe(typeAt * entities.length);
  return entities.map((entity, index) => {
    const stamp = nextStamp();
    const head = all.subarray(index * typeAt, (index + 1) * typeAt);
    return writeHead(head, entity, token, { stamp, bornStamp: stamp, urlStamp: stamp });
  });
}

/** No call that accepts entities has this token. */
const noToken = Buffer.alloc(tokenBytes);

/** The head of an entity that is put back with the stamps that it had. */
export function restoredHead(entity: EncodedEntity, stamps: Stamps): Buffer {
  return writeHead(Buffer.alloc(typeAt), entity, noToken, stamps);
}

type Stamps = Pick<StoredEntity, 'stamp' | 'bornStamp' | 'urlStamp'>;

function writeHead(
  head: Buffer,
  { contentHash, urlHash }: EncodedEntity,
  token: Buffer,
  { stamp, bornStamp, urlStamp }: Stamps,
): Buffer {
  contentHash.copy(head, 0);
  token.copy(head, 16);
  urlHash.copy(head, 24);
  head.writeDoubleBE(stamp, stampsAt);
  head.writeDoubleBE(bornStamp, bornStampAt);
  head.writeDoubleBE(urlStamp, urlStampAt);
  return head;
}
