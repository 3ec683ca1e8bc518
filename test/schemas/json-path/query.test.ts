/** What the parts of a path select. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { buildStepsMax, jsonDepthMax } from '../../../src/contract/limits.ts';
import { finish } from '../../../src/lib/cooperative-yield.ts';
import { compilePath } from '../../../src/schemas/json-path/json-path.ts';
import { Scope } from '../../../src/schemas/language/scope.ts';
import { spentMs } from '../../support/spent.ts';
import { entityOf, frameOf, frameOver } from '../support/fixtures.ts';

function list(path: string, root: Json): readonly Json[] {
  return finish(compilePath(path, Scope.partial).list(frameOver(root)));
}

function matching(condition: string, items: Json[]): readonly Json[] {
  return list(`$.items[?${condition}]`, { items });
}

test('query: only the first name after `$` can be a scope name', () => {
  const root = { item: 1, a: { root: 2, item: 3 } };
  assert.deepEqual(list('$.root.item', root), [1]);
  assert.deepEqual(list('$.a.root', root), [2]);
  assert.deepEqual(
    list('$.a[?@.item == 3]', { a: [root.a] }),
    [root.a],
    'after `@` names are always members',
  );
  assert.deepEqual(list('$..item', root), [1, 3], 'a descendant segment selects only members');
});

test('query: an unknown name is an error wherever `$` is used', () => {
  for (const path of ['$.title', '$.p[?$.title == 1]', '$.p[?@[?length($.title) > 1]]', "$['p', 'title']"]) {
    assert.throws(
      () => compilePath(path, Scope.entity),
      { name: 'SchemaSyntaxError', position: path.indexOf('title'), message: /unknown name `title`/ },
      path,
    );
  }
});

test('query: every part of a condition is evaluated: both sides, inside `!`, in arguments', () => {
  const root = { items: ['a', 'b', 'ab'], v: 'a' };
  assert.deepEqual(list('$.items[?{v} == @]', root), ['a']);
  assert.deepEqual(list('$.items[?!(@ == {v})]', root), ['b', 'ab']);
  assert.deepEqual(list('$.items[?search(@, {v}) && @ != {v}]', root), ['ab']);
  assert.deepEqual(list('$.items[?@ == {v} || @ == $.items[1]]', root), ['a', 'b']);
});

test('query: scope names work with a root of any type', () => {
  const path = compilePath("$[1, 'item'][0]", Scope.partial);
  assert.deepEqual(path.list(frameOver([[1], [2]])), [2, [1]]);
  assert.deepEqual(compilePath('root', Scope.partial).list(frameOver('text')), ['text']);
});

test('query: a hole in a condition is compared by its value', () => {
  const items = [9, '9', true, null];
  for (const [n, v] of items.entries()) {
    assert.deepEqual(list('$.items[?@ == {v}]', { items, v }), [items[n]]);
  }
});

test('query: Nothing equals only Nothing', () => {
  const items = [{ a: null }, {}];
  assert.deepEqual(list('$.items[?@.a == null]', { items }), [{ a: null }]);
  assert.deepEqual(list('$.items[?@.a == @.none]', { items }), [{}]);
  assert.deepEqual(list('$.items[?@.a != $.none]', { items }), [{ a: null }]);
  assert.deepEqual(list('$.items[?@.a == {none}]', { items }), [{ a: null }], 'a hole without data is null');
});

test('query: results of functions are compared, too', () => {
  const items = [[1], [1, 2], 'ab', 3];
  assert.deepEqual(list('$.items[?length(@) == 2]', { items }), [[1, 2], 'ab']);
  assert.deepEqual(list('$.items[?length(@) == length($.none)]', { items }), [3]);
  assert.deepEqual(list('$.items[?count(@[*]) >= 1]', { items }), [[1], [1, 2]]);
  assert.deepEqual(list('$.items[?value(@[0]) == 1 && !(length(@) > 1)]', { items }), [[1]]);
});

test('query: `$` means the same in nested filters as everywhere', () => {
  const nested = entityOf({ wanted: 1, a: [{ b: [{ c: 1 }] }, { b: [{ c: 2 }] }] });
  const path = compilePath('p.a[?@.b[?@.c == $.p.wanted]].b[*].c', Scope.entity);
  assert.deepEqual(path.list(frameOf(nested)), [1]);
});

test('query: `$` in a condition has the elements and members of the root', () => {
  assert.deepEqual(list('$[?@ == $[1]]', [1, 2, 2]), [2, 2]);
  assert.deepEqual(list('$.a[?count($.*) == 2]', { a: [1], b: 1 }), [1]);
});

test('query: `length` counts characters, elements and members; of anything else it is Nothing', () => {
  assert.deepEqual(matching('length(@) == 2', ['😀b', 'ab', '😀', [1, 2], { a: 1, b: 2 }, 2]), [
    '😀b',
    'ab',
    [1, 2],
    { a: 1, b: 2 },
  ]);
  assert.deepEqual(matching('length(@) == length($.none)', ['', 1, null, true, []]), [1, null, true]);
});

test('query: `match` tests the whole string, `search` a part', () => {
  const texts = ['ab', 'abc', 'xab', 'b'];
  assert.deepEqual(matching("match(@, 'a.')", texts), ['ab']);
  assert.deepEqual(matching("search(@, 'a.')", texts), ['ab', 'abc', 'xab']);
});

test('query: a value that is not a string matches nothing, and Nothing matches no pattern', () => {
  assert.deepEqual(matching("search(@, '')", ['', 1, null, ['']]), ['']);
  assert.deepEqual(matching("search(@, '(')", ['(', '']), []);
  assert.deepEqual(matching('search(@, $.items)', ['', 'a']), []);
});

test('query: a descendant segment goes as deep as any accepted JSON', () => {
  let deep: Json = { leaf: 1 };
  for (let i = 0; i < jsonDepthMax; i++) deep = [deep];
  assert.deepEqual(compilePath('$..leaf', Scope.partial).list(frameOver({ deep })), [1]);
});

test('query: an index from a hole can count from the end, and must be an integer', () => {
  const at = (key: Json) => list('$.items[{key}]', { items: ['a', 'b'], key });
  assert.deepEqual([at(0), at(-1), at(-2)], [['a'], ['b'], ['a']]);
  for (const key of [2, -3, 0.5, '0', null, true, [0]]) assert.deepEqual(at(key), [], JSON.stringify(key));
});

test('query: a name from a hole directly after `$` is a scope name', () => {
  assert.deepEqual(list('$[{key}]', { key: 'x', x: 1 }), [1]);
  assert.deepEqual(list('$[{key}]', { key: 'root' }), [{ key: 'root' }]);
  assert.deepEqual(list('$[{key}]', { key: 'none' }), []);
  const entity = frameOf(entityOf({ key: 'title' }));
  assert.deepEqual(compilePath('$[{p.key}]', Scope.entity).list(entity), [], 'an entity has no such field');
});

test('query: a null value differs from a missing one', () => {
  assert.deepEqual(list('$.a', { a: null }), [null]);
  assert.deepEqual(list('$.a', {}), []);
  assert.deepEqual(list('$.a.b', { a: { b: null } }), [null]);
  assert.deepEqual(list('$.a.b', { a: null }), []);
});

test('query: every selector costs a step per value that it visits', () => {
  const frame = frameOver({ many: Array.from({ length: 100_000 }, () => 1) });
  const path = compilePath('$.many[*]', Scope.partial);
  let times = 0;
  while (finish(path.list(frame)).length > 0) times += 1;
  assert.equal(times, Math.floor(buildStepsMax / 100_002));
});

test('query: selectors that select nothing cost steps, too', () => {
  const frame = frameOver({ many: Array.from({ length: 100_000 }, () => 1) });
  finish(compilePath(`$.many[*][${'*,'.repeat(50)}*]`, Scope.partial).list(frame));
  assert.equal(frame.build.outcome().diagnostics[0]?.kind, 'limitReached');
});

test('query: what a filter does for each element counts towards the step limit', () => {
  const long = 'x'.repeat(1_000_000);
  const many = Array.from({ length: 100_000 }, () => 1);
  const wide = Array.from({ length: 50_000 }, (_, i) => [i]);
  for (const path of [
    'p.many[?$.p.a == $.p.b]',
    'p.many[?$.p.a < $.p.b]',
    'p.many[?$.p.wide == $.p.other]',
    'p.many[?count($..*) > 1]',
    'p.many[?length($.p.a) == 1]',
  ]) {
    const entity = { many, wide, other: wide.map((one) => [...one]), a: `${long}1`, b: `${long}2` };
    const frame = frameOf(entityOf(entity));
    const started = spentMs();
    assert.deepEqual(compilePath(path, Scope.entity).list(frame), [], path);
    assert.equal(frame.build.outcome().diagnostics[0]?.kind, 'limitReached', path);
    assert.ok(spentMs() - started < 10_000, path);
  }
});

test('query: a filter spends steps for the members that it counts or compares', () => {
  const members = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`m${at}`, at]));
  const many = Array.from({ length: 1_000 }, () => 1);
  for (const condition of [
    'length($.p.members) == 1',
    '$.p.empty == $.p.members',
    '$.p.members != $.p.empty',
  ]) {
    const frame = frameOf(entityOf({ many, members, empty: {} }));
    finish(compilePath(`p.many[?${condition}]`, Scope.entity).list(frame));
    assert.equal(frame.build.outcome().diagnostics[0]?.kind, 'limitReached', condition);
  }
});

test('query: a wide array below deep ones stays within time and memory', () => {
  let deep: Json = Array.from({ length: 1_300_000 }, () => 1);
  for (let i = 0; i < 95; i++) deep = [deep];
  const frame = frameOf(entityOf({ deep }));
  const started = spentMs();
  assert.deepEqual(compilePath('$..*', Scope.entity).list(frame), []);
  assert.ok(spentMs() - started < 5_000);
});

test('query: a path that multiplies endlessly stops at the step limit, with a diagnostic', () => {
  let deep: Json = 1;
  for (let i = 0; i < 90; i++) deep = { a: deep, b: 1 };
  const frame = frameOf(entityOf({ deep }));
  const started = spentMs();
  const path = compilePath('$..*..*..*..*..*..*..*', Scope.entity);
  assert.deepEqual(path.list(frame), []);
  assert.equal(frame.build.outcome().diagnostics[0]?.kind, 'limitReached');
  assert.ok(spentMs() - started < 5_000);
});
