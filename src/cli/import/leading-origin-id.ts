/** Finds the originId of a line without parsing it, which would be most of what an importer does with an entity. */

const beginning = Buffer.from('{"originId":"');
const name = Buffer.from('"originId"');
const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/**
 * The originId that the line begins with, when it can be no other: the line is one object as its brackets tell, the name
 * stands in it once, and no member of the object itself is written with an escape. Null when only parsing can tell.
 * @param line UTF-8. Its object may still be broken JSON within
 */
export function leadingOriginId(line: Buffer): string | null {
  if (
    line.length <= beginning.length ||
    line.compare(beginning, 0, beginning.length, 0, beginning.length) !== 0
  )
    return null;
  const end = line.indexOf(quote, beginning.length);
  if (end === -1 || line.indexOf(name, end) !== -1 || !isOnePlainObject(line)) return null;
  return line.toString('utf8', beginning.length, end);
}

/** True when the brackets close with the last byte and not before, and no text of the outermost level has an escape. */
function isOnePlainObject(line: Uint8Array): boolean {
  const last = line.length - 1;
  let depth = 0;
  for (let at = 0; at <= last; at += 1) {
    const byte = line[at];
    if (byte === quote) {
      at = textEnd(line, at + 1, depth > 1);
      if (at === -1) return false;
    } else if (byte === openBrace || byte === openBracket) {
      depth += 1;
    } else if (byte === closeBrace || byte === closeBracket) {
      depth -= 1;
      if (depth === 0) return at === last;
    }
  }
  return false;
}

/** Place of the closing quote; -1 when there is none, or an escape that may not be. */
function textEnd(line: Uint8Array, from: number, mayEscape: boolean): number {
  for (let at = from; at < line.length; at += 1) {
    const byte = line[at];
    if (byte === quote) return at;
    if (byte !== backslash) continue;
    if (!mayEscape) return -1;
    at += 1;
  }
  return -1;
}
