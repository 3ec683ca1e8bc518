import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lookupKeysMax } from '../../../src/contract/limits.ts';
import { keyTerms } from '../../../src/schemas/filter/key-terms.ts';
import { type LookupIndex, overflowKey, valueKey, wholeKey } from '../../../src/schemas/lookup-layout.ts';
import { entityOf, frameOf } from '../support/fixtures.ts';
import { compiledLookup, parseFilter } from '../support/lookups.ts';

test('key terms: the narrowest key is chosen, including the type', () => {
  const indexes = (filter: string) => compiledLookup({ filter }).lookupPlans[0]?.indexes;
  const value = (path: string[], type = 'page') => ({ type, kind: 'value', path });
  assert.deepEqual(indexes("type eq 'page' and properties.a eq 1 and properties.b gt 2"), [
    value(['properties', 'a']),
  ]);
  assert.deepEqual(indexes("properties.a eq 1 or properties.b in ('x', 'y')"), [
    value(['properties', 'a'], '*'),
    value(['properties', 'b'], '*'),
  ]);
  assert.deepEqual(indexes('properties.tags/any(t: t.id eq 3 and t.x ne 1)'), [
    value(['properties', 'tags', 'id'], '*'),
  ]);
  assert.deepEqual(indexes("type eq 'page' and startswith(url, '/x')"), [
    { type: 'page', kind: 'text', path: ['url'] },
  ]);
  assert.deepEqual(indexes("type eq 'page' and not (properties.a eq 1)"), [
    { type: 'page', kind: 'all', path: [] },
  ]);
  assert.deepEqual(indexes('properties.a eq null'), [{ type: '*', kind: 'all', path: [] }]);
  assert.deepEqual(indexes("type eq 'a' and type eq 'b'"), []);
});

function keysOf(filter: string, asking = {}): string[] {
  const { node, values } = parseFilter(filter);
  const given = values.values(frameOf(entityOf(asking)));
  return keyTerms(node).flatMap((term) => term.keys(given));
}

const everything: LookupIndex = { type: '*', kind: 'all', path: [] };
const valueIndex: LookupIndex = { type: '*', kind: 'value', path: ['properties', 'a'] };

test('key terms: an equality reads only the key of its value', () => {
  assert.deepEqual(keysOf('p.a eq 9'), [valueKey(valueIndex, '9')]);
  assert.deepEqual(keysOf("p.a in ('x', 9)"), [valueKey(valueIndex, 'x'), valueKey(valueIndex, '9')]);
});

test('key terms: a condition on an array element also reads entities with more values than an index stores', () => {
  assert.deepEqual(keysOf('p.a/any(x: x eq 9)'), [valueKey(valueIndex, '9'), overflowKey(valueIndex)]);
});

test('key terms: a hole whose value has no key, or too many, reads everything', () => {
  assert.deepEqual(keysOf('p.a eq {p.v}', { v: 'x' }), [valueKey(valueIndex, 'x')]);
  const many = (length: number) => ({ v: Array.from({ length }, (_, i) => i) });
  assert.equal(keysOf('p.a in {p.v}', many(lookupKeysMax)).length, lookupKeysMax);
  for (const asking of [{}, { v: null }, { v: { a: 1 } }, { v: ['x', null] }, many(lookupKeysMax + 1)]) {
    assert.deepEqual(keysOf('p.a in {p.v}', asking), [wholeKey(everything)]);
  }
});

test('key terms: a condition that excludes no value reads everything of the type', () => {
  for (const filter of [
    'p.a ne 1',
    'p.a gt 1',
    'not (p.a eq 1)',
    'p.a/all(x: x eq 1)',
    'p.a eq 1 or p.b ne 1',
  ]) {
    assert.deepEqual(keysOf(filter), [wholeKey(everything)], filter);
    assert.deepEqual(keysOf(`type eq 'page' and (${filter})`), [wholeKey({ ...everything, type: 'page' })]);
  }
});
