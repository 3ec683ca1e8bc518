/**
 * Lists for scripts, as one argument: the client library takes its time for each. MessagePack of texts, numbers and lists
 * of them; bytes go as texts, which to Lua is the same, since Redis' unpacker knows no type for them.
 */
export type LuaValue = string | number | Uint8Array | readonly LuaValue[];

const textMark = 0xdb;
const listMark = 0xdd;
const numberMark = 0xcb;
const markBytes = 5;
const firstBytes = 4 * 1024;

/** In a buffer of its own. */
export function packForLua(list: readonly LuaValue[]): Buffer {
  const writer = new LuaWriter();
  writer.value(list);
  return writer.written;
}

class LuaWriter {
  #buffer = Buffer.allocUnsafe(firstBytes);
  #at = 0;

  get written(): Buffer {
    return this.#buffer.subarray(0, this.#at);
  }

  value(value: LuaValue): void {
    if (typeof value === 'string') this.#text(value);
    else if (typeof value === 'number') this.#number(value);
    else if (value instanceof Uint8Array) this.#bytes(value);
    else this.#list(value);
  }

  #text(text: string): void {
    // A UTF-16 unit takes at most three bytes.
    this.#reserve(markBytes + text.length * 3);
    const bytes = this.#buffer.write(text, this.#at + markBytes);
    this.#mark(textMark, bytes);
    this.#at += bytes;
  }

  #bytes(bytes: Uint8Array): void {
    this.#reserve(markBytes + bytes.length);
    this.#mark(textMark, bytes.length);
    this.#buffer.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  #number(number: number): void {
    this.#reserve(markBytes + 4);
    this.#buffer[this.#at] = numberMark;
    this.#at = this.#buffer.writeDoubleBE(number, this.#at + 1);
  }

  #list(list: readonly LuaValue[]): void {
    this.#reserve(markBytes);
    this.#mark(listMark, list.length);
    for (const item of list) this.value(item);
  }

  #mark(mark: number, length: number): void {
    this.#buffer[this.#at] = mark;
    this.#at = this.#buffer.writeUInt32BE(length, this.#at + 1);
  }

  #reserve(bytes: number): void {
    const needed = this.#at + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
  }
}
