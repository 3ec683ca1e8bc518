/**
 * JSON as bytes. What stands in a row beside its fields is short and nearly always ASCII: a loop has written it before a
 * call out of JavaScript has begun to, and leaves no text behind for the garbage collector.
 */

/** JSON writes a character of a text with so many bytes at most. */
export const unitBytesMax = 6;

const quote = 0x22;
const backslash = 0x5c;
const firstPlain = 0x20;
const lastPlain = 0x7e;

/** Bytes of a text that is ASCII. */
export function asciiBytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'latin1'));
}

/** @returns the place behind them */
export function writeBytes(bytes: Uint8Array, into: Uint8Array, at: number): number {
  for (let from = 0; from < bytes.length; from += 1) into[at + from] = bytes[from] ?? 0;
  return at + bytes.length;
}

/** Writes a text that is ASCII as it is. @returns the place behind it */
export function writeAscii(text: string, into: Uint8Array, at: number): number {
  for (let from = 0; from < text.length; from += 1) into[at + from] = text.charCodeAt(from);
  return at + text.length;
}

/** Writes a text as JSON does, quotes included. @returns the place behind it */
export function writeJsonText(text: string, into: Buffer, at: number): number {
  let end = at;
  into[end] = quote;
  end += 1;
  for (let from = 0; from < text.length; from += 1) {
    const unit = text.charCodeAt(from);
    const isPlain = unit >= firstPlain && unit <= lastPlain && unit !== quote && unit !== backslash;
    if (!isPlain) return at + into.write(JSON.stringify(text), at);
    into[end] = unit;
    end += 1;
  }
  into[end] = quote;
  return end + 1;
}
