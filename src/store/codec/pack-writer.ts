/**
 * Writes MessagePack piece by piece into one buffer, in the shortest forms, as the packer of `pack.ts` does: for what is
 * packed by the thousand, without making the lists that the packer would take.
 */
const firstBytes = 64 * 1024;
/** A buffer that one large thing has made longer than this is not kept. */
const keptBytes = 4 * 1024 * 1024;
/** Shorter texts of ASCII are written faster from here than by a call of the runtime. */
const shortCharacters = 16;
const longestMark = 5;

export class PackWriter {
  #buffer = Buffer.allocUnsafeSlow(firstBytes);
  #at = 0;

  /** Before the first value: what was written and not taken, because something threw amid it, is forgotten. */
  begin(): void {
    this.#at = 0;
  }

  /** What was written since `begin`, in a buffer of its own. */
  take(): Buffer {
    const taken = Buffer.from(this.#buffer.subarray(0, this.#at));
    if (this.#buffer.length > keptBytes) this.#buffer = Buffer.allocUnsafeSlow(firstBytes);
    return taken;
  }

  /** So many values follow. */
  list(length: number): void {
    this.#reserve(longestMark);
    if (length < 16) this.#byte(0x90 | length);
    else if (length < 0x10000) this.#mark16(0xdc, length);
    else this.#mark32(0xdd, length);
  }

  text(text: string): void {
    const { length } = text;
    // A UTF-16 unit takes at most three bytes.
    this.#reserve(longestMark + length * 3);
    if (length <= shortCharacters && this.#shortText(text)) return;
    const guessed = textMarkBytes(length);
    const from = this.#at + guessed;
    const bytes = this.#buffer.write(text, from);
    const needed = textMarkBytes(bytes);
    if (needed !== guessed) this.#buffer.copyWithin(this.#at + needed, from, from + bytes);
    this.#textMark(bytes);
    this.#at += bytes;
  }

  /** Bytes as a text, since Redis' unpacker knows no type for them; to Lua both are the same. */
  textBytes(bytes: Uint8Array): void {
    this.#reserve(longestMark + bytes.length);
    this.#textMark(bytes.length);
    this.#buffer.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  bytes(bytes: Uint8Array): void {
    const { length } = bytes;
    this.#reserve(longestMark + length);
    if (length < 0x100) {
      this.#byte(0xc4);
      this.#byte(length);
    } else if (length < 0x10000) this.#mark16(0xc5, length);
    else this.#mark32(0xc6, length);
    this.#buffer.set(bytes, this.#at);
    this.#at += length;
  }

  /** A text of what is written until `endText` gets the place that this gives. */
  beginText(): number {
    this.#reserve(longestMark);
    const place = this.#at;
    this.#at += longestMark;
    return place;
  }

  endText(place: number): void {
    this.#buffer[place] = 0xdb;
    this.#buffer.writeUInt32BE(this.#at - place - longestMark, place + 1);
  }

  /** Bytes as they are, in a text that was begun. */
  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** As `raw`, of a text's UTF-8. */
  rawText(text: string): void {
    this.#reserve(text.length * 3);
    this.#at += this.#buffer.write(text, this.#at);
  }

  number(number: number): void {
    this.#reserve(9);
    if (number >= 0 && number < 0x80 && Number.isInteger(number) && !Object.is(number, -0)) {
      this.#byte(number);
      return;
    }
    this.#byte(0xcb);
    this.#at = this.#buffer.writeDoubleBE(number, this.#at);
  }

  textOrNull(text: string | null): void {
    if (text === null) this.null();
    else this.text(text);
  }

  null(): void {
    this.#reserve(1);
    this.#byte(0xc0);
  }

  false(): void {
    this.#reserve(1);
    this.#byte(0xc2);
  }

  /** False, with nothing written, when the text is not all ASCII. */
  #shortText(text: string): boolean {
    const buffer = this.#buffer;
    const from = this.#at + 1;
    for (let index = 0; index < text.length; index += 1) {
      const unit = text.charCodeAt(index);
      if (unit > 0x7f) return false;
      buffer[from + index] = unit;
    }
    buffer[this.#at] = 0xa0 | text.length;
    this.#at = from + text.length;
    return true;
  }

  #textMark(bytes: number): void {
    if (bytes < 32) this.#byte(0xa0 | bytes);
    else if (bytes < 0x100) {
      this.#byte(0xd9);
      this.#byte(bytes);
    } else if (bytes < 0x10000) this.#mark16(0xda, bytes);
    else this.#mark32(0xdb, bytes);
  }

  #byte(byte: number): void {
    this.#buffer[this.#at] = byte;
    this.#at += 1;
  }

  #mark16(mark: number, length: number): void {
    this.#buffer[this.#at] = mark;
    this.#at = this.#buffer.writeUInt16BE(length, this.#at + 1);
  }

  #mark32(mark: number, length: number): void {
    this.#buffer[this.#at] = mark;
    this.#at = this.#buffer.writeUInt32BE(length, this.#at + 1);
  }

  #reserve(bytes: number): void {
    const needed = this.#at + bytes;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
  }
}

function textMarkBytes(bytes: number): number {
  if (bytes < 32) return 1;
  if (bytes < 0x100) return 2;
  return bytes < 0x10000 ? 3 : 5;
}
