import type { Json } from '../../contract/json.ts';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { type DocTest, matchTested } from '../filter/condition.ts';
import type { PartReader, Parts } from '../snapshot/parts.ts';
import { CodeColumn, type CodeValues } from './code-column.ts';
import type { CodeTally } from './code-tally.ts';
import type { CodeTest } from './code-test.ts';
import { ListArena } from './list-arena.ts';
import { ValueDictionary } from './value-dictionary.ts';

/** The cost of adding an item to a list or removing it, in units of the work budget. */
const unitsPerItem = 100;
/** The cost of checking for a duplicate item, in units of the work budget. */
const unitsPerClockCheck = 10;

/** A list of distinct codes per doc. */
export class ListCodes extends CodeColumn {
  readonly #lists: ListArena<Int32Array>;

  constructor(capacity: number, values: CodeValues) {
    super(capacity, new ValueDictionary(), values);
    this.#lists = new ListArena(capacity, (length) => new Int32Array(length));
  }

  get bytes(): number {
    return this.dictionary.bytes + this.#lists.bytes;
  }

  override *set(doc: number, value: Json): Steps<void> {
    if (!Array.isArray(value)) return;
    const seen = new Set<Json>();
    const codes: number[] = [];
    for (const item of value) {
      workBudget.units += unitsPerClockCheck;
      if (workBudget.isOver()) yield;
      if (!this.accepts(item) || seen.has(item)) continue;
      seen.add(item);
      if (this.dictionary.isFull) yield* this.dictionary.grow();
      codes.push(this.dictionary.acquire(item));
      workBudget.units += unitsPerItem;
    }
    const growing = this.#lists.reserve(codes.length);
    if (growing !== null) yield* growing;
    this.#lists.set(doc, codes);
    this.present.add(doc);
  }

  override *clear(doc: number): Steps<void> {
    const { items, starts, counts } = this.#lists;
    const start = starts[doc] ?? 0;
    const end = start + (counts[doc] ?? 0);
    for (let at = start; at < end; at += 1) {
      this.dictionary.release(items[at] ?? 0);
      workBudget.units += unitsPerItem;
      if (workBudget.isOver()) yield;
    }
    this.#lists.clear(doc);
    this.present.remove(doc);
  }

  override *parts(): Parts {
    yield* this.dictionary.parts();
    yield* this.present.parts();
    yield* this.#lists.parts();
  }

  override async restore(from: PartReader): Promise<void> {
    await this.dictionary.restore(from);
    await this.present.restore(from);
    await this.#lists.restore(from);
  }

  override *grow(capacity: number): Steps<void> {
    yield* this.#lists.grow(capacity);
    this.present.grow(capacity);
  }

  override bind(test: CodeTest): DocTest {
    const { items, starts, counts } = this.#lists;
    const accepts = acceptorOf(test);
    return matchTested((doc) => {
      const start = starts[doc] ?? 0;
      const end = start + (counts[doc] ?? 0);
      workBudget.units += end - start;
      for (let at = start; at < end; at += 1) if (accepts(items[at] ?? 0)) return true;
      return false;
    });
  }

  override tally(docs: Int32Array, from: number, end: number, tally: CodeTally): number {
    return tally.countLists(this.#lists, docs, from, end);
  }

  override keys(docs: Int32Array, from: number, end: number, into: Float64Array, isLargest: boolean): number {
    let at = from;
    while (at < end) {
      const code = this.representative(docs[at] ?? 0, isLargest);
      into[at] = code < 0 ? Number.NaN : this.dictionary.keyOf(code);
      at += 1;
      if (workBudget.units >= workBudget.unitsPerClockCheck) break;
    }
    return at;
  }

  override representative(doc: number, isLargest: boolean): number {
    const { items, starts, counts } = this.#lists;
    const start = starts[doc] ?? 0;
    const end = start + (counts[doc] ?? 0);
    if (start === end) return -1;
    workBudget.units += end - start;
    let best = items[start] ?? 0;
    for (let at = start + 1; at < end; at += 1) {
      const code = items[at] ?? 0;
      const compared = this.dictionary.compare(code, best);
      if (isLargest ? compared > 0 : compared < 0) best = code;
    }
    return best;
  }
}

function acceptorOf(test: CodeTest): (code: number) => boolean {
  if (test.kind === 'some') return test.accepts;
  const only = test.kind === 'one' ? test.code : -1;
  return (code) => code === only;
}
