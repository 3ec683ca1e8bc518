import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { finish } from '../../../src/lib/cooperative-yield.ts';
import { compilePath } from '../../../src/schemas/json-path/json-path.ts';
import { SchemaSyntaxError } from '../../../src/schemas/language/reader.ts';
import { Scope } from '../../../src/schemas/language/scope.ts';
import { spentMs } from '../../support/spent.ts';
import { entityOf, frameOf } from '../support/fixtures.ts';

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
  return finish(compilePath(text, Scope.entity).list(frameOf(entity)));
}

function value(text: string): Json {
  return finish(compilePath(text, Scope.entity).value(frameOf(entity)));
}

test('JSON path: the leading `$.` is optional and the names are those of expressions', () => {
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

test('JSON path: `$..` and `$.*` visit every value once, by its real name', () => {
  assert.deepEqual(list('$..map.b'), [2]);
  assert.equal(list('$.*').length, 7);
  assert.deepEqual(list('$..originId'), ['origin-1']);
});

test('JSON path: a dynamic value is the single match, null without a match, an array of several', () => {
  assert.equal(value('p.map.a'), 1);
  assert.equal(value('p.map.zz'), null);
  assert.equal(value('p.nothing'), null);
  assert.deepEqual(value('p.items[*].n'), [1, 2, null]);
  assert.equal(value('p.items[?@.n == 2].t'), 'xy');
});

test('JSON path: holes are values and never syntax', () => {
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

test('JSON path: three conditions joined by && all apply', () => {
  assert.deepEqual(list('p.items[?@.a && @.b == true && @.c == true].t'), ["it's"]);
  assert.deepEqual(list("p.items[?@.t == 'z' || @.n == 1 && @.c == true].t"), ["it's", 'z']);
});

test('JSON path: a string that is a single hole is its value', () => {
  assert.deepEqual(value('{p.map}'), { a: 1, b: 2 });
  assert.deepEqual(list('{p.missing}'), []);
  assert.deepEqual(list('{p.items}'), entity.properties.items);
});

test('JSON path: errors are reported with their position', () => {
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
    '$.p[?@.a == true == true]',
  ]) {
    assert.throws(() => compilePath(text, Scope.entity), SchemaSyntaxError, text);
  }
});

test('JSON path: errors have positions in the original string, whatever the holes contain', () => {
  const places: [string, number][] = [
    ['$.p[01]', 4],
    ['p.items[?@.a =! 1]', 13],
    ["p['{p.some.long.path}'].a x", 26],
    ['p.items[{p.at}].t.titles[?@.a == $.title]', 35],
    ['p[?{p.x}]', 4],
    ["$.p['{{'] x", 10],
  ];
  for (const [text, position] of places) {
    assert.throws(() => compilePath(text, Scope.entity), { name: 'SchemaSyntaxError', position }, text);
  }
  assert.throws(() => compilePath('p[?{p.x}]', Scope.entity), {
    message: "at character 5: filter expression literals ('{…}') must be compared",
  });
});

test('JSON path: a path too long or too deep for the stack is an error', () => {
  for (const text of [
    `$.p[?${'('.repeat(50_000)}@.a${')'.repeat(50_000)}]`,
    `$.p[?${'@.a&&'.repeat(15_000)}@.a]`,
    `$.p[?${'!'.repeat(50_000)}@.a]`,
    `$${'.p'.repeat(40_000)}`,
    '$[?@'.repeat(20_000),
  ]) {
    assert.throws(() => compilePath(text, Scope.entity), SchemaSyntaxError, text.slice(0, 20));
  }
});

test('JSON path: strings are counted and ordered by characters, and prototype members are never selected', () => {
  const values = JSON.parse('["😀", "ab", {"__proto__": {}}, {"x": 1}, {"constructor": {}}]');
  const found = (path: string) => finish(compilePath(path, Scope.entity).list(frameOf(entityOf({ values }))));
  assert.deepEqual(found('p.values[?length(@) == 1 && search(@, ".")]'), ['😀']);
  assert.deepEqual(found("p.values[?@ > '\uE000']"), ['😀']);
  assert.equal(found('p.values[?@ == $.p.values[3]]').length, 1);
  assert.equal(found('p.values[?@.__proto__]').length, 1);
  assert.deepEqual(found("p.values['constructor', 'length']"), []);
});

test('JSON path: every escape of RFC 9535 is accepted, and doubled braces', () => {
  const values = entityOf({ values: { '\u0001\n\'"\\': 1, '{x}': 2 } });
  const found = (path: string) => finish(compilePath(path, Scope.entity).list(frameOf(values)));
  assert.deepEqual(found(String.raw`p.values['\u0001\n\'"\\']`), [1]);
  assert.deepEqual(found("p.values['{{x}}']"), [2]);
});

test('JSON path: functions and conditions accept arrays of any length', () => {
  const frame = frameOf(entityOf({ lists: [Array.from({ length: 200_000 }, () => 1), [1]] }));
  assert.equal(finish(compilePath('p.lists[?count(@.*) > 1]', Scope.entity).list(frame)).length, 1);
});

test('JSON path: a pattern from an entity cannot take long', () => {
  const frame = frameOf(
    entityOf({ texts: Array.from({ length: 50 }, () => `${'a'.repeat(10_000)}!`), pattern: '(a+)+(a+)+' }),
  );
  const started = spentMs();
  compilePath('p.texts[?match(@, $.p.pattern)]', Scope.entity).list(frame);
  assert.ok(spentMs() - started < 5_000);
});
