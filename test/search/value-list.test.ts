import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { PlainValue } from '../../src/search/packed-values.ts';
import { PagedList, ValueList } from '../../src/search/value-list.ts';
import { runs } from '../support/runs.ts';
import { restoredFrom } from './support/parts.ts';

const value = fc.option(
  fc.oneof(
    fc.constantFrom('', 'é', 'ÿ', 'Ā', '日本', '😀', '\ud800', 'a\0b', 'true'),
    fc.string({ unit: 'binary', maxLength: 5 }),
    fc.boolean(),
  ),
  { nil: undefined },
);
const longest = 5_000;
const change = fc.tuple(fc.nat(longest), value, fc.constantFrom('push', 'set', 'at', 'snapshot'));

test('value list: values keep their index, also in a snapshot of a snapshot, whatever was read or changed in between', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: longest }),
      fc.array(value, { minLength: 1, maxLength: 20 }),
      fc.array(change, { maxLength: 30 }),
      async (length, cycle, changes) => {
        let list = new ValueList<PlainValue>();
        const expected: (PlainValue | undefined)[] = Array.from(
          { length },
          (_, at) => cycle[at % cycle.length],
        );
        for (const each of expected) list.push(each);
        for (const [place, each, kind] of changes) {
          const at = expected.length === 0 ? 0 : place % expected.length;
          if (kind === 'snapshot') list = await restoredFrom(list, new ValueList<PlainValue>());
          else if (kind === 'push') expected.push(each);
          else if (kind === 'set' && expected.length > 0) expected[at] = each;
          if (kind === 'push') list.push(each);
          if (kind === 'set' && expected.length > 0) list.set(at, each);
          if (kind === 'at') assert.equal(list.at(at), expected[at]);
          else if (each !== undefined) assert.equal(list.holds(at, each), expected[at] === each);
        }
        assert.equal(list.length, expected.length);
        for (const [at, each] of expected.entries()) {
          if (each !== undefined) assert.ok(list.holds(at, each));
          assert.equal(list.holds(at, 'another'), false);
          assert.equal(list.at(at), each);
        }
        assert.equal(list.at(expected.length), undefined);
      },
    ),
    { numRuns: runs(25) },
  );
});

test('value list: numbers, which no snapshot has in such a list, do not become booleans', () => {
  const list = new ValueList<PlainValue>();
  list.push(5);
  assert.throws(() => [...list.parts()], /a number/);
});

test('value list: a page of large values is unchanged', async () => {
  const list = new ValueList<string>();
  const values = Array.from({ length: 60 }, (_, at) => (at % 2 === 0 ? 'é' : '日').repeat(at * 1_000) + at);
  for (const each of values) list.push(each);
  const again = await restoredFrom(list, new ValueList<string>());
  for (const [at, each] of values.entries()) {
    assert.ok(again.holds(at, each));
    assert.equal(again.holds(at, `${each} `), false);
    assert.equal(again.at(at), each);
  }
  const largest = Math.max(...Array.from(again.parts(), ({ byteLength }) => byteLength));
  assert.ok(largest < 512 * 1024, `${largest} bytes in a part`);
});

test('value list: values keep their index, on every page', () => {
  const list = new PagedList<number | undefined>();
  assert.equal(list.at(0), undefined);
  for (let at = 30_000; at < 50_000; at += 1) list.set(at, at);
  list.set(39_000, -1);
  list.set(30_000, undefined);
  for (let at = 30_001; at < 50_000; at += 1) assert.equal(list.at(at), at === 39_000 ? -1 : at);
  assert.deepEqual(
    [list.at(0), list.at(30_000), list.at(50_000), list.at(100_000)],
    Array(4).fill(undefined),
  );
});
