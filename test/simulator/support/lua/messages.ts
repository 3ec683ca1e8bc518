/** `cmsgpack` of Redis: MessagePack in which a string is bytes and a table with the keys 1, 2, 3 … is a list. */
import { LuaError, LuaTable, type LuaValue } from './table.ts';

export function packLua(value: LuaValue): string {
  if (typeof value === 'string') return head(value.length, 0xa0, 32, 0xd9) + value;
  if (typeof value === 'number') return packNumber(value);
  if (value instanceof LuaTable)
    return head(value.list.length, 0x90, 16, null) + value.list.map(packLua).join('');
  if (value === undefined) return '\xc0';
  if (typeof value === 'boolean') return value ? '\xc3' : '\xc2';
  throw new LuaError('a function cannot be packed');
}

/** The header of a string or a list: one byte for short ones, otherwise a type, by the size of the length, and the length. */
function head(length: number, short: number, shortEnd: number, type8: number | null): string {
  if (length < shortEnd) return String.fromCharCode(short | length);
  const type16 = type8 === null ? 0xdc : type8 + 1;
  if (type8 !== null && length < 256) return String.fromCharCode(type8, length);
  if (length < 65_536) return String.fromCharCode(type16, length >> 8, length & 255);
  return String.fromCharCode(type16 + 1) + bigEndian(length, 4);
}

function packNumber(value: number): string {
  if (!Number.isInteger(value)) return `\xcb${bytesOfDouble(value)}`;
  if (value < 0) return value >= -32 ? String.fromCharCode(value + 256) : `\xd3${bytesOfInteger(value)}`;
  if (value < 128) return String.fromCharCode(value);
  if (value < 0x100) return `\xcc${bigEndian(value, 1)}`;
  if (value < 0x1_0000) return `\xcd${bigEndian(value, 2)}`;
  if (value < 0x1_0000_0000) return `\xce${bigEndian(value, 4)}`;
  return `\xcf${bytesOfInteger(value)}`;
}

function bigEndian(value: number, bytes: number): string {
  let text = '';
  for (let shift = (bytes - 1) * 8; shift >= 0; shift -= 8)
    text += String.fromCharCode((value >>> shift) & 255);
  return text;
}

const scratch = Buffer.alloc(8);

function bytesOfDouble(value: number): string {
  scratch.writeDoubleBE(value);
  return scratch.toString('latin1');
}

function bytesOfInteger(value: number): string {
  scratch.writeBigInt64BE(BigInt(value));
  return scratch.toString('latin1');
}

export function unpackLua(text: string): LuaValue {
  return new Reader(text).value();
}

class Reader {
  #at = 0;

  constructor(private readonly text: string) {}

  value(): LuaValue {
    const type = this.#unsigned(1);
    if (type < 0x80) return type;
    if (type < 0x90) throw new LuaError('maps are not known here');
    if (type < 0xa0) return this.#list(type & 15);
    if (type < 0xc0) return this.#take(type & 31);
    if (type >= 0xe0) return type - 256;
    switch (type) {
      case 0xc0:
        return undefined;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
      case 0xd9:
        return this.#take(this.#unsigned(1));
      case 0xc5:
      case 0xda:
        return this.#take(this.#unsigned(2));
      case 0xc6:
      case 0xdb:
        return this.#take(this.#unsigned(4));
      case 0xca:
        return this.#bytes(4).readFloatBE();
      case 0xcb:
        return this.#bytes(8).readDoubleBE();
      case 0xcc:
        return this.#unsigned(1);
      case 0xcd:
        return this.#unsigned(2);
      case 0xce:
        return this.#unsigned(4);
      case 0xcf:
        return Number(this.#bytes(8).readBigUInt64BE());
      case 0xd0:
        return this.#bytes(1).readInt8();
      case 0xd1:
        return this.#bytes(2).readInt16BE();
      case 0xd2:
        return this.#bytes(4).readInt32BE();
      case 0xd3:
        return Number(this.#bytes(8).readBigInt64BE());
      case 0xdc:
        return this.#list(this.#unsigned(2));
      case 0xdd:
        return this.#list(this.#unsigned(4));
      default:
        throw new LuaError(`MessagePack type ${type} is not known here`);
    }
  }

  #take(length: number): string {
    this.#at += length;
    return this.text.slice(this.#at - length, this.#at);
  }

  #bytes(count: number): Buffer {
    return Buffer.from(this.#take(count), 'latin1');
  }

  #unsigned(count: number): number {
    let value = 0;
    for (let index = 0; index < count; index += 1) {
      value = value * 256 + this.text.charCodeAt(this.#at);
      this.#at += 1;
    }
    return value;
  }

  #list(length: number): LuaTable {
    const list: LuaValue[] = [];
    for (let index = 0; index < length; index += 1) list.push(this.value());
    return new LuaTable(list);
  }
}
