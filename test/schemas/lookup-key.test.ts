import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lookupKeyCharactersMax } from '../../src/contract/limits.ts';
import {
  entriesOf,
  type LookupIndex,
  layoutOf,
  overflowKey,
  valueKey,
  wholeKey,
} from '../../src/schemas/lookup-layout.ts';
import { candidates, entityOf } from './support/fixtures.ts';
import { compiledLookup, queryOf } from './support/lookups.ts';

test('lookup key: keys are bounded, and long values are still found by them', () => {
  const long = 'x'.repeat(100_000);
  const stored = [entityOf({ v: long }), entityOf({ v: `${long}y` }, { originId: 'o2' })];
  const schema = compiledLookup({ filter: 'properties.v eq {p.q}' });
  const query = queryOf(schema, entityOf({ q: long }));
  const layout = layoutOf(schema.lookupPlans);
  assert.ok(query.id.length < 300);
  for (const key of [...query.keys, ...stored.flatMap((entity) => entriesOf(layout, entity))])
    assert.ok(key.length <= 160);
  assert.equal(candidates(query, layout, stored).length, 1);
});

const index: LookupIndex = { type: 'page', kind: 'value', path: ['properties', 'a'] };

test('lookup key: indexes, strings and kinds have separate keys', () => {
  const others: LookupIndex[] = [index, { ...index, type: '*' }, { ...index, path: ['properties', 'b'] }];
  const keys = others.flatMap((one) => [
    valueKey(one, ''),
    valueKey(one, 'x'),
    overflowKey(one),
    wholeKey({ ...one, kind: 'text' }),
    wholeKey({ ...one, kind: 'all' }),
  ]);
  assert.equal(new Set(keys).size, keys.length);
});

test('lookup key: a key does not exceed its limit, and different long strings have different keys', () => {
  const at = (length: number) => valueKey(index, 'x'.repeat(length));
  const keys = Array.from({ length: 300 }, (_, length) => at(length));
  assert.equal(Math.max(...keys.map((key) => key.length)), lookupKeyCharactersMax);
  assert.equal(new Set(keys).size, keys.length);
});
