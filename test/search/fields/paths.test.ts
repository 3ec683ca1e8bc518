/** Members of objects as fields (docs/reference/indexes-and-queries.md "Auto-indexed source groups"). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { finish, runSync } from '../../../src/lib/cooperative-yield.ts';
import {
  decidesNothing,
  inferFieldType,
  isRetyped,
  recordShown,
  retypes,
  shownFields,
} from '../../../src/search/fields/infer.ts';
import { fieldValue, pathValues, sentValue } from '../../../src/search/fields/paths.ts';

const pathsOf = (properties: JsonObject) => Object.fromEntries(runSync(pathValues(properties)));

test('paths: members of objects are fields up to three names deep, lists also in lists of objects', () => {
  const properties: JsonObject = {
    plain: 1,
    list: ['a', 1],
    a: { b: { c: { d: 1 } }, n: null, e: [], x: ['y'] },
    l: [{ m: 1 }, 'other', { m: [2, 3], o: { p: true } }, { m: null }],
  };
  assert.deepEqual(pathsOf(properties), {
    'a.b': { c: { d: 1 } },
    'a.b.c': { d: 1 },
    'a.e': [],
    'a.x': ['y'],
    'l.m': [1, 2, 3],
    'l.o': [{ p: true }],
    'l.o.p': [true],
  });
  assert.deepEqual(pathsOf({ a: { ['x'.repeat(300)]: 1, y: 2 } }), { 'a.y': 2 });
  assert.deepEqual(pathsOf(JSON.parse('{"a":{"__proto__":1}}') as JsonObject), { 'a.__proto__': 1 });
});

test('paths: the value of a field is the part that its type accepts', () => {
  const fields: JsonObject = { a: { b: [1, 'x', 2] }, c: 5 };
  const of = (name: string, type: 'double[]' | 'keywordText') => finish(fieldValue(fields, name, type));
  assert.deepEqual(of('a.b', 'double[]'), [1, 2]);
  assert.deepEqual(
    [of('a.b', 'keywordText'), of('a.z', 'keywordText'), of('c.d', 'keywordText')],
    [null, null, null],
  );
  assert.deepEqual(finish(sentValue(fields, 'a.b')), [1, 'x', 2]);
  assert.deepEqual(finish(sentValue(fields, 'c')), 5);
});

test('shown fields: new ones, properties first, and dates that receive another string', () => {
  const shown = (properties: JsonObject, known: Parameters<typeof shownFields>[1]) =>
    runSync(shownFields(properties, known));
  assert.deepEqual(shown({ a: { b: 1 }, c: 'x' }, null), [
    ['a', 'object'],
    ['c', 'keywordText'],
    ['a.b', 'double'],
  ]);
  const known = new Map([
    ['a', 'object'],
    ['a.day', 'date'],
    ['day', 'date'],
    ['days', 'date[]'],
  ] as const);
  assert.deepEqual(shown({ a: { day: '2024-05-17' }, day: 5, days: ['2024-05-17'] }, known), []);
  assert.deepEqual(shown({ a: { day: 'x' }, day: 'y', days: ['2024-05-17', 'z'] }, known), [
    ['day', 'keywordText'],
    ['days', 'keywordText[]'],
    ['a.day', 'keywordText'],
  ]);
  const candidates = new Map();
  for (const type of ['date', 'double', 'keywordText', 'date'] as const)
    recordShown(['day', type], candidates);
  assert.equal(candidates.get('day'), 'keywordText');
});

test('paths: a date field becomes text only after a string that is neither a date nor empty', () => {
  const others: Json[] = ['2024-05-17', 17, null, ['x'], true, {}, ''];
  for (const value of others) assert.equal(retypes('date', value), false);
  assert.equal(retypes('date', ' '), true);
  assert.equal(retypes('double', 'x'), false);
  assert.equal(inferFieldType(['2024-05-17', 'x']), 'keywordText[]');
  assert.equal(inferFieldType(['2024-05-17', 5]), 'date[]');
  assert.equal(isRetyped('date', 'keywordText[]'), false);
});

test('paths: null, an empty string, and a list of nothing else determine no type', () => {
  for (const value of [null, '', [], [null], ['', null, '']]) {
    assert.equal(inferFieldType(value), null);
    assert.equal(decidesNothing(value), true);
  }
  assert.equal(inferFieldType(['', null, '2024-05-17']), 'date[]');
  assert.equal(inferFieldType(['', 'x']), 'keywordText[]');
  for (const value of [' ', [[]], ['', 0], {}, false]) assert.equal(decidesNothing(value), false);
});
