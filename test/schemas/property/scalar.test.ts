import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { runs } from '../../support/runs.ts';
import { assertCases, diagnosedKinds, issuesIn, resultOf } from '../support/property.ts';

test('scalar: a string is a string or null', () => {
  assertCases([
    [{ type: 'string', value: '{p.a}' }, { a: 'Hello' }, 'Hello'],
    [{ type: 'string', value: '{p.a}' }, { a: '' }, ''],
    [{ type: 'string', value: '{p.a}' }, { a: 'a "b" \\ \n \u0001 🌍' }, 'a "b" \\ \n \u0001 🌍'],
    [{ type: 'string', value: '{p.a}' }, { a: null }, null],
    [{ type: 'string', value: '{p.a}' }, { a: false }, 'false'],
    [{ type: 'string', value: { $exp: '{p.a}' } }, { a: { b: [1] } }, '{"b":[1]}'],
    [{ type: 'string', value: 7 }, {}, '7'],
    [{ type: 'string', value: null }, {}, null],
  ]);
});

test('scalar: only null and the empty string are replaced by the default', () => {
  assertCases([
    [{ type: 'string', value: '{p.a}', default: 'D' }, { a: '' }, 'D'],
    [{ type: 'string', value: '{p.a}', default: '{p.b}' }, { b: 'B' }, 'B'],
    [{ type: 'string', value: '{p.a}', default: '{p.b}' }, {}, null],
    [{ type: 'string', value: '{p.a}', default: 'D' }, { a: 'A' }, 'A'],
    [{ type: 'string', value: '{p.a} ', default: 'D' }, {}, ' '],
    [{ type: 'string', value: '{p.a}', default: 'D' }, { a: 0 }, '0'],
    [{ type: 'string', value: '{p.a}', default: 7 }, {}, '7'],
    [{ type: 'string', value: '', default: 'D' }, {}, 'D'],
  ]);
});

test('scalar: a bare string is an expression and returns a string', () => {
  assertCases([
    ['{p.a}', { a: 'Hello' }, 'Hello'],
    ['{p.a}', { a: 9 }, '9'],
    ['{p.a}', {}, null],
    ['plain', {}, 'plain'],
    ['', {}, ''],
  ]);
});

test('scalar: a bare number, true, false or null is a constant', () => {
  assertCases([
    [5.25, {}, 5.25],
    [true, {}, true],
    [false, {}, false],
    [null, {}, null],
  ]);
});

test('scalar: the value is required, and unknown keys are rejected', () => {
  assert.deepEqual(issuesIn({ type: 'string' }), ['.value']);
  assert.deepEqual(issuesIn({ type: 'string', value: '', valeu: '' }), ['.valeu']);
  assert.deepEqual(issuesIn({ type: 'string', value: '{p.', default: '{x}' }), ['.value', '.default']);
});

const number = (more: JsonObject = {}): Json => ({ type: 'number', value: '{p.a}', ...more });

test('scalar: a number, or a string that is entirely a number, is rounded to the precision', () => {
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

test('scalar: anything else is null', () => {
  for (const a of [null, '', 'abc', '1 2', '0x10', true, ['1'], { b: 1 }, '1e400']) {
    assert.equal(resultOf(number(), { a }), null, JSON.stringify(a));
  }
});

test('scalar: anything else gives the default, which is not rounded', () => {
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

test('scalar: any JSON number that is exactly representable is unchanged', () => {
  const numbers = fc.double({ noNaN: true, noDefaultInfinity: true }).filter((a) => !Object.is(a, -0));
  fc.assert(
    fc.property(numbers, (a) => {
      assert.equal(resultOf(number({ precision: 1_100 }), { a }), a);
      assert.equal(resultOf(number({ precision: 1_100 }), { a: String(a) }), a);
    }),
    { numRuns: runs(200) },
  );
});

test('scalar: a value that is not a number is diagnosed unless it is null or there is a default', () => {
  assert.deepEqual(diagnosedKinds(number(), { a: 'abc' }), ['valueDoesNotFit']);
  assert.deepEqual(diagnosedKinds(number(), { a: null }), []);
  assert.deepEqual(diagnosedKinds(number({ default: 1 }), { a: 'abc' }), []);
  assert.deepEqual(diagnosedKinds(number(), { a: '1' }), []);
});

test('scalar: the precision is a non-negative integer, and a constant default is a number', () => {
  for (const precision of [-1, 0.5, '2', null]) {
    assert.deepEqual(issuesIn(number({ precision })), ['.precision'], String(precision));
  }
  for (const wrong of ['many', '', true]) {
    assert.deepEqual(issuesIn(number({ default: wrong })), ['.default'], String(wrong));
  }
  assert.deepEqual(issuesIn({ type: 'number' }), ['.value']);
  assert.deepEqual(issuesIn(number({ round: 1 })), ['.round']);
});

const boolean = (more: JsonObject = {}): Json => ({ type: 'boolean', value: '{p.a}', ...more });

test('scalar: true and false are accepted, and these words in any case', () => {
  const words = fc.constantFrom('true', 'false').chain((word) =>
    fc.tuple(...[...word].map((letter) => fc.constantFrom(letter, letter.toUpperCase()))).map((letters) => {
      return { word, written: letters.join('') };
    }),
  );
  fc.assert(
    fc.property(words, ({ word, written }) => {
      assert.equal(resultOf(boolean(), { a: written }), word === 'true');
    }),
    { numRuns: runs(100) },
  );
  assertCases([
    [boolean(), { a: true }, true],
    [boolean(), { a: false }, false],
    [{ type: 'boolean', value: false }, {}, false],
  ]);
});

test('scalar: anything else is null', () => {
  for (const a of [null, '', 'yes', ' true', 'true ', 'falsey', 0, 1, [true], {}]) {
    assert.equal(resultOf(boolean(), { a }), null, JSON.stringify(a));
  }
});

test('scalar: anything else gives the default', () => {
  assertCases([
    [boolean({ default: false }), { a: 'abc' }, false],
    [boolean({ default: 'True' }), {}, true],
    [boolean({ default: '{p.b}' }), { b: 'FALSE' }, false],
    [boolean({ default: '{p.b}' }), { b: 'abc' }, null],
    [boolean({ default: true }), { a: false }, false],
  ]);
});

test('scalar: a value that is not a boolean is diagnosed unless it is null or there is a default', () => {
  assert.deepEqual(diagnosedKinds(boolean(), { a: 'yes' }), ['valueDoesNotFit']);
  assert.deepEqual(diagnosedKinds(boolean(), { a: null }), []);
  assert.deepEqual(diagnosedKinds(boolean({ default: true }), { a: 'yes' }), []);
});

test('scalar: a constant default is true, false or one of these words', () => {
  assert.deepEqual(issuesIn(boolean({ default: 'maybe' })), ['.default']);
  assert.deepEqual(issuesIn(boolean({ default: 1 })), ['.default']);
  assert.deepEqual(issuesIn({ type: 'boolean' }), ['.value']);
  assert.deepEqual(issuesIn(boolean({ not: true })), ['.not']);
});
