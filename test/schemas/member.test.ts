import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../src/contract/json.ts';
import { EntityValue } from '../../src/schemas/build/entity-value.ts';
import { element, listOf, member, ownMember } from '../../src/schemas/values.ts';
import { runs } from '../support/runs.ts';
import { entityOf } from './support/fixtures.ts';

test('member: only own members are read; anything else is null', () => {
  const names = fc.constantFrom('a', 'p', 'length', 'constructor', '__proto__', 'toString', '0');
  const values = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(names, fc.jsonValue()),
    fc.array(fc.jsonValue()),
  ) as fc.Arbitrary<Json>;
  fc.assert(
    fc.property(values, names, (value, name) => {
      const isObject = JSON.stringify(value).startsWith('{');
      const entries = isObject ? Object.entries(value ?? {}) : [];
      const wanted = entries.find(([key]) => key === name)?.[1] ?? null;
      assert.deepEqual(member(value, name), wanted);
    }),
    { numRuns: runs(1_000) },
  );
});

test('member: only `ownMember` distinguishes a null member from an absent one', () => {
  assert.equal(ownMember({ a: null }, 'a'), null);
  assert.equal(ownMember({}, 'a'), undefined);
  assert.equal(ownMember(null, 'a'), undefined);
  assert.equal(member({ a: null }, 'a'), null);
  assert.equal(member({}, 'a'), null);
});

test('member: `p` of an entity is its properties, of any other object its own member', () => {
  const entity = new EntityValue(entityOf({ p: 'inner', x: 1 }));
  assert.deepEqual(member(entity, 'p'), { p: 'inner', x: 1 });
  assert.equal(member({ properties: { x: 1 } }, 'p'), null);
  assert.equal(member({ p: 2, properties: {} }, 'p'), 2);
});

test('member: an element is read by its index in an array, from 0', () => {
  assert.equal(element(['a', 'b'], 1), 'b');
  assert.equal(element(['a'], 1), null);
  assert.equal(element([null], 0), null);
  assert.equal(element('text', 0), null);
  assert.equal(element({ 0: 'a' }, 0), null);
  assert.equal(element(null, 0), null);
});

test('member: the list of null is empty, of an array itself, of any other value the single value', () => {
  assert.deepEqual(listOf(null), []);
  assert.deepEqual(listOf([null, 1]), [null, 1]);
  for (const value of ['', 0, false, 'text', {}]) assert.deepEqual(listOf(value), [value]);
});
