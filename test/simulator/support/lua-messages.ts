/** `cmsgpack` of Redis: MessagePack in which a text is bytes and a table whose keys are 1, 2, 3 … a list. */
import { Packr } from 'msgpackr';
import { LuaError, LuaTable, type LuaValue } from './lua-table.ts';

export function packLua(value: LuaValue): string {
  const pieces: number[] = [];
  write(pieces, value);
  return Buffer.from(pieces).toString('latin1');
}

function write(out: number[], value: LuaValue): void {
  if (value === undefined) out.push(0xc0);
  else if (typeof value === 'boolean') out.push(value ? 0xc3 : 0xc2);
  else if (typeof value === 'number') writeNumber(out, value);
  else if (typeof value === 'string') writeText(out, value);
  else if (value instanceof LuaTable) writeList(out, value.list);
  else throw new LuaError('a function cannot be packed');
}

const numbers = new Packr({ useRecords: false, int64AsType: 'number' });

function writeNumber(out: number[], value: number): void {
  if (Number.isInteger(value) && value >= 0 && value < 128) out.push(value);
  else out.push(...numbers.pack(value));
}

function writeText(out: number[], text: string): void {
  const { length } = text;
  if (length < 32) out.push(0xa0 | length);
  else if (length < 256) out.push(0xd9, length);
  else if (length < 65_536) out.push(0xda, length >> 8, length & 255);
  else out.push(0xdb, length >>> 24, (length >> 16) & 255, (length >> 8) & 255, length & 255);
  for (let at = 0; at < length; at += 1) out.push(text.charCodeAt(at) & 255);
}

function writeList(out: number[], list: readonly LuaValue[]): void {
  if (list.length < 16) out.push(0x90 | list.length);
  else out.push(0xdc, list.length >> 8, list.length & 255);
  for (const value of list) write(out, value);
}

export function unpackLua(text: string): LuaValue {
  return new Reader(Buffer.from(text, 'latin1')).value();
}

class Reader {
  #at = 0;

  constructor(private readonly bytes: Buffer) {}

  value(): LuaValue {
    const type = this.#unsigned(1);
    if (type < 0x80) return type;
    if (type < 0x90) throw new LuaError('maps are not known here');
    if (type < 0xa0) return this.#list(type & 15);
    if (type < 0xc0) return this.#text(type & 31);
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
        return this.#text(this.#unsigned(1));
      case 0xc5:
      case 0xda:
        return this.#text(this.#unsigned(2));
      case 0xc6:
      case 0xdb:
        return this.#text(this.#unsigned(4));
      case 0xca:
        return this.#take(4).readFloatBE();
      case 0xcb:
        return this.#take(8).readDoubleBE();
      case 0xcc:
        return this.#unsigned(1);
      case 0xcd:
        return this.#unsigned(2);
      case 0xce:
        return this.#unsigned(4);
      case 0xcf:
        return Number(this.#take(8).readBigUInt64BE());
      case 0xd0:
        return this.#take(1).readInt8();
      case 0xd1:
        return this.#take(2).readInt16BE();
      case 0xd2:
        return this.#take(4).readInt32BE();
      case 0xd3:
        return Number(this.#take(8).readBigInt64BE());
      case 0xdc:
        return this.#list(this.#unsigned(2));
      case 0xdd:
        return this.#list(this.#unsigned(4));
      default:
        throw new LuaError(`MessagePack type ${type} is not known here`);
    }
  }

  #take(count: number): Buffer {
    this.#at += count;
    return this.bytes.subarray(this.#at - count, this.#at);
  }

  #unsigned(count: number): number {
    return this.#take(count).readUIntBE(0, count);
  }

  #text(length: number): string {
    return this.#take(length).toString('latin1');
  }

  #list(length: number): LuaTable {
    const list = Array.from({ length }, () => this.value());
    return LuaTable.of(list);
  }
}
