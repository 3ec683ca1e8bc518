import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { finish } from '../../../src/lib/cooperative-yield.ts';
import { compilePath } from '../../../src/schemas/json-path/json-path.ts';
import { Scope } from '../../../src/schemas/language/scope.ts';
import { entityOf, frameOf, frameOver } from '../support/fixtures.ts';

function list(path: string, root: Json): readonly Json[] {
  return finish(compilePath(path, Scope.partial).list(frameOver(root)));
}

test('a hole in a condition is compared as the value that it gives', () => {
  const items = [9, '9', true, null];
  for (const [n, v] of items.entries()) {
    assert.deepEqual(list('$.items[?@ == {v}]', { items, v }), [items[n]]);
  }
});

test('Nothing equals Nothing alone', () => {
  const items = [{ a: null }, {}];
  assert.deepEqual(list('$.items[?@.a == null]', { items }), [{ a: null }]);
  assert.deepEqual(list('$.items[?@.a == @.none]', { items }), [{}]);
  assert.deepEqual(list('$.items[?@.a != $.none]', { items }), [{ a: null }]);
  assert.deepEqual(list('$.items[?@.a == {none}]', { items }), [{ a: null }], 'a hole without data is null');
});

test('what functions give is compared, too', () => {
  const items = [[1], [1, 2], 'ab', 3];
  assert.deepEqual(list('$.items[?length(@) == 2]', { items }), [[1, 2], 'ab']);
  assert.deepEqual(list('$.items[?length(@) == length($.none)]', { items }), [3]);
  assert.deepEqual(list('$.items[?count(@[*]) >= 1]', { items }), [[1], [1, 2]]);
  assert.deepEqual(list('$.items[?value(@[0]) == 1 && !(length(@) > 1)]', { items }), [[1]]);
});

test('`$` within filters within filters is what it is everywhere', () => {
  const nested = entityOf({ wanted: 1, a: [{ b: [{ c: 1 }] }, { b: [{ c: 2 }] }] });
  const path = compilePath('p.a[?@.b[?@.c == $.p.wanted]].b[*].c', Scope.entity);
  assert.deepEqual(path.list(frameOf(nested)), [1]);
});

test('`$` in a condition has the elements and members of the root', () => {
  assert.deepEqual(list('$[?@ == $[1]]', [1, 2, 2]), [2, 2]);
  assert.deepEqual(list('$.a[?count($.*) == 2]', { a: [1], b: 1 }), [1]);
});
