import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { buildStepsMax } from '../../../src/contract/limits.ts';
import { finish } from '../../../src/lib/cooperative-yield.ts';
import { compilePath } from '../../../src/schemas/json-path/json-path.ts';
import { Scope } from '../../../src/schemas/language/scope.ts';
import { spentMs } from '../../support/spent.ts';
import { entityOf, frameOf, frameOver } from '../support/fixtures.ts';

function list(path: string, root: Json): readonly Json[] {
  return finish(compilePath(path, Scope.partial).list(frameOver(root)));
}

test('an index that a hole gives may count from the end, and is whole', () => {
  const at = (key: Json) => list('$.items[{key}]', { items: ['a', 'b'], key });
  assert.deepEqual([at(0), at(-1), at(-2)], [['a'], ['b'], ['a']]);
  for (const key of [2, -3, 0.5, '0', null, true, [0]]) assert.deepEqual(at(key), [], JSON.stringify(key));
});

test('a name that a hole gives directly behind `$` is one of the scope', () => {
  assert.deepEqual(list('$[{key}]', { key: 'x', x: 1 }), [1]);
  assert.deepEqual(list('$[{key}]', { key: 'root' }), [{ key: 'root' }]);
  assert.deepEqual(list('$[{key}]', { key: 'none' }), []);
  const entity = frameOf(entityOf({ key: 'title' }));
  assert.deepEqual(compilePath('$[{p.key}]', Scope.entity).list(entity), [], 'an entity has no such field');
});

test('a value is told from one that is not there', () => {
  assert.deepEqual(list('$.a', { a: null }), [null]);
  assert.deepEqual(list('$.a', {}), []);
  assert.deepEqual(list('$.a.b', { a: { b: null } }), [null]);
  assert.deepEqual(list('$.a.b', { a: null }), []);
});

/** How often the budget of one build lets a path select 100,000 elements at a depth. */
function timesSelected(depth: number): number {
  let deep: Json = Array.from({ length: 100_000 }, () => 1);
  for (let i = 0; i < depth; i++) deep = [deep];
  const frame = frameOver({ deep });
  const path = compilePath(`$.deep${'[0]'.repeat(depth)}[*]`, Scope.partial);
  for (let times = 0; times < 60; times++) if (finish(path.list(frame)).length === 0) return times;
  return 60;
}

test('every selector pays a step for what it looks at, deep below more', () => {
  assert.equal(timesSelected(1), Math.floor(buildStepsMax / 100_001));
  assert.ok(timesSelected(30) < timesSelected(1) / 3);
});

test('what a filter does for each element counts towards the budget', () => {
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

test('a wide array at the bottom of deep ones stays within time and memory', () => {
  let deep: Json = Array.from({ length: 1_000_000 }, () => 1);
  for (let i = 0; i < 95; i++) deep = [deep];
  const frame = frameOf(entityOf({ deep }));
  const started = spentMs();
  assert.deepEqual(compilePath('$..*', Scope.entity).list(frame), []);
  assert.ok(spentMs() - started < 5_000);
});

test('a path that multiplies without end stops at the budget, with a diagnostic', () => {
  let deep: Json = 1;
  for (let i = 0; i < 90; i++) deep = { a: deep, b: 1 };
  const frame = frameOf(entityOf({ deep }));
  const started = spentMs();
  const path = compilePath('$..*..*..*..*..*..*..*', Scope.entity);
  assert.deepEqual(path.list(frame), []);
  assert.equal(frame.build.outcome().diagnostics[0]?.kind, 'limitReached');
  assert.ok(spentMs() - started < 5_000);
});
