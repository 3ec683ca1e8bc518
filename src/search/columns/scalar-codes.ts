import type { Json } from '../../contract/json.ts';
import type { Steps } from '../../lib/cooperative-yield.ts';
import type { Bitmap } from '../bitmap.ts';
import { type DocTest, endOfGo, type Listing, matchTested } from '../filter/condition.ts';
import { grown } from '../growth.ts';
import type { PlainValue } from '../packed-values.ts';
import { int32, type PartReader, type Parts } from '../snapshot/parts.ts';
import { CodeColumn, type CodeValues } from './code-column.ts';
import type { CodeTally } from './code-tally.ts';
import type { CodeTest } from './code-test.ts';
import { ValueDictionary } from './value-dictionary.ts';

const none = -1;

/**
 * One code per doc. The docs of each code are in a doubly linked list, which takes 8 bytes per doc. So docs can be found
 * without a scan: the item with an id at each change, and the docs for `equals`.
 */
export class ScalarCodes extends CodeColumn {
  #codes: Int32Array;
  #next: Int32Array;
  #previous: Int32Array;
  /** First doc of each code. */
  #heads: Int32Array;

  constructor(capacity: number, values: CodeValues) {
    super(capacity, new ValueDictionary(), values);
    this.#heads = new Int32Array(this.dictionary.capacity).fill(none);
    this.#codes = new Int32Array(capacity).fill(none);
    this.#next = new Int32Array(capacity);
    this.#previous = new Int32Array(capacity);
  }

  get bytes(): number {
    return this.dictionary.bytes + this.#heads.byteLength + 3 * this.#codes.byteLength;
  }

  /** First doc with a value; -1 for none. `nextWithSame` returns the next. */
  firstWith(value: PlainValue): number {
    const code = this.dictionary.codeOf(value);
    return code < 0 ? none : (this.#heads[code] ?? none);
  }

  nextWithSame(doc: number): number {
    return this.#next[doc] ?? none;
  }

  codeAt(doc: number): number {
    return this.#codes[doc] ?? none;
  }

  /** The value of a doc as text. The doc must have one. */
  textAt(doc: number): string {
    const value = this.dictionary.valueOf(this.codeAt(doc));
    return typeof value === 'string' ? value : String(value);
  }

  override set(doc: number, value: Json): Steps<void> | null {
    if (!this.accepts(value)) return null;
    if (this.dictionary.isFull) return this.#growAndPut(doc, value);
    this.put(doc, value);
    return null;
  }

  *#growAndPut(doc: number, value: PlainValue): Steps<void> {
    yield* this.growCodes();
    this.put(doc, value);
  }

  /** Doubles the capacity for codes. */
  *growCodes(): Steps<void> {
    this.#heads = yield* grown(this.#heads, new Int32Array(this.dictionary.capacity * 2), none);
    yield* this.dictionary.grow();
  }

  /** Sets a value without a pause. There must be room for another code. */
  put(doc: number, value: PlainValue): void {
    const code = this.dictionary.acquire(value);
    const head = this.#heads[code] ?? none;
    this.#codes[doc] = code;
    this.#next[doc] = head;
    this.#previous[doc] = none;
    if (head !== none) this.#previous[head] = doc;
    this.#heads[code] = doc;
    this.present.add(doc);
  }

  override clear(doc: number): null {
    const code = this.codeAt(doc);
    if (code === none) return null;
    const next = this.#next[doc] ?? none;
    const previous = this.#previous[doc] ?? none;
    if (next !== none) this.#previous[next] = previous;
    if (previous === none) this.#heads[code] = next;
    else this.#next[previous] = next;
    this.#codes[doc] = none;
    this.dictionary.release(code);
    this.present.remove(doc);
    return null;
  }

  override *parts(): Parts {
    yield* this.dictionary.parts();
    yield* this.present.parts();
    for (const numbers of [this.#codes, this.#next, this.#previous, this.#heads]) yield numbers;
  }

  override async restore(from: PartReader): Promise<void> {
    await this.dictionary.restore(from);
    await this.present.restore(from);
    this.#codes = await from.numbers(int32);
    this.#next = await from.numbers(int32);
    this.#previous = await from.numbers(int32);
    this.#heads = await from.numbers(int32);
  }

  override *grow(capacity: number): Steps<void> {
    this.#codes = yield* grown(this.#codes, new Int32Array(capacity), none);
    this.#next = yield* grown(this.#next, new Int32Array(capacity), 0);
    this.#previous = yield* grown(this.#previous, new Int32Array(capacity), 0);
    this.present.grow(capacity);
  }

  override bind(test: CodeTest): DocTest {
    if (test.kind === 'one') return this.#bindOne(test.code);
    const accepts = test.kind === 'some' ? test.accepts : () => false;
    const codes = this.#codes;
    const tested = matchTested((doc) => {
      const code = codes[doc] ?? none;
      return code !== none && accepts(code);
    });
    const listed = test.kind === 'some' ? test.codes : undefined;
    return listed === undefined ? tested : { ...tested, few: this.#listingOf(listed) };
  }

  #listingOf(codes: readonly number[]): Listing {
    const count = codes.reduce((sum, code) => sum + this.dictionary.usesOf(code), 0);
    return {
      count,
      list: (out) => codes.reduce((from, code) => this.#listDocs(code, out, from), 0),
    };
  }

  override tally(docs: Int32Array, from: number, end: number, tally: CodeTally): number {
    const stop = endOfGo(from, end);
    tally.countCodes(this.#codes, docs, from, stop);
    return stop;
  }

  override keys(docs: Int32Array, from: number, end: number, into: Float64Array): number {
    const stop = endOfGo(from, end);
    this.dictionary.keysOf(this.#codes, docs, from, stop, into);
    return stop;
  }

  override representative(doc: number): number {
    return this.#codes[doc] ?? none;
  }

  #bindOne(code: number): DocTest {
    const codes = this.#codes;
    return {
      test: (doc) => codes[doc] === code,
      scan: (into, from, docCount) => {
        const end = endOfGo(from, docCount);
        scanEqual(codes, code, into, from, end);
        return end;
      },
      few: { count: this.dictionary.usesOf(code), list: (out) => this.#listDocs(code, out, 0) },
    };
  }

  /** Writes the docs of a code to `out`, beginning at `from`. @returns the index after the last */
  #listDocs(code: number, out: Int32Array, from: number): number {
    let count = from;
    for (let doc = this.#heads[code] ?? none; doc !== none; doc = this.#next[doc] ?? none) {
      out[count] = doc;
      count += 1;
    }
    return count;
  }
}

function scanEqual(codes: Int32Array, code: number, into: Bitmap, from: number, end: number): void {
  for (let doc = from; doc < end; doc += 1) if (codes[doc] === code) into.add(doc);
}
