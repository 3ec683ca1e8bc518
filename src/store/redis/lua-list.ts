/**
 * Packs a list for a script into one argument, because each argument has a cost in the client library. The format is
 * MessagePack, which Redis can unpack. `codec/pack.ts` cannot be used, because Redis' unpacker does not support the binary
 * type: here bytes are written as strings, which Lua does not distinguish.
 */

/** Numbers, strings, bytes (packed as strings), and lists of them. */
export type LuaValue = string | number | Uint8Array | readonly LuaValue[];

const firstBytes = 64 * 1024;
/** A buffer that has grown beyond this is not kept. */
const keptBytes = 4 * 1024 * 1024;
const headBytesMax = 9;

let buffer = Buffer.allocUnsafeSlow(firstBytes);
let length = 0;

/** Packs a list into a new buffer. @throws TypeError for any other value */
export function packForLua(list: readonly LuaValue[]): Buffer {
  length = 0;
  write(list);
  const packed = Buffer.from(buffer.subarray(0, length));
  if (buffer.length > keptBytes) buffer = Buffer.allocUnsafeSlow(firstBytes);
  return packed;
}

function write(value: LuaValue): void {
  if (typeof value === 'string') writeText(value);
  else if (typeof value === 'number') writeNumber(value);
  else if (value instanceof Uint8Array) writeBytes(value);
  else {
    reserve(headBytesMax);
    writeHead(value.length, 0x90, 16, null, 0xdc);
    for (const item of value) write(item);
  }
}

function writeText(text: string): void {
  const bytes = Buffer.byteLength(text);
  reserve(headBytesMax + bytes);
  writeTextHead(bytes);
  length += buffer.write(text, length);
}

function writeBytes(bytes: Uint8Array): void {
  reserve(headBytesMax + bytes.length);
  writeTextHead(bytes.length);
  buffer.set(bytes, length);
  length += bytes.length;
}

function writeNumber(number: number): void {
  reserve(headBytesMax);
  buffer[length] = 0xcb;
  length = buffer.writeDoubleBE(number, length + 1);
}

function writeTextHead(bytes: number): void {
  writeHead(bytes, 0xa0, 32, 0xd9, 0xda);
}

/**
 * Writes type and length of the following value.
 * @param short type for lengths below `shortEnd`, which are part of the type byte
 * @param byteType type with a one-byte length, if there is one
 * @param wordType type with a two-byte length; the next type has four bytes
 */
function writeHead(
  size: number,
  short: number,
  shortEnd: number,
  byteType: number | null,
  wordType: number,
): void {
  if (size < shortEnd) length = buffer.writeUInt8(short | size, length);
  else if (size < 0x100 && byteType !== null) {
    length = buffer.writeUInt8(byteType, length);
    length = buffer.writeUInt8(size, length);
  } else if (size < 0x10000) {
    length = buffer.writeUInt8(wordType, length);
    length = buffer.writeUInt16BE(size, length);
  } else {
    length = buffer.writeUInt8(wordType + 1, length);
    length = buffer.writeUInt32BE(size, length);
  }
}

function reserve(bytes: number): void {
  const needed = length + bytes;
  if (needed <= buffer.length) return;
  const larger = Buffer.allocUnsafeSlow(Math.max(needed, buffer.length * 2));
  buffer.copy(larger, 0, 0, length);
  buffer = larger;
}
