import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  canonicalJson,
  getOwn,
  isJsonObject,
  type Json,
  type JsonObject,
  setOwn,
} from '../../src/contract/json.ts';
import { groupBy } from '../../src/lib/lists.ts';
import { runs } from '../support/runs.ts';

/** The same value with the members of every object in the opposite order. */
function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed);
  if (!isJsonObject(value)) return value;
  const result: JsonObject = {};
  for (const name of Object.keys(value).reverse()) setOwn(result, name, reversed(value[name] ?? null));
  return result;
}

const values = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as Json);

test('JSON: equal values have the same canonical text, whatever the order of their members', () => {
  fc.assert(
    fc.property(values, (value) => {
      assert.equal(canonicalJson(reversed(value)), canonicalJson(value));
      assert.deepEqual(JSON.parse(canonicalJson(value)), value);
    }),
    { numRuns: runs(300) },
  );
});

test('JSON: different values have different canonical text', () => {
  const different: Json[] = [
    null,
    0,
    '0',
    false,
    [],
    {},
    [null],
    [[]],
    { a: null },
    { a: [] },
    '[]',
    'null',
    '',
  ];
  assert.equal(new Set(different.map(canonicalJson)).size, different.length);
  assert.notEqual(canonicalJson([1, 2]), canonicalJson([2, 1]));
});

test('JSON: names on prototypes are ordinary names', () => {
  const parsed = JSON.parse('{"__proto__":{"polluted":1},"constructor":2}') as JsonObject;
  assert.equal(canonicalJson(parsed), '{"__proto__":{"polluted":1},"constructor":2}');
  assert.deepEqual(getOwn(parsed, '__proto__'), { polluted: 1 });
  assert.equal(getOwn({}, 'constructor'), undefined);
  const made: JsonObject = {};
  setOwn(made, '__proto__', { polluted: 1 });
  assert.equal(JSON.stringify(made), '{"__proto__":{"polluted":1}}');
  assert.equal(Object.getPrototypeOf(made), Object.prototype);
  assert.equal((made as { polluted?: unknown }).polluted, undefined);
});

test('JSON: items are grouped by key, in their order', () => {
  const groups = groupBy(['b1', 'a1', 'b2', 'a2'], (thing) => thing[0]);
  assert.deepEqual(
    [...groups],
    [
      ['b', ['b1', 'b2']],
      ['a', ['a1', 'a2']],
    ],
  );
});

test('JSON: each member is visited a few times, however deep it is', () => {
  let reads = 0;
  const inside = (value: Json): JsonObject =>
    Object.defineProperty({}, 'a', {
      enumerable: true,
      get: () => {
        reads += 1;
        return value;
      },
    }) as JsonObject;
  const levels = 16;
  let value: Json = { b: 1, a: 2 };
  for (let level = 0; level < levels; level += 1) value = inside(value);
  assert.equal(canonicalJson(value), `${'{"a":'.repeat(levels)}{"a":2,"b":1}${'}'.repeat(levels)}`);
  assert.ok(reads <= 3 * levels, `${reads} reads`);
});
