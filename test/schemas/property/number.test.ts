import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { runs } from '../../support/runs.ts';
import { assertCases, diagnosedKinds, mistakesIn, resultOf } from '../support/property.ts';

const number = (more: JsonObject = {}): Json => ({ type: 'number', value: '{p.a}', ...more });

test('a number, or text that is wholly a number, is rounded to the precision', () => {
  assertCases([
    [number(), { a: 9 }, 9],
    [number(), { a: 2.5 }, 2],
    [number(), { a: ' 1.25 ' }, 1],
    [number({ precision: 1 }), { a: ' 1.25 ' }, 1.2],
    [number({ precision: 2 }), { a: 2.675 }, 2.68],
    [number({ precision: 900 }), { a: '1.25' }, 1.25],
    [{ type: 'number', value: '{p.a}.{p.a}', precision: 1 }, { a: 9 }, 9.9],
    [{ type: 'number', value: 3 }, {}, 3],
  ]);
});

test('anything else is null', () => {
  for (const a of [null, '', 'abc', '1 2', '0x10', true, ['1'], { b: 1 }, '1e400']) {
    assert.equal(resultOf(number(), { a }), null, JSON.stringify(a));
  }
});

test('anything else gives the default, which is not rounded', () => {
  assertCases([
    [number({ default: 1.55 }), { a: 'abc' }, 1.55],
    [number({ default: '0.75', precision: 1 }), {}, 0.75],
    [number({ default: '{p.b}' }), { b: 2.5 }, 2.5],
    [number({ default: '{p.b}' }), { b: 'abc' }, null],
    [number({ default: '{p.b}' }), { b: true }, null],
    [number({ default: 3 }), { a: '' }, 3],
    [number({ default: 1 }), { a: true }, 1],
    [number({ default: 2 }), { a: '1e400' }, 2],
    [number({ default: 1 }), { a: 0 }, 0],
  ]);
});

test('any JSON number that is kept whole comes out as it is', () => {
  const numbers = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((a) => !Object.is(a, -0));
  fc.assert(
    fc.property(numbers, (a) => {
      assert.equal(resultOf(number({ precision: 1_100 }), { a }), a);
      assert.equal(resultOf(number({ precision: 1_100 }), { a: String(a) }), a);
    }),
    { numRuns: runs(200) },
  );
});

test('a value that is no number is diagnosed unless it is null or a default is there', () => {
  assert.deepEqual(diagnosedKinds(number(), { a: 'abc' }), ['valueDoesNotFit']);
  assert.deepEqual(diagnosedKinds(number(), { a: null }), []);
  assert.deepEqual(diagnosedKinds(number({ default: 1 }), { a: 'abc' }), []);
  assert.deepEqual(diagnosedKinds(number(), { a: '1' }), []);
});

test('the precision is a whole number that is not negative, and a constant default a number', () => {
  for (const precision of [-1, 0.5, '2', null]) {
    assert.deepEqual(mistakesIn(number({ precision })), ['.precision'], String(precision));
  }
  for (const wrong of ['many', '', true]) {
    assert.deepEqual(mistakesIn(number({ default: wrong })), ['.default'], String(wrong));
  }
  assert.deepEqual(mistakesIn({ type: 'number' }), ['.value']);
  assert.deepEqual(mistakesIn(number({ round: 1 })), ['.round']);
});
