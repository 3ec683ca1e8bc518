import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../src/contract/json.ts';
import { compilePath } from '../../src/schemas/json-path.ts';
import { Scope } from '../../src/schemas/scope.ts';
import { SyntaxMistake } from '../../src/schemas/syntax-mistake.ts';
import { entityOf, frameOf } from './fixtures.ts';

const entity = entityOf(
  {
    kind: "it's",
    key: 'b',
    at: 1,
    pattern: 'x.*',
    items: [
      { t: "it's", n: 1, a: true, b: true, c: true },
      { t: 'xy', n: 2, a: true, b: true, c: false },
      { t: 'z', n: null, a: true, b: false, c: true },
    ],
    map: { a: 1, b: 2 },
    nothing: null,
  },
  { originParentId: null },
);

function list(text: string): readonly Json[] {
  return compilePath(text, Scope.entity).list(frameOf(entity));
}

function value(text: string): Json {
  return compilePath(text, Scope.entity).value(frameOf(entity));
}

test('the leading `$.` is optional and the names are those of expressions', () => {
  for (const path of [
    '$.p.map.b',
    'p.map.b',
    '$.properties.map.b',
    "$['p']['map']['b']",
    'root.p.map.b',
    '$.input.p.map.b',
  ]) {
    assert.deepEqual(list(path), [2], path);
  }
  assert.deepEqual(list('$.originId'), ['origin-1']);
  assert.deepEqual(list('$.id'), ['gid://Source/source-1/Entity/origin-1']);
  assert.deepEqual(list('$.originParentId'), [null]);
});

test('`$..` and `$.*` meet every value once, by its real name', () => {
  assert.deepEqual(list('$..map.b'), [2]);
  assert.equal(list('$.*').length, 7);
  assert.deepEqual(list('$..originId'), ['origin-1']);
});

test('a dynamic value is the single one, null for none, an array for several', () => {
  assert.equal(value('p.map.a'), 1);
  assert.equal(value('p.map.zz'), null);
  assert.equal(value('p.nothing'), null);
  assert.deepEqual(value('p.items[*].n'), [1, 2, null]);
  assert.equal(value('p.items[?@.n == 2].t'), 'xy');
});

test('holes are values and never syntax', () => {
  assert.deepEqual(list('p.items[?@.t == {p.kind}].n'), [1]);
  assert.deepEqual(list("p.items[?@.t == '{p.kind}'].n"), [1]);
  assert.deepEqual(list('p.items[?@.n > {p.at}].n'), [2]);
  assert.deepEqual(list('p.items[?@.n == {p.missing}].t'), ['z']);
  assert.deepEqual(list('p.map[{p.key}]'), [2]);
  assert.deepEqual(list("p.map['{p.key}']"), [2]);
  assert.deepEqual(list('p.items[{p.at}].t'), ['xy']);
  assert.deepEqual(list("p.items[?match(@.t, '{p.pattern}')].t"), ['xy']);
  assert.deepEqual(list('p.items[?search(@.t, $.p.pattern)].t'), ['xy']);
});

test('three conditions joined by && all count', () => {
  assert.deepEqual(list('p.items[?@.a && @.b == true && @.c == true].t'), ["it's"]);
  assert.deepEqual(list("p.items[?@.t == 'z' || @.n == 1 && @.c == true].t"), ["it's", 'z']);
});

test('a text that is one hole alone is its value', () => {
  assert.deepEqual(value('{p.map}'), { a: 1, b: 2 });
  assert.deepEqual(list('{p.missing}'), []);
  assert.deepEqual(list('{p.items}'), entity.properties.items);
});

test('mistakes are told with their place', () => {
  for (const text of [
    '',
    '$.',
    '$.title',
    'title',
    '$.p[',
    '$.p[?]',
    '$.p[?@.a =! 1]',
    '$.p[?foo(@)]',
    '$.p[?length(@.*) > 1]',
    '$.p x',
    '$.p[?1]',
    '{p.x} y',
    '$.p[01]',
  ]) {
    assert.throws(() => compilePath(text, Scope.entity), SyntaxMistake, text);
  }
});

test('a path that multiplies without end stops at the budget, with a diagnostic', () => {
  let deep: Json = 1;
  for (let i = 0; i < 90; i++) deep = { a: deep, b: 1 };
  const frame = frameOf(entityOf({ deep }));
  const started = performance.now();
  const path = compilePath('$..*..*..*..*..*..*..*', Scope.entity);
  assert.deepEqual(path.list(frame), []);
  assert.equal(frame.build.outcome().diagnostics[0]?.kind, 'limitReached');
  assert.ok(performance.now() - started < 5_000);
});

test('a pattern of an entity cannot take long', () => {
  const frame = frameOf(
    entityOf({ texts: Array.from({ length: 50 }, () => `${'a'.repeat(10_000)}!`), pattern: '(a+)+(a+)+' }),
  );
  const started = performance.now();
  compilePath('p.texts[?match(@, $.p.pattern)]', Scope.entity).list(frame);
  assert.ok(performance.now() - started < 5_000);
});
