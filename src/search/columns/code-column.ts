import type { Json } from '../../contract/json.ts';
import type { Steps } from '../../lib/cooperative-yield.ts';
import { Bitmap } from '../bitmap.ts';
import { type Condition, type DocTest, matchNothing } from '../filter/condition.ts';
import type { PlainValue } from '../packed-values.ts';
import type { PartReader, Parts } from '../snapshot/parts.ts';
import type { Order, PlaceValue } from '../sort/order.ts';
import type { CodeTally } from './code-tally.ts';
import { type CodeTest, codeTest } from './code-test.ts';
import type { Column } from './column.ts';
import { compareValues, orderKey, type ValueDictionary } from './value-dictionary.ts';

/** The values of a code column. `plain` means any scalar, and is only for facets. */
export type CodeValues = 'text' | 'boolean' | 'plain';

/** Stores text and booleans, and numbers for facets, as codes of a dictionary. */
export abstract class CodeColumn implements Column {
  readonly present: Bitmap;
  readonly dictionary: ValueDictionary;
  readonly #values: CodeValues;

  constructor(capacity: number, dictionary: ValueDictionary, values: CodeValues) {
    this.present = new Bitmap(capacity);
    this.dictionary = dictionary;
    this.#values = values;
  }

  abstract readonly bytes: number;
  abstract set(doc: number, value: Json): Steps<void> | null;
  abstract clear(doc: number): Steps<void> | null;
  abstract parts(): Parts;
  abstract restore(from: PartReader): Promise<void>;
  abstract grow(capacity: number): Steps<void>;
  abstract bind(test: CodeTest): DocTest;
  /** Counts each distinct value once per doc, for the docs at `from`..`end`. @returns where to continue */
  abstract tally(docs: Int32Array, from: number, end: number, tally: CodeTally): number;
  /**
   * Writes the dictionary keys of the representatives of the docs at `from`..`end` to the same indexes; NaN for none.
   * @returns how far it got
   */
  abstract keys(docs: Int32Array, from: number, end: number, into: Float64Array, isLargest: boolean): number;
  /** The code by which a doc is sorted: its only one, or that of its smallest or largest item; -1 for none. */
  abstract representative(doc: number, isLargest: boolean): number;

  /** True if a value has the column's type. */
  accepts(value: Json): value is PlainValue {
    if (this.#values !== 'plain') return typeof value === (this.#values === 'text' ? 'string' : 'boolean');
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  }

  *match(condition: Condition): Steps<DocTest> {
    const test = yield* codeTest(this.dictionary, condition, this.#values === 'text');
    return test.kind === 'none' ? matchNothing : this.bind(test);
  }

  order(isDescending: boolean): Order {
    return new CodeOrder(this, isDescending, this.#values === 'boolean');
  }
}

class CodeOrder implements Order {
  readonly isExact: boolean;
  readonly isDescending: boolean;
  readonly #column: CodeColumn;
  readonly #sign: number;

  constructor(column: CodeColumn, isDescending: boolean, isExact: boolean) {
    this.#column = column;
    this.isDescending = isDescending;
    this.#sign = isDescending ? -1 : 1;
    this.isExact = isExact;
  }

  key(doc: number): number {
    const code = this.#column.representative(doc, this.isDescending);
    return code < 0 ? Infinity : this.#sign * this.#column.dictionary.keyOf(code);
  }

  keys(docs: Int32Array, from: number, end: number, into: Float64Array): number {
    const stop = this.#column.keys(docs, from, end, into, this.isDescending);
    const sign = this.#sign;
    for (let at = from; at < stop; at += 1) {
      const key = into[at] ?? Number.NaN;
      into[at] = Number.isNaN(key) ? Infinity : sign * key;
    }
    return stop;
  }

  compare(a: number, b: number): number {
    const codeA = this.#column.representative(a, this.isDescending);
    const codeB = this.#column.representative(b, this.isDescending);
    if (codeA < 0 || codeB < 0) return 0;
    return this.#sign * this.#column.dictionary.compare(codeA, codeB);
  }

  value(doc: number): PlaceValue {
    const code = this.#column.representative(doc, this.isDescending);
    return code < 0 ? null : this.#column.dictionary.valueOf(code);
  }

  keyOf(value: PlaceValue): number {
    return value === null ? Infinity : this.#sign * orderKey(value);
  }

  compareTo(doc: number, value: PlaceValue): number {
    const own = this.value(doc);
    return own === null || value === null ? 0 : this.#sign * compareValues(own, value);
  }
}
