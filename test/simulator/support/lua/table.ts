/** A table of Lua, and the values of a Redis script. Strings have one byte per character. */

export type LuaValue = undefined | boolean | number | string | LuaTable | LuaFunction;
/** Accepts and returns any number of values. */
export type LuaFunction = (...taken: LuaValue[]) => LuaValue[];

export class LuaTable {
  /** The values of keys outside of the list. */
  #others: Map<LuaValue, LuaValue> | null = null;

  /** @param list the values at 1, 2, 3 …, owned by the table from now on */
  constructor(readonly list: LuaValue[] = []) {}

  static of(list: LuaValue[], members: Iterable<readonly [LuaValue, LuaValue]>): LuaTable {
    const table = new LuaTable(list);
    for (const [key, value] of members) table.set(key, value);
    return table;
  }

  get(key: LuaValue): LuaValue {
    return typeof key === 'number' && key >= 1 && key <= this.list.length
      ? this.list[key - 1]
      : this.#others?.get(key);
  }

  set(key: LuaValue, value: LuaValue): void {
    if (typeof key === 'number' && key >= 1 && key <= this.list.length + 1) {
      if (key <= this.list.length) this.list[key - 1] = value;
      else if (value !== undefined) this.#append(value);
      return;
    }
    if (value === undefined) this.#others?.delete(key);
    else {
      this.#others ??= new Map();
      this.#others.set(key, value);
    }
  }

  /** Appends a value, and moves later values that were stored outside of the list. */
  #append(value: LuaValue): void {
    this.list.push(value);
    if (this.#others === null) return;
    for (;;) {
      const next = this.#others.get(this.list.length + 1);
      if (next === undefined) return;
      this.#others.delete(this.list.length + 1);
      this.list.push(next);
    }
  }

  /** Every key that has a value. */
  *keys(): Generator<LuaValue> {
    for (const [index, value] of this.list.entries()) if (value !== undefined) yield index + 1;
    if (this.#others !== null) yield* this.#others.keys();
  }
}

export class LuaError extends Error {
  override readonly name = 'LuaError';
}

export function isTrue(value: LuaValue): boolean {
  return value !== undefined && value !== false;
}

/** As converted by `..` and `tostring`. */
export function textOf(value: LuaValue): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number')
    return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(14)));
  throw new LuaError(`attempt to concatenate a ${typeof value} value`);
}

/** As converted by arithmetic. */
export function numberOf(value: LuaValue): number {
  if (typeof value === 'number') return value;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'number' && !Number.isNaN(number)) return number;
  throw new LuaError(`attempt to perform arithmetic on ${String(value)}`);
}

export function isLess(a: LuaValue, b: LuaValue): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a < b;
  if (typeof a === 'string' && typeof b === 'string') return a < b;
  throw new LuaError(`attempt to compare ${typeof a} with ${typeof b}`);
}

export function lengthOf(value: LuaValue): number {
  if (typeof value === 'string') return value.length;
  if (value instanceof LuaTable) return value.list.length;
  throw new LuaError(`attempt to get length of a ${typeof value} value`);
}

export function memberOf(owner: LuaValue, key: LuaValue): LuaValue {
  if (owner instanceof LuaTable) return owner.get(key);
  throw new LuaError(`attempt to index a ${typeof owner} value (${String(key)})`);
}

export function setMember(owner: LuaValue, key: LuaValue, value: LuaValue): void {
  if (!(owner instanceof LuaTable)) throw new LuaError(`attempt to index a ${typeof owner} value`);
  owner.set(key, value);
}

/** The function to call. */
export function functionOf(callee: LuaValue): LuaFunction {
  if (typeof callee === 'function') return callee;
  throw new LuaError(`attempt to call a ${typeof callee} value`);
}
