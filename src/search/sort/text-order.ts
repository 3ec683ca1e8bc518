/** Compares texts, which may have megabytes: by code points, or by the rules of a locale. */
import { compareCodePoints } from '../../lib/code-points.ts';
import { workBudget } from '../../lib/cooperative-yield.ts';

/** Like `compareCodePoints`, and adds the cost of long texts to the work budget. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  return compareCodePoints(a, b, length > blockUnits ? equalBlocksUnits(a, b, length) : 0);
}

/** Long texts are compared in blocks while these are equal, which is much faster than by unit. */
const blockUnits = 4096;

/** Number of units at the beginning that are certainly equal. */
function equalBlocksUnits(a: string, b: string, length: number): number {
  let equal = 0;
  while (equal + blockUnits <= length) {
    const end = equal + blockUnits;
    if (a.slice(equal, end) !== b.slice(equal, end)) break;
    equal = end;
  }
  workBudget.units += equal;
  return equal;
}

const prefixBytes = 6;
const prefixBuffer = new Uint8Array(prefixBytes + 3);

/**
 * The first six bytes of the text's UTF-8 as one number. UTF-8 preserves code-point order, so different prefixes determine the
 * order of texts.
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

/** Writes a code point, which may be an unpaired surrogate. @returns the offset of the next one */
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

/** One per tag, because creating a collator costs as much as thousands of comparisons. */
const collators = new Map<string, Intl.Collator>();

/** Compares by the rules of a locale, with numbers in a text by value, then by code points. */
export function compareCollated(tag: string, a: string, b: string): number {
  let collator = collators.get(tag);
  if (collator === undefined) {
    collator = new Intl.Collator(tag, { numeric: true });
    collators.set(tag, collator);
  }
  return collator.compare(a, b) || compareText(a, b);
}
