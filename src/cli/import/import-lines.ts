import { entityBytesMax } from '../../contract/limits.ts';

/**
 * Longest line that is read whole. Text in which every character is escaped (`\u00e9`) takes up to six times the bytes
 * that count for the limit of an entity. So a longer line cannot hold an entity that would be accepted.
 */
export const lineBytesMax = 6 * entityBytesMax + 1024 * 1024;

const newline = 0x0a;

export interface Line {
  /** Counted from 1, empty lines included. */
  readonly number: number;
  /** The line without its line feed. It is cut off when `isTooLong`. */
  readonly bytes: Buffer;
  readonly isTooLong: boolean;
}

/** The lines of a byte stream that hold more than white space. Memory is bounded, whatever the stream brings. */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  maxBytes = lineBytesMax,
): AsyncGenerator<Line> {
  for await (const lines of readLineGroups(chunks, maxBytes)) yield* lines;
}

/**
 * As `readLines`, but gives all lines that end in one piece of the stream together. Waiting for each line would cost
 * more than reading it.
 */
export async function* readLineGroups(
  chunks: AsyncIterable<Buffer>,
  maxBytes = lineBytesMax,
): AsyncGenerator<Line[]> {
  const open = new OpenLine(maxBytes);
  let number = 0;
  for await (const chunk of chunks) {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      open.append(chunk.subarray(start, end));
      number += 1;
      const line = open.close(number);
      if (!isBlank(line.bytes)) lines.push(line);
      start = end + 1;
    }
    open.append(chunk.subarray(start));
    if (lines.length > 0) yield lines;
  }
  const last = open.close(number + 1);
  if (!isBlank(last.bytes)) yield [last];
}

/** The line whose end has not been seen. Its pieces are joined once, so a long line costs no more than its length. */
class OpenLine {
  #pieces: Buffer[] = [];
  #heldBytes = 0;
  #isTooLong = false;

  constructor(private readonly maxBytes: number) {}

  append(piece: Buffer): void {
    if (piece.length === 0) return;
    const room = this.maxBytes - this.#heldBytes;
    if (piece.length > room) this.#isTooLong = true;
    const kept = piece.length > room ? piece.subarray(0, room) : piece;
    this.#pieces.push(kept);
    this.#heldBytes += kept.length;
  }

  close(number: number): Line {
    const [only] = this.#pieces;
    const bytes = this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces);
    const line = { number, bytes, isTooLong: this.#isTooLong };
    this.#pieces = [];
    this.#heldBytes = 0;
    this.#isTooLong = false;
    return line;
  }
}

function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) {
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return false;
  }
  return true;
}
