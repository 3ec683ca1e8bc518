/** A frame that is being written, in memory that is used again once the socket has taken it. See `frames.ts`. */
import type { Socket } from 'node:net';

const numberBytes = 8;
const wordBytes = 4;
const bytesMin = 64 * 1024;
/** More is given back: hardly a frame is so large. */
const bytesKept = 1024 * 1024;

export class FrameBuffer {
  #memory = Buffer.allocUnsafeSlow(bytesMin);
  /** Before the frame stands its length, which is known last. */
  #end = wordBytes;

  /** Bytes written so far. */
  get bytes(): number {
    return this.#end;
  }

  writeNumber(value: number): void {
    this.#reserve(numberBytes);
    this.#end = this.#memory.writeDoubleLE(value, this.#end);
  }

  /** @param value a whole number below 2^32 */
  writeWord(value: number): void {
    this.#reserve(wordBytes);
    this.#end = this.#memory.writeUInt32LE(value, this.#end);
  }

  writeBytes(bytes: Uint8Array): void {
    this.writeWord(bytes.length);
    this.#reserve(bytes.length);
    this.#memory.set(bytes, this.#end);
    this.#end += bytes.length;
  }

  /** @param text without lone surrogates, which UTF-8 has not */
  writeText(text: string): void {
    const bytes = Buffer.byteLength(text);
    this.writeWord(bytes);
    this.#reserve(bytes);
    this.#end += this.#memory.write(text, this.#end);
  }

  /** Hands the frame over and begins an empty one. A broken link takes nothing. */
  send(socket: Socket): void {
    this.#memory.writeUInt32LE(this.#end - wordBytes, 0);
    if (socket.writable) socket.write(this.#memory.subarray(0, this.#end));
    this.#end = wordBytes;
    // Most often the system has copied all of it by now; else the socket goes on reading it here.
    if (socket.writableLength > 0 || this.#memory.length > bytesKept)
      this.#memory = Buffer.allocUnsafeSlow(bytesMin);
  }

  #reserve(bytes: number): void {
    const needed = this.#end + bytes;
    if (needed <= this.#memory.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#memory.length));
    this.#memory.copy(larger, 0, 0, this.#end);
    this.#memory = larger;
  }
}

/** Reads a frame in the order in which it was written. */
export class FrameCursor {
  #at = 0;

  constructor(private readonly frame: Buffer) {}

  get isAtEnd(): boolean {
    return this.#at >= this.frame.length;
  }

  /** @throws RangeError behind the end of the frame */
  readNumber(): number {
    const value = this.frame.readDoubleLE(this.#at);
    this.#at += numberBytes;
    return value;
  }

  /** @throws RangeError behind the end of the frame */
  readWord(): number {
    const value = this.frame.readUInt32LE(this.#at);
    this.#at += wordBytes;
    return value;
  }

  /** A part of the frame. @throws RangeError behind its end */
  readBytes(): Buffer {
    const from = this.#skipPart();
    return this.frame.subarray(from, this.#at);
  }

  /** @throws RangeError behind the end of the frame */
  readText(): string {
    const from = this.#skipPart();
    return this.frame.toString('utf8', from, this.#at);
  }

  /** Goes behind a part that begins with its length. @returns where it begins */
  #skipPart(): number {
    const length = this.readWord();
    const from = this.#at;
    this.#at += length;
    if (this.#at > this.frame.length) throw new RangeError('a frame ends within a part of it');
    return from;
  }
}
