import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { runs } from '../../support/runs.ts';
import { assertCases, diagnosedKinds, mistakesIn, resultOf } from '../support/property.ts';

const boolean = (more: JsonObject = {}): Json => ({ type: 'boolean', value: '{p.a}', ...more });

test('true and false count, and these words in any case', () => {
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

test('anything else is null', () => {
  for (const a of [null, '', 'yes', ' true', 'true ', 'falsey', 0, 1, [true], {}]) {
    assert.equal(resultOf(boolean(), { a }), null, JSON.stringify(a));
  }
});

test('anything else gives the default', () => {
  assertCases([
    [boolean({ default: false }), { a: 'abc' }, false],
    [boolean({ default: 'True' }), {}, true],
    [boolean({ default: '{p.b}' }), { b: 'FALSE' }, false],
    [boolean({ default: '{p.b}' }), { b: 'abc' }, null],
    [boolean({ default: true }), { a: false }, false],
  ]);
});

test('a value that is no boolean is diagnosed unless it is null or a default is there', () => {
  assert.deepEqual(diagnosedKinds(boolean(), { a: 'yes' }), ['valueDoesNotFit']);
  assert.deepEqual(diagnosedKinds(boolean(), { a: null }), []);
  assert.deepEqual(diagnosedKinds(boolean({ default: true }), { a: 'yes' }), []);
});

test('a constant default is one of the words', () => {
  assert.deepEqual(mistakesIn(boolean({ default: 'maybe' })), ['.default']);
  assert.deepEqual(mistakesIn(boolean({ default: 1 })), ['.default']);
  assert.deepEqual(mistakesIn({ type: 'boolean' }), ['.value']);
  assert.deepEqual(mistakesIn(boolean({ not: true })), ['.not']);
});
