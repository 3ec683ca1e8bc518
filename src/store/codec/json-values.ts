/** Scans UTF-8 bytes of JSON from `JSON.stringify`, without parsing or validation. */

export const quote = 0x22;
export const comma = 0x2c;
export const colon = 0x3a;
export const openBracket = 0x5b;
export const closeBracket = 0x5d;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;
const backslash = 0x5c;

/** Offset of the end of a value: the comma or bracket after it. */
export function endOfValue(bytes: Buffer, from: number): number {
  let depth = 0;
  let at = from;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) at = endOfText(bytes, at);
    else if (byte === openBracket || byte === openBrace) depth += 1;
    else if (byte === closeBracket || byte === closeBrace) {
      if (depth === 0) break;
      depth -= 1;
    } else if (byte === comma && depth === 0) break;
  }
  return at;
}

/** Offset of the closing quote of a string. @param from its opening quote */
export function endOfText(bytes: Buffer, from: number): number {
  let at = from + 1;
  for (; at < bytes.length && bytes[at] !== quote; at += 1) if (bytes[at] === backslash) at += 1;
  return at;
}

const keysOfLists = new WeakMap<readonly string[], readonly Buffer[]>();

/** The encoded member names, with colons. @param names a list that never changes */
export function keysOf(names: readonly string[]): readonly Buffer[] {
  const known = keysOfLists.get(names);
  if (known !== undefined) return known;
  const keys = names.map((name) => Buffer.from(`${JSON.stringify(name)}:`));
  keysOfLists.set(names, keys);
  return keys;
}
