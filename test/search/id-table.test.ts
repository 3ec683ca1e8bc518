import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { IdSegment, IdTable } from '../../src/search/id-table.ts';
import { ValueList } from '../../src/search/value-list.ts';
import { restoredFrom } from './support/parts.ts';

type Key = string | number | boolean;

const key = fc.oneof(
  fc.nat(200_000).map(textOf),
  fc.nat(200_000),
  fc.boolean(),
  fc.constantFrom(
    '',
    '1',
    'true',
    0.5,
    -1e300,
    'a'.repeat(5_000),
    `${'a'.repeat(2_500)}b${'a'.repeat(2_499)}`,
  ),
);
const many = 40_000;

function textOf(number: number): string {
  return `text ${number}`;
}

/** A table with its keys, and a reference Map. */
class Both {
  readonly keys = new ValueList<Key>();
  table = new IdTable(this.keys);
  readonly expected = new Map<Key, number>();

  add(each: Key): void {
    const id = this.keys.length;
    assert.equal(this.table.findOrAdd(each, id), id);
    this.keys.push(each);
    assert.equal(this.table.findOrAdd(each, id + 1), id);
    this.expected.set(each, id);
  }

  remove(each: Key): void {
    const id = this.expected.get(each);
    if (id === undefined) return;
    this.table.remove(each, id);
    this.keys.set(id, undefined);
    this.expected.delete(each);
  }

  assertFinds(each: Key): void {
    assert.equal(this.table.find(each), this.expected.get(each) ?? -1);
  }
}

test('id table: keys are found while they are present, few or many, also in a snapshot', async () => {
  const few = new Both();
  const filled = new Both();
  for (let number = 0; number < many; number += 1) filled.add(number % 2 === 0 ? number : textOf(number));
  fc.assert(
    fc.property(fc.array(fc.tuple(key, fc.boolean()), { maxLength: 200 }), (changes) => {
      for (const both of [few, filled]) {
        for (const [each, isAdded] of changes) {
          if (!isAdded) both.remove(each);
          else if (!both.expected.has(each)) both.add(each);
          both.assertFinds(each);
        }
        assert.equal(both.table.size, both.expected.size);
      }
    }),
  );
  for (const both of [few, filled]) {
    both.table = await restoredFrom(both.table, new IdTable(both.keys));
    assert.equal(both.table.size, both.expected.size);
    for (const each of [...both.expected.keys(), 'none']) both.assertFinds(each);
    both.add('another');
    both.assertFinds('another');
  }
});

test('id table: all keys can be removed and added again', () => {
  const both = new Both();
  for (let round = 0; round < 2; round += 1) {
    for (let number = 0; number < many; number += 1) both.add(textOf(number));
    for (const each of [...both.expected.keys()]) {
      both.remove(each);
      both.assertFinds(each);
    }
    assert.equal(both.table.size, 0);
  }
});

test('id table: 0 and -0 are one key, and a number is not a string', () => {
  const both = new Both();
  both.add(0);
  assert.equal(both.table.find(-0), 0);
  for (const each of ['0', false, '']) assert.equal(both.table.find(each), -1);
});

test('id table: entries with the same hash or home slot are all found, after any removals', () => {
  const hash = fc.oneof(fc.constantFrom(0, 7, 8, 15, -1), fc.integer());
  fc.assert(
    fc.property(fc.array(fc.tuple(hash, fc.nat(3)), { maxLength: 120 }), (changes) => {
      const segment = new IdSegment();
      const expected = new Map<number, number>();
      for (const [id, [each, kind]] of changes.entries()) {
        const [[goes, of] = [-1, 0]] = expected;
        if (kind > 0) {
          segment.add(each, id);
          expected.set(id, each);
        } else if (goes >= 0) {
          segment.remove(slotOf(segment, of, goes));
          expected.delete(goes);
        }
      }
      for (const [id, of] of expected) assert.ok(slotOf(segment, of, id) >= 0);
      const all: [number, number][] = [];
      segment.forEach((of, id) => void all.push([id, of]));
      assert.deepEqual(new Map(all), expected);
    }),
  );
});

function slotOf(segment: IdSegment, hash: number, id: number): number {
  let slot = segment.firstOf(hash);
  while (slot >= 0 && segment.idAt(slot) !== id) slot = segment.nextOf(hash, slot);
  return slot;
}

test('id table: its parts stay small, so doubling never moves many entries in one step', () => {
  const keys = new ValueList<Key>();
  const table = new IdTable(keys);
  let largestStep = 0;
  for (let number = 0, bytes = table.bytes; number < 200_000; number += 1) {
    keys.push(`origin-${number}`);
    table.add(`origin-${number}`, number);
    if (number % 50 > 0) continue;
    largestStep = Math.max(largestStep, Math.abs(table.bytes - bytes));
    bytes = table.bytes;
  }
  // 32,768 entries in twice as many slots of 8 bytes.
  assert.ok(largestStep <= 65_536 * 8, `${largestStep} bytes in one step`);
});
