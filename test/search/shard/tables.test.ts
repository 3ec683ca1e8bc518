import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { runSync, type Steps, Suspended, workBudget } from '../../../src/lib/cooperative-yield.ts';
import { CodeTally } from '../../../src/search/columns/code-tally.ts';
import type { FieldType } from '../../../src/search/fields/field-type.ts';
import { Field } from '../../../src/search/shard/tables.ts';
import { countsOf } from '../support/columns.ts';

function fieldOf(type: FieldType, values: readonly Json[]): Field {
  const field = new Field(type);
  for (const [doc, value] of values.entries()) runSync(field.set(doc, value, values.length));
  return field;
}

function facetCounts(field: Field, values: readonly Json[]): Map<Json, number> {
  const codes = runSync(field.facetCodes(values.length, (doc) => values[doc] ?? null));
  return countsOf(codes, [...values.keys()], new CodeTally());
}

test('tables: only text fields have their words indexed', () => {
  assert.equal(fieldOf('keyword', []).text, null);
  assert.equal(fieldOf('text[]', [['a b', 'b'], ['b']]).text?.words.postingCount, 3);
  const field = new Field('text');
  assert.equal(runSync(field.set(0, 'word', 1)), true);
  assert.equal(runSync(field.set(1, '--', 2)), false, 'no word, nothing to sweep');
});

test('tables: facets of numbers are built by the first query, and updated with the docs from then on', () => {
  const values: Json[] = [1, 2, 1, -0];
  const field = fieldOf('double', values);
  assert.deepEqual(
    facetCounts(field, values),
    new Map([
      [1, 2],
      [2, 1],
      [0, 1],
    ]),
  );
  runSync(field.clear(0));
  runSync(field.set(0, 2, 4));
  assert.deepEqual(
    facetCounts(field, [2, 2, 1, 0]),
    new Map([
      [2, 2],
      [1, 1],
      [0, 1],
    ]),
  );
});

test('tables: longs in facets are numbers if exact, otherwise strings', () => {
  const values: Json[] = ['5', 5, '9007199254740993'];
  assert.deepEqual(
    facetCounts(fieldOf('long', values), values),
    new Map<Json, number>([
      [5, 2],
      ['9007199254740993', 1],
    ]),
  );
});

test('tables: an abandoned facet leaves its work to the next one', () => {
  const values = Array.from({ length: 100 }, (_, at) => [at, at + 1]);
  const field = fieldOf('integer[]', values);
  const { clock } = workBudget;
  workBudget.clock = () => true;
  let read = 0;
  const valueAt = (doc: number): Json => {
    read += 1;
    workBudget.units += workBudget.unitsPerClockCheck;
    return values[doc] ?? null;
  };
  const begun = field.facetCodes(values.length, valueAt);
  for (let at = 0; at < 50; at += 1) begun.next();
  begun.return(undefined as never);
  workBudget.clock = clock;
  const readBefore = read;
  const codes = runSync(field.facetCodes(values.length, valueAt));
  assert.ok(readBefore > 0 && readBefore < 100);
  assert.equal(read, 100, 'each value is read once');
  const counts = countsOf(codes, [...values.keys()], new CodeTally());
  assert.equal(counts.size, 101);
  assert.equal(counts.get(25), 2);
});

/** Continues the first facet of a field until it pauses twice within one doc: it is growing its tables. */
function untilRoomIsMade(field: Field, values: readonly Json[]): number {
  let readAtPause = -1;
  let read = 0;
  const begun = field.facetCodes(values.length, (doc) => {
    read += 1;
    return values[doc] ?? null;
  });
  while (begun.next().done !== true) {
    if (read === readAtPause && read > 50_000) break;
    readAtPause = read;
  }
  begun.return(undefined as never);
  return read;
}

test('tables: the first facet grows its tables in steps; if abandoned there, the next query continues', (context) => {
  const { clock } = workBudget;
  context.after(() => {
    workBudget.clock = clock;
  });
  for (const [type, valueAt] of [
    ['double', (doc: number): Json => doc / 7],
    ['double[]', (doc: number): Json => [doc / 7, doc / 7 + 1]],
  ] as const) {
    const values = Array.from({ length: 140_000 }, (_, doc) => valueAt(doc));
    const field = fieldOf(type, values);
    workBudget.clock = () => true;
    const read = untilRoomIsMade(field, values);
    assert.ok(read < values.length, `${type}: the tables did not grow in steps`);
    workBudget.clock = clock;
    for (const doc of [3, read - 1]) {
      const value = valueAt(-doc);
      runSync(field.clear(doc));
      runSync(field.set(doc, value, values.length));
      values[doc] = value;
    }
    const expected = new Map<Json, number>();
    for (const each of values.flat()) expected.set(each, (expected.get(each) ?? 0) + 1);
    assert.deepEqual(facetCounts(field, values), expected, type);
  }
});

test('tables: a value that is read in steps is counted', () => {
  const values: Json[] = [1, 2, 2];
  const field = fieldOf('double', values);
  function* reading(doc: number): Steps<Json> {
    yield;
    yield;
    return values[doc] ?? null;
  }
  const codes = runSync(field.facetCodes(values.length, (doc) => new Suspended(reading(doc))));
  const expected = new Map<Json, number>([
    [1, 1],
    [2, 2],
  ]);
  assert.deepEqual(countsOf(codes, [0, 1, 2], new CodeTally()), expected);
});
