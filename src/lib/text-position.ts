/**
 * Positions for error messages: line and column of a byte in chunked input or of an offset in a complete text, and JSON paths
 * of members and items.
 */
import { isAscii } from 'node:buffer';

export interface TextPosition {
  /** From 1. */
  readonly line: number;
  /** From 1, in code points. */
  readonly column: number;
}

const newline = 0x0a;
/** JSON never begins with this byte. */
const firstOfByteOrderMark = 0xef;

/** Counts lines, and columns in code points, over pieces of UTF-8. Skips a byte order mark. */
export class PositionCounter {
  #line = 1;
  #column = 1;
  /** Number of bytes of the current piece counted so far. */
  #counted = 0;
  #isAtBeginning = true;

  /** The position of a byte in the current piece. Calls must be in ascending order. */
  in(piece: Uint8Array, at: number): TextPosition {
    for (; this.#counted < at; this.#counted += 1) {
      const byte = piece[this.#counted] ?? 0;
      if (byte === newline) {
        this.#line += 1;
        this.#column = 1;
      } else if ((byte & 0xc0) !== 0x80 && !(this.#isAtBeginning && byte === firstOfByteOrderMark)) {
        this.#column += 1;
      }
      this.#isAtBeginning = false;
    }
    return { line: this.#line, column: this.#column };
  }

  /** Counts the rest of the piece. */
  pass(piece: Uint8Array): void {
    const rest = piece.subarray(this.#counted);
    if (!isAscii(rest)) this.in(piece, piece.length);
    else this.#passAscii(rest);
    this.#counted = 0;
    this.#isAtBeginning &&= piece.length === 0;
  }

  /** Ten times faster than a loop over each byte. */
  #passAscii(bytes: Uint8Array): void {
    let start = 0;
    for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, start)) {
      this.#line += 1;
      this.#column = 1;
      start = at + 1;
    }
    this.#column += bytes.length - start;
  }
}

/** Start offsets of the lines of a text. */
export function lineStartsOf(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** Index of the line with an offset. */
export function lineAt(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

const plainName = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/** The segment of a JSON path for a member: `.author`, or `['a b']` if the name is not an identifier. */
export function memberStep(name: string): string {
  return plainName.test(name) ? `.${name}` : `['${name.replace(/[\\']/g, '\\$&')}']`;
}

/** The path of a member of `path`, on one line: `$.domains`, `$['two words']`. */
export function memberPath(path: string, name: string): string {
  return path + memberStep(name).replace(/[\n\r]/g, ' ');
}

/** The path of an item of `path`: `$.domains[0]`. */
export function itemPath(path: string, index: number): string {
  return `${path}[${index}]`;
}
