/** Compares and counts strings by code points, which differ from UTF-16 units in order and number. */

/**
 * Compares two strings: negative, 0 or positive. UTF-16 order differs only between a surrogate and a higher unit.
 * @param from number of leading UTF-16 units that are known to be equal
 */
export function compareCodePoints(a: string, b: string, from = 0): number {
  const length = Math.min(a.length, b.length);
  for (let at = from; at < length; at += 1) {
    const unitA = a.charCodeAt(at);
    const unitB = b.charCodeAt(at);
    if (unitA === unitB) continue;
    if (unitA < 0xd800 || unitB < 0xd800) return unitA - unitB;
    // Go back to the start of a pair whose high surrogates are equal.
    const start = at > 0 && isHighSurrogate(a.charCodeAt(at - 1)) && isPairAt(a, b, at - 1) ? at - 1 : at;
    return (a.codePointAt(start) ?? 0) - (b.codePointAt(start) ?? 0);
  }
  return a.length - b.length;
}

function isPairAt(a: string, b: string, at: number): boolean {
  return isLowSurrogate(a.charCodeAt(at + 1)) || isLowSurrogate(b.charCodeAt(at + 1));
}

export function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

export function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** Number of code points; an unpaired surrogate counts as one. */
export function countCodePoints(text: string): number {
  let count = text.length;
  for (let at = 0; at + 1 < text.length; at += 1) {
    if (!isHighSurrogate(text.charCodeAt(at)) || !isLowSurrogate(text.charCodeAt(at + 1))) continue;
    count -= 1;
    at += 1;
  }
  return count;
}

/** Counts only if needed, because a string never has more code points than UTF-16 units. */
export function hasMoreCodePoints(text: string, than: number): boolean {
  // A code point has at most two UTF-16 units.
  return text.length > 2 * than || (text.length > than && countCodePoints(text) > than);
}
