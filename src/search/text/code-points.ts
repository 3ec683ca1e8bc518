import { compareCodePoints } from '../../lib/code-points.ts';
import { pace } from '../pace.ts';

/** Order of texts by code points, for values that may be megabytes long. */

/** As `compareCodePoints`, paced. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  return compareCodePoints(a, b, length > blockUnits ? equalBlocksUnits(a, b, length) : 0);
}

/** Long texts are compared by whole blocks as far as they are equal, which is much faster than unit by unit. */
const blockUnits = 4096;

/** Units from the beginning that are equal for sure. */
function equalBlocksUnits(a: string, b: string, length: number): number {
  let equal = 0;
  while (equal + blockUnits <= length) {
    const end = equal + blockUnits;
    if (a.slice(equal, end) !== b.slice(equal, end)) break;
    equal = end;
  }
  pace.units += equal;
  return equal;
}

const prefixBytes = 6;
const prefixBuffer = new Uint8Array(prefixBytes + 3);

/**
 * The first six bytes of the text's UTF-8 as one number. UTF-8 keeps the order of code points, so texts with
 * different prefixes are ordered by them; equal prefixes say nothing.
 */
export function orderPrefix(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length && bytes < prefixBytes; at += 1) {
    const codePoint = text.codePointAt(at) ?? 0;
    if (codePoint > 0xffff) at += 1;
    bytes = writeUtf8(codePoint, bytes);
  }
  let prefix = 0;
  for (let at = 0; at < prefixBytes; at += 1)
    prefix = prefix * 256 + (at < bytes ? (prefixBuffer[at] ?? 0) : 0);
  return prefix;
}

/** Writes a code point, half of a pair or not, and returns where the next one goes. */
function writeUtf8(codePoint: number, at: number): number {
  if (codePoint < 0x80) {
    prefixBuffer[at] = codePoint;
    return at + 1;
  }
  if (codePoint < 0x800) {
    prefixBuffer[at] = 0xc0 | (codePoint >> 6);
    prefixBuffer[at + 1] = 0x80 | (codePoint & 0x3f);
    return at + 2;
  }
  if (codePoint < 0x10000) {
    prefixBuffer[at] = 0xe0 | (codePoint >> 12);
    prefixBuffer[at + 1] = 0x80 | ((codePoint >> 6) & 0x3f);
    prefixBuffer[at + 2] = 0x80 | (codePoint & 0x3f);
    return at + 3;
  }
  prefixBuffer[at] = 0xf0 | (codePoint >> 18);
  prefixBuffer[at + 1] = 0x80 | ((codePoint >> 12) & 0x3f);
  prefixBuffer[at + 2] = 0x80 | ((codePoint >> 6) & 0x3f);
  prefixBuffer[at + 3] = 0x80 | (codePoint & 0x3f);
  return at + 4;
}
