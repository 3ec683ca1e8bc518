import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../src/contract/json.ts';
import { scalarText, valueText } from '../../src/schemas/values.ts';
import { runs } from '../support/runs.ts';

test('value text: a string is itself, and null has none', () => {
  assert.equal(valueText(''), '');
  assert.equal(valueText('"a"\n'), '"a"\n');
  assert.equal(valueText(null), null);
});

test('value text: a number has its shortest form, a boolean its word, a structure its JSON', () => {
  const cases: [Json, string][] = [
    [9, '9'],
    [-0, '0'],
    [0.1, '0.1'],
    [1e21, '1e+21'],
    [true, 'true'],
    [false, 'false'],
    [[], '[]'],
    [['a', null], '["a",null]'],
    [{ a: { b: 1 } }, '{"a":{"b":1}}'],
  ];
  for (const [value, wanted] of cases) assert.equal(valueText(value), wanted);
});

test('value text: for anything but strings and null it is JSON that parses to the value', () => {
  const values = fc.jsonValue().filter((value) => typeof value !== 'string' && value !== null);
  fc.assert(
    fc.property(values, (value) => {
      const wanted: unknown = JSON.parse(JSON.stringify(value));
      assert.deepEqual(JSON.parse(valueText(JSON.parse(JSON.stringify(value))) ?? ''), wanted);
    }),
    { numRuns: runs(500) },
  );
});

test('value text: a number that JSON cannot represent has none', () => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
    assert.equal(valueText(value), null);
  }
});

test('value text: lookups compare only scalars by it', () => {
  assert.equal(scalarText(9), '9');
  assert.equal(scalarText('9'), '9');
  assert.equal(scalarText(true), 'true');
  for (const value of [null, [], ['9'], {}]) assert.equal(scalarText(value), null, JSON.stringify(value));
});
