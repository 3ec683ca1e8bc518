/**
 * Reads the replies of Redis (RESP2) from the bytes of a connection. A reply is a number, a Buffer, null, a list of these, or
 * an error, which is a value here. A Buffer that came in one piece is a part of that piece. A reply in many pieces costs no
 * more than its bytes.
 */

/** What came is no reply: nothing behind it can be understood. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';
}

const [carriageReturn, newLine, minus, zero] = [13, 10, 45, 48];
const types = { text: 36, list: 42, number: 58, status: 43, error: 45 } as const;
const lineEnd = 2;
/** A line without an end is no line: errors are the longest, and much shorter. */
const lineBytesMax = 64 * 1024;

interface OpenList {
  readonly values: unknown[];
  left: number;
}

/** A text of which a part has come. */
interface OpenText {
  readonly bytes: Buffer;
  /** Bytes that have come, the line's end behind the text included. */
  filled: number;
}

export class ReplyReader {
  /** The beginning of a line whose end has not come. */
  #rest: Buffer | null = null;
  #text: OpenText | null = null;
  readonly #lists: OpenList[] = [];

  constructor(private readonly onReply: (reply: unknown) => void) {}

  /** @throws ProtocolError */
  write(piece: Buffer): void {
    const rest = this.#rest;
    this.#rest = null;
    const bytes = rest === null ? piece : Buffer.concat([rest, piece]);
    let at = this.#text === null ? 0 : this.#fillText(this.#text, bytes);
    while (at < bytes.length) {
      const end = bytes.indexOf(newLine, at);
      if (end < 0) {
        if (bytes.length - at > lineBytesMax) throw new ProtocolError('a line of a reply has no end');
        this.#rest = bytes.subarray(at);
        return;
      }
      at = this.#takeLine(bytes, at, end);
    }
  }

  /** @returns where the next line begins */
  #takeLine(bytes: Buffer, at: number, end: number): number {
    const next = end + 1;
    const type = bytes[at];
    if (type === types.text) return this.#takeText(bytes, numberIn(bytes, at + 1), next);
    if (type === types.list) this.#beginList(numberIn(bytes, at + 1));
    else if (type === types.number) this.#take(numberIn(bytes, at + 1));
    else if (type === types.status) this.#take(bytes.subarray(at + 1, end - 1));
    else if (type === types.error) this.#take(new Error(bytes.toString('utf8', at + 1, end - 1)));
    else throw new ProtocolError(`a reply begins with byte ${type}`);
    return next;
  }

  #takeText(bytes: Buffer, length: number, from: number): number {
    if (length < 0) {
      this.#take(null);
      return from;
    }
    const end = from + length;
    if (end + lineEnd <= bytes.length) {
      this.#take(bytes.subarray(from, end));
      return end + lineEnd;
    }
    this.#text = { bytes: Buffer.allocUnsafe(length + lineEnd), filled: 0 };
    return this.#fillText(this.#text, bytes, from);
  }

  #fillText(text: OpenText, bytes: Buffer, from = 0): number {
    const copied = bytes.copy(text.bytes, text.filled, from);
    text.filled += copied;
    if (text.filled < text.bytes.length) return bytes.length;
    this.#text = null;
    this.#take(text.bytes.subarray(0, text.bytes.length - lineEnd));
    return from + copied;
  }

  #beginList(length: number): void {
    if (length > 0) this.#lists.push({ values: [], left: length });
    else this.#take(length === 0 ? [] : null);
  }

  /** Takes in a whole value: a reply, or the next of the innermost list. */
  #take(value: unknown): void {
    let whole = value;
    for (let list = this.#lists.at(-1); list !== undefined; list = this.#lists.at(-1)) {
      list.values.push(whole);
      list.left -= 1;
      if (list.left > 0) return;
      whole = list.values;
      this.#lists.pop();
    }
    this.onReply(whole);
  }
}

/** The whole number that a line says, up to its carriage return. */
function numberIn(bytes: Buffer, from: number): number {
  const isNegative = bytes[from] === minus;
  let number = 0;
  for (let at = isNegative ? from + 1 : from; bytes[at] !== carriageReturn; at += 1) {
    const digit = (bytes[at] ?? 0) - zero;
    if (!(digit >= 0 && digit <= 9)) throw new ProtocolError('a reply has a number that is none');
    number = number * 10 + digit;
  }
  return isNegative ? -number : number;
}
