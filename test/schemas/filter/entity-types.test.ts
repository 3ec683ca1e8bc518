import assert from 'node:assert/strict';
import { test } from 'node:test';
import { both, typesOf } from '../../../src/schemas/filter/key-terms.ts';
import { parseFilter } from '../support/lookups.ts';

function types(filter: string) {
  return typesOf(parseFilter(filter).node);
}

test('entity types: the types are derived from the condition without holes', () => {
  assert.deepEqual(types("type eq 'page'"), ['page']);
  assert.deepEqual(types("type in ('page', 'article')"), ['page', 'article']);
  assert.deepEqual(types("p.a eq 1 and type eq 'page'"), ['page']);
  assert.deepEqual(types("type eq 'page' or type eq 'article' and p.a eq 1"), ['page', 'article']);
  assert.deepEqual(types("type eq 'page' and (type eq 'page' or type eq 'article')"), ['page']);
});

test('entity types: a condition that can hold for any type restricts nothing', () => {
  for (const filter of [
    'type eq {p.type}',
    "type eq 'page-{p.type}'",
    'type in {p.types}',
    "type in ('page', {p.type})",
    "type ne 'page'",
    "not (type eq 'page')",
    "startswith(type, 'page')",
    "type eq 'page' or p.a eq 1",
    "p.type eq 'page'",
    "p.list/any(x: x eq 'page')",
  ]) {
    assert.equal(types(filter), null, filter);
  }
});

test('entity types: values that cannot be a type are dropped, possibly all of them', () => {
  assert.deepEqual(types("type in ('page', 9, null)"), ['page']);
  assert.deepEqual(types('type eq null'), []);
  assert.deepEqual(types("type eq 'page' and type eq 'article'"), []);
});

test('entity types: two lists are intersected, and all types restrict nothing', () => {
  assert.deepEqual(both(['a', 'b'], ['b', 'c']), ['b']);
  assert.deepEqual(both(null, ['b']), ['b']);
  assert.deepEqual(both(['a'], null), ['a']);
  assert.equal(both(null, null), null);
});
