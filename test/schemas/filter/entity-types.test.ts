import assert from 'node:assert/strict';
import { test } from 'node:test';
import { both, typesOf } from '../../../src/schemas/filter/key-terms.ts';
import { parseFilter } from '../support/lookups.ts';

function types(filter: string) {
  return typesOf(parseFilter(filter).node);
}

test('the types are what the condition says of them without holes', () => {
  assert.deepEqual(types("type eq 'page'"), ['page']);
  assert.deepEqual(types("type in ('page', 'article')"), ['page', 'article']);
  assert.deepEqual(types("p.a eq 1 and type eq 'page'"), ['page']);
  assert.deepEqual(types("type eq 'page' or type eq 'article' and p.a eq 1"), ['page', 'article']);
  assert.deepEqual(types("type eq 'page' and (type eq 'page' or type eq 'article')"), ['page']);
});

test('what may hold for any type says nothing', () => {
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

test('what no type can be is left out, so that nothing may be left', () => {
  assert.deepEqual(types("type in ('page', 9, null)"), ['page']);
  assert.deepEqual(types('type eq null'), []);
  assert.deepEqual(types("type eq 'page' and type eq 'article'"), []);
});

test('both lists hold at once, and all types restrict nothing', () => {
  assert.deepEqual(both(['a', 'b'], ['b', 'c']), ['b']);
  assert.deepEqual(both(null, ['b']), ['b']);
  assert.deepEqual(both(['a'], null), ['a']);
  assert.equal(both(null, null), null);
});
