import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { finish } from '../../../src/lib/cooperative-yield.ts';
import { compilePath } from '../../../src/schemas/json-path/json-path.ts';
import { Scope } from '../../../src/schemas/language/scope.ts';
import { frameOver } from '../support/fixtures.ts';

function list(path: string, root: Json): readonly Json[] {
  return finish(compilePath(path, Scope.partial).list(frameOver(root)));
}

test('only the first name behind `$` is one of the scope', () => {
  const root = { item: 1, a: { root: 2, item: 3 } };
  assert.deepEqual(list('$.root.item', root), [1]);
  assert.deepEqual(list('$.a.root', root), [2]);
  assert.deepEqual(
    list('$.a[?@.item == 3]', { a: [root.a] }),
    [root.a],
    'behind `@` there are members alone',
  );
  assert.deepEqual(list('$..item', root), [1, 3], 'a descent meets members alone');
});

test('a name that nothing has is a mistake wherever `$` stands', () => {
  for (const path of ['$.title', '$.p[?$.title == 1]', '$.p[?@[?length($.title) > 1]]', "$['p', 'title']"]) {
    assert.throws(
      () => compilePath(path, Scope.entity),
      { name: 'SyntaxMistake', position: path.indexOf('title'), message: /nothing is called `title`/ },
      path,
    );
  }
});

test('every part of a condition has its meaning: both sides, inside `!`, in arguments', () => {
  const root = { items: ['a', 'b', 'ab'], v: 'a' };
  assert.deepEqual(list('$.items[?{v} == @]', root), ['a']);
  assert.deepEqual(list('$.items[?!(@ == {v})]', root), ['b', 'ab']);
  assert.deepEqual(list('$.items[?search(@, {v}) && @ != {v}]', root), ['ab']);
  assert.deepEqual(list('$.items[?@ == {v} || @ == $.items[1]]', root), ['a', 'b']);
});

test('names of the scope stand beside a root of any kind', () => {
  const path = compilePath("$[1, 'item'][0]", Scope.partial);
  assert.deepEqual(path.list(frameOver([[1], [2]])), [2, [1]]);
  assert.deepEqual(compilePath('root', Scope.partial).list(frameOver('text')), ['text']);
});
