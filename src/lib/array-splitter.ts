/**
 * Splits a JSON array that arrives in pieces into its elements, so that a body of 200 MB is never parsed or buffered as a
 * whole. The splitter only knows enough JSON to find the boundaries. The caller parses each element, which checks its syntax.
 */

export interface ArraySink {
  /** Called at the start of an element, with the index of its first byte in the current piece. */
  readonly begin?: (at: number) => void;
  /**
   * Called with an element's bytes in a buffer of its own. With `isComplete: false`, the element exceeds the limit, and these are
   * its first `elementBytesMax` bytes.
   */
  readonly element: (bytes: Uint8Array<ArrayBuffer>, index: number, isComplete: boolean) => void;
}

/** The bytes are not a JSON array; `kind` says whether they may still be other JSON. */
export class SplitError extends Error {
  override readonly name = 'SplitError';

  /**
   * @param at index in the current piece
   * @param expected what was expected there
   */
  constructor(
    readonly kind: 'notArray' | 'broken' | 'tooMany',
    readonly at: number,
    readonly expected: string,
  ) {
    super(`array splitter: ${kind}`);
  }
}

/** The part of the array that may come next. */
type Expecting = 'array' | 'firstElement' | 'element' | 'separator' | 'end';
/** The kind of the current element. */
type Inside = 'nothing' | 'container' | 'string' | 'scalar';

const endText = 'the rest of the item and `]`';
const expectedText: Readonly<Record<Expecting, string>> = {
  array: '`[`',
  firstElement: 'a value or `]`',
  element: 'a value',
  separator: '`,` or `]`',
  end: 'the end',
};

const byteOrderMark = [0xef, 0xbb, 0xbf];
const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

export class ArraySplitter {
  readonly #sink: ArraySink;
  readonly #elementsMax: number;
  readonly #elementBytesMax: number;
  #expecting: Expecting = 'array';
  #inside: Inside = 'nothing';
  /** Bytes of a byte order mark received so far. */
  #markBytes = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #count = 0;
  /** The current element's bytes from earlier pieces, copied. */
  #pieces: Uint8Array[] = [];
  #pieceBytes = 0;
  #elementBytes = 0;

  constructor(sink: ArraySink, limits: { readonly elementsMax: number; readonly elementBytesMax: number }) {
    this.#sink = sink;
    this.#elementsMax = limits.elementsMax;
    this.#elementBytesMax = limits.elementBytesMax;
  }

  /** Reads the next piece, and keeps no reference to it. @throws SplitError */
  push(piece: Uint8Array): void {
    let at = 0;
    while (at < piece.length) {
      at = this.#inside === 'nothing' ? this.#between(piece, at) : this.#within(piece, at);
    }
  }

  /** Must be called at the end of the input. @throws SplitError if the array is incomplete */
  end(): void {
    if (this.#expecting === 'end') return;
    throw new SplitError('broken', 0, this.#inside === 'nothing' ? expectedText[this.#expecting] : endText);
  }

  /** Handles one byte outside of elements. `#within` handles the first byte of an element. */
  #between(piece: Uint8Array, at: number): number {
    const byte = piece[at] ?? 0;
    if (isSpace(byte)) return at + 1;
    switch (this.#expecting) {
      case 'array':
        if (byte === byteOrderMark[this.#markBytes]) {
          this.#markBytes += 1;
          return at + 1;
        }
        if (this.#markBytes % byteOrderMark.length > 0) throw this.#error('broken', at);
        if (byte !== openBracket) throw this.#error(beginsOtherJson(byte) ? 'notArray' : 'broken', at);
        this.#expecting = 'firstElement';
        return at + 1;
      case 'separator':
        if (byte !== comma && byte !== closeBracket) throw this.#error('broken', at);
        this.#expecting = byte === comma ? 'element' : 'end';
        return at + 1;
      case 'firstElement':
        if (byte === closeBracket) {
          this.#expecting = 'end';
          return at + 1;
        }
        this.#begin(byte, at);
        return at;
      case 'element':
        this.#begin(byte, at);
        return at;
      case 'end':
        throw this.#error('broken', at);
    }
  }

  #error(kind: SplitError['kind'], at: number): SplitError {
    return new SplitError(kind, at, expectedText[this.#expecting]);
  }

  #begin(byte: number, at: number): void {
    if (byte === comma || byte === closeBracket || byte === closeBrace) throw this.#error('broken', at);
    if (this.#count === this.#elementsMax) throw this.#error('tooMany', at);
    this.#sink.begin?.(at);
    this.#inside =
      byte === openBrace || byte === openBracket ? 'container' : byte === quote ? 'string' : 'scalar';
    this.#depth = 0;
    this.#inString = false;
    this.#escaped = false;
  }

  /** Scans from `at` to the end of the element or of the piece. */
  #within(piece: Uint8Array, at: number): number {
    const stop = this.#inside === 'scalar' ? scalarEnd(piece, at) : this.#structureEnd(piece, at);
    if (stop === -1) {
      this.#keep(piece.subarray(at));
      return piece.length;
    }
    this.#finish(piece.subarray(at, stop));
    return stop;
  }

  /** Index after the element's last byte, or -1 if the piece ends first. */
  #structureEnd(piece: Uint8Array, from: number): number {
    let depth = this.#depth;
    let inString = this.#inString;
    let at = this.#escaped ? from + 1 : from;
    this.#escaped = false;
    const length = piece.length;
    while (at < length) {
      const byte = piece[at];
      at += 1;
      if (inString) {
        if (byte === backslash) at += 1;
        else if (byte === quote) {
          inString = false;
          if (depth === 0) return at;
        }
      } else if (byte === quote) {
        inString = true;
      } else if (byte === openBrace || byte === openBracket) {
        depth += 1;
      } else if (byte === closeBrace || byte === closeBracket) {
        depth -= 1;
        if (depth === 0) return at;
      }
    }
    this.#escaped = at > length;
    this.#depth = depth;
    this.#inString = inString;
    return -1;
  }

  #keep(bytes: Uint8Array): void {
    this.#elementBytes += bytes.length;
    const room = this.#elementBytesMax - this.#pieceBytes;
    if (room <= 0) return;
    const kept = bytes.slice(0, room);
    this.#pieces.push(kept);
    this.#pieceBytes += kept.length;
  }

  #finish(rest: Uint8Array): void {
    this.#elementBytes += rest.length;
    const last = rest.subarray(0, Math.max(0, this.#elementBytesMax - this.#pieceBytes));
    const bytes = new Uint8Array(this.#pieceBytes + last.length);
    let at = 0;
    for (const piece of this.#pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
    bytes.set(last, at);
    const isComplete = this.#elementBytes <= this.#elementBytesMax;
    this.#pieces = [];
    this.#pieceBytes = 0;
    this.#elementBytes = 0;
    this.#inside = 'nothing';
    this.#expecting = 'separator';
    this.#count += 1;
    this.#sink.element(bytes, this.#count - 1, isComplete);
  }
}

/** True for the first byte of an object, a string, a number, true, false or null. */
function beginsOtherJson(byte: number): boolean {
  return '{"-0123456789tfn'.includes(String.fromCharCode(byte));
}

function scalarEnd(piece: Uint8Array, from: number): number {
  for (let at = from; at < piece.length; at += 1) {
    const byte = piece[at] ?? 0;
    if (byte === comma || byte === closeBracket || isSpace(byte)) return at;
  }
  return -1;
}
