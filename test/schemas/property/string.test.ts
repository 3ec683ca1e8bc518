import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertCases, mistakesIn } from '../support/property.ts';

test('a string is text or null', () => {
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

test('the default stands for null and for the empty text alone', () => {
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

test('a bare text is an expression and gives text', () => {
  assertCases([
    ['{p.a}', { a: 'Hello' }, 'Hello'],
    ['{p.a}', { a: 9 }, '9'],
    ['{p.a}', {}, null],
    ['plain', {}, 'plain'],
    ['', {}, ''],
  ]);
});

test('a bare number, true, false or null is a constant', () => {
  assertCases([
    [5.25, {}, 5.25],
    [true, {}, true],
    [false, {}, false],
    [null, {}, null],
  ]);
});

test('the value must be there, and no other key may', () => {
  assert.deepEqual(mistakesIn({ type: 'string' }), ['.value']);
  assert.deepEqual(mistakesIn({ type: 'string', value: '', valeu: '' }), ['.valeu']);
  assert.deepEqual(mistakesIn({ type: 'string', value: '{p.', default: '{x}' }), ['.value', '.default']);
});
