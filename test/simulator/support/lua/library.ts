/** The functions of Lua, and those that Redis provides to scripts, limited to what the scripts use. */

import { packLua, unpackLua } from './messages.ts';
import { isTrue, LuaError, type LuaFunction, LuaTable, type LuaValue, numberOf, textOf } from './table.ts';

export const luaLibrary: Readonly<Record<string, LuaValue>> = {
  tonumber: (value) => [toNumber(value)],
  tostring: (value) => [textOf(value)],
  unpack: (list, from = 1, to) => {
    const { list: values } = tableOf(list);
    return values.slice(numberOf(from) - 1, to === undefined ? values.length : numberOf(to));
  },
  math: room({
    floor: (value) => [Math.floor(numberOf(value))],
    min: (...values) => [Math.min(...values.map(numberOf))],
    max: (...values) => [Math.max(...values.map(numberOf))],
  }),
  string: room({
    sub: (text, from, to) => [partOf(textOf(text), numberOf(from), to === undefined ? -1 : numberOf(to))],
    char: (...codes) => [String.fromCharCode(...codes.map(numberOf))],
    format: (format, number) => [digitsOf(textOf(format), numberOf(number))],
    byte: (text, from = 1, to = from) =>
      [...partOf(textOf(text), numberOf(from), numberOf(to))].map((one) => one.charCodeAt(0)),
    find: (text, part, from) => {
      const at = textOf(text).indexOf(textOf(part), numberOf(from) - 1);
      return [at < 0 ? undefined : at + 1];
    },
    rep: (text, count) => [textOf(text).repeat(numberOf(count))],
    match: (text, pattern) => [patternOf(textOf(pattern)).exec(textOf(text))?.[1]],
  }),
  table: room({
    concat: (list) => [tableOf(list).list.map(textOf).join('')],
    remove: (list) => [tableOf(list).list.pop()],
    sort: (list, before) => {
      if (typeof before !== 'function')
        throw new LuaError('the simulator only supports table.sort with a comparator');
      tableOf(list).list.sort((a, b) => (isTrue(before(a, b)[0]) ? -1 : isTrue(before(b, a)[0]) ? 1 : 0));
      return [];
    },
  }),
  struct: room({
    pack: (format, ...values) => {
      const bytes = Buffer.alloc(doublesIn(format) * 8);
      for (const [index, value] of values.entries()) bytes.writeDoubleBE(numberOf(value), index * 8);
      return [bytes.toString('latin1')];
    },
    unpack: (format, text, from = 1) => {
      const bytes = Buffer.from(textOf(text), 'latin1').subarray(numberOf(from) - 1);
      return Array.from({ length: doublesIn(format) }, (_, index) => bytes.readDoubleBE(index * 8));
    },
  }),
  cmsgpack: room({
    pack: (value) => [packLua(value)],
    unpack: (text) => [unpackLua(textOf(text))],
  }),
};

function room(functions: Readonly<Record<string, LuaFunction>>): LuaTable {
  const table = new LuaTable();
  for (const [name, one] of Object.entries(functions)) table.set(name, one);
  return table;
}

function toNumber(value: LuaValue): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const number = Number(value);
  return Number.isNaN(number) ? undefined : number;
}

function tableOf(value: LuaValue): LuaTable {
  if (value instanceof LuaTable) return value;
  throw new LuaError('table expected');
}

function partOf(text: string, from: number, to: number): string {
  const first = from < 0 ? Math.max(text.length + from, 0) : Math.max(from - 1, 0);
  return text.slice(first, to < 0 ? text.length + to + 1 : to);
}

/** The only pattern in use: a literal prefix, and a group of hexadecimal digits. */
function patternOf(pattern: string): RegExp {
  if (!/^[\w:]*\(%x\+\)$/.test(pattern))
    throw new LuaError(`the simulator does not support the pattern ${pattern}`);
  return new RegExp(pattern.replace('%x', '[0-9A-Fa-f]'));
}

/** The only format in use: an integer with leading zeros. */
function digitsOf(format: string, number: number): string {
  const [, digits] = /^%0(\d+)\.0f$/.exec(format) ?? [];
  if (digits === undefined) throw new LuaError(`the simulator does not support the format ${format}`);
  return String(number).padStart(Number(digits), '0');
}

function doublesIn(format: LuaValue): number {
  const found = /^>(d+)$/.exec(textOf(format))?.[1];
  if (found === undefined) throw new LuaError(`the simulator does not support the format ${textOf(format)}`);
  return found.length;
}
