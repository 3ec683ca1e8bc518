/**
 * Shortens ids of sources and environments, which are mostly UUIDs and repeated in records, to two thirds of their length. The
 * short form is text, because scripts compare it and use it in names.
 */
import { BoundedCache } from '../../lib/bounded-cache.ts';

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** The prefix of a shortened UUID, and of any other id that begins with it. */
const mark = '~';
const idsKept = 1_000;
/** There are few ids, and each record has one, so converting them every time would be slow. */
const shortened = new BoundedCache<string, string>({ entriesMax: idsKept });
const lengthened = new BoundedCache<string, string>({ entriesMax: idsKept });

/** The form of an id in records, which is unique. */
export function shortId(id: string): string {
  return shortened.getOrCreate(id, () => {
    if (uuidPattern.test(id)) return mark + Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');
    return id.startsWith(mark) ? mark + id : id;
  });
}

/** @param short from `shortId` */
export function longId(short: string): string {
  if (!short.startsWith(mark)) return short;
  if (short.startsWith(mark + mark)) return short.slice(mark.length);
  return lengthened.getOrCreate(short, () => {
    const digits = Buffer.from(short.slice(mark.length), 'base64url').toString('hex');
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  });
}
