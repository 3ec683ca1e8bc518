/** Helpers to fill and query columns. */
import assert from 'node:assert/strict';
import type { Json } from '../../../src/contract/json.ts';
import { runSync } from '../../../src/lib/cooperative-yield.ts';
import { Bitmap } from '../../../src/search/bitmap.ts';
import type { CodeColumn } from '../../../src/search/columns/code-column.ts';
import type { CodeTally } from '../../../src/search/columns/code-tally.ts';
import type { Column } from '../../../src/search/columns/column.ts';
import type { ValueDictionary } from '../../../src/search/columns/value-dictionary.ts';
import type { Condition, DocTest, PositiveOperator } from '../../../src/search/filter/condition.ts';
import type { PlainValue } from '../../../src/search/packed-values.ts';

export function setAt(column: Column, doc: number, value: Json): void {
  const rest = column.set(doc, value);
  if (rest !== null) runSync(rest);
}

export function clearAt(column: Column, doc: number): void {
  const rest = column.clear(doc);
  if (rest !== null) runSync(rest);
}

/** Acquires the code of a value, growing the dictionary if needed. */
export function acquired(dictionary: ValueDictionary, value: PlainValue): number {
  if (dictionary.isFull) runSync(dictionary.grow());
  return dictionary.acquire(value);
}

/** Sets the values of docs 0, 1, 2 …; null for none. */
export function filled<C extends Column>(column: C, values: readonly Json[]): C {
  for (const [doc, value] of values.entries()) if (value !== null) setAt(column, doc, value);
  return column;
}

export function conditionOf(operator: PositiveOperator, value: Json, caseInsensitive = false): Condition {
  return { operator, value, caseInsensitive };
}

/** The docs below `docCount` that match a condition. Asserts that tests, scans and candidate lists agree. */
export function matching(column: Column, condition: Condition, docCount: number): number[] {
  return docsOf(runSync(column.match(condition)), docCount);
}

export function docsOf({ test, scan, few }: DocTest, docCount: number): number[] {
  const tested = Array.from({ length: docCount }, (_, doc) => doc).filter(test);
  const set = new Bitmap(docCount);
  for (let from = 0; from < docCount; ) from = scan(set, from, docCount);
  const out = new Int32Array(docCount);
  assert.deepEqual([...out.slice(0, set.list(out))], tested, 'a scan finds the same docs as tests');
  if (few !== null) {
    assert.equal(few.list(out), few.count);
    assert.deepEqual(
      [...out.slice(0, few.count)].sort((a, b) => a - b),
      tested,
      'the candidate list has the same docs',
    );
  }
  return tested;
}

/** The docs in the order of a column. The sort is stable. */
export function inOrder(column: Column, isDescending: boolean, docCount: number): number[] {
  const order = column.order(isDescending);
  assert.ok(order);
  const docs = Int32Array.from({ length: docCount }, (_, doc) => doc);
  const keys = new Float64Array(docCount);
  for (let at = 0; at < docCount; ) at = order.keys(docs, at, docCount, keys);
  for (const doc of docs) assert.equal(keys[doc], order.key(doc), 'single keys equal keys in bulk');
  return [...docs].sort(
    (a, b) => compareKeys(order.key(a), order.key(b)) || (order.isExact ? 0 : order.compare(a, b)),
  );
}

function compareKeys(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Counts the values of a column over docs. */
export function countsOf(column: CodeColumn, docs: readonly number[], tally: CodeTally): Map<Json, number> {
  tally.reserve(column.dictionary.codeCount);
  const list = Int32Array.from(docs);
  for (let at = 0; at < docs.length; ) at = column.tally(list, at, docs.length, tally);
  const counts = new Map<Json, number>();
  for (let at = 0; at < tally.size; at += 1) {
    counts.set(column.dictionary.valueOf(tally.codeAt(at)), tally.countOf(tally.codeAt(at)));
  }
  tally.clear();
  return counts;
}
