import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import {
  compileExpression,
  compileField,
  compileRequiredField,
} from '../../../src/schemas/language/expression.ts';
import { SchemaSyntaxError } from '../../../src/schemas/language/reader.ts';
import { Scope } from '../../../src/schemas/language/scope.ts';
import { cursorOver } from '../support/cursor.ts';
import { entityOf, frameOf, frameOver } from '../support/fixtures.ts';

const entity = entityOf(
  {
    title: 'Hello',
    count: 9,
    big: 1e21,
    minus: -0,
    yes: true,
    nothing: null,
    empty: '',
    list: ['a', ['b']],
    deep: { 'a b': { c: 1 }, p: 'own p' },
    constructor_: 1,
  },
  { originId: 'o/1', type: 'page', url: '/x', originParentId: 'up', redirects: ['/r'] },
);
const id = 'gid://Source/source-1/Entity/o/1';
const whole = {
  id,
  originId: 'o/1',
  originParentId: 'up',
  type: 'page',
  url: '/x',
  redirects: ['/r'],
  properties: entity.properties,
};

function value(text: string): Json {
  return compileExpression(text, Scope.entity).value(frameOf(entity));
}

function text(source: string): string | null {
  return compileExpression(source, Scope.entity).text(frameOf(entity));
}

test('expression: a hole that is the whole string keeps its type, anything else is a string', () => {
  const cases: [string, Json][] = [
    ['{p.count}', 9],
    ['{p.yes}', true],
    ['{p.list}', ['a', ['b']]],
    [' {p.count}', ' 9'],
    ['{p.count}{p.count}', '99'],
    ['plain', 'plain'],
    ['', ''],
    ["{'it''s'}", "it's"],
    ["{'a\\'b'}", "a'b"],
    ['{"x\\u0041"}', 'xA'],
    ['{-1.5e2}', -150],
    ['{null}', null],
    ['{false}', false],
  ];
  for (const [source, wanted] of cases) assert.deepEqual(value(source), wanted, source);
});

test('expression: every documented name is defined', () => {
  const cases: [string, Json][] = [
    ['{p.title}', 'Hello'],
    ['{properties.title}', 'Hello'],
    ['{originId}', 'o/1'],
    ['{originParentId}', 'up'],
    ['{id}', id],
    ['{type}', 'page'],
    ['{url}', '/x'],
    ['{redirects[0]}', '/r'],
    ['{root.p.title}', 'Hello'],
    ['{root.properties.title}', 'Hello'],
    ['{root.id}', id],
    ['{parent.originId}', 'o/1'],
    ['{input.id}', id],
    ['{item.type}', 'page'],
  ];
  for (const [source, wanted] of cases) assert.deepEqual(value(source), wanted, source);
  assert.equal(JSON.stringify(value('{root}')), JSON.stringify(whole));
});

test('expression: steps select members and elements, and missing ones are null', () => {
  const cases: [string, Json][] = [
    ['{p.list[1][0]}', 'b'],
    ['{p.list[7]}', null],
    ["{p['deep']['a b'].c}", 1],
    ["{p?.deep?.['a b']?.c}", 1],
    ['{p.deep.p}', 'own p'],
    ['{p.missing.further[0].on}', null],
    ['{p.title.length}', null],
    ['{p.title[0]}', null],
    ['{p.constructor}', null],
    ['{p.__proto__}', null],
    ['{p.list.length}', null],
    ["{p.list['0']}", null],
    ['{p.missing ?? p.nothing ?? p.count}', 9],
    ['{p.empty ?? 1}', ''],
    ["{(p.missing ?? p.deep)['a b']}", { c: 1 }],
  ];
  for (const [source, wanted] of cases) assert.deepEqual(value(source), wanted, source);
});

test('expression: as a string only null is null, within a string it is empty, numbers are shortest, structures are JSON', () => {
  const cases: [string, string | null][] = [
    ['{p.nothing}', null],
    ['{p.missing}{p.missing}', ''],
    ['<{p.missing}>', '<>'],
    ['{p.count}', '9'],
    ['{p.big}', '1e+21'],
    ['{p.minus}', '0'],
    ['{p.yes}', 'true'],
    ['{p.list}', '["a",["b"]]'],
    ['a{p.deep}', 'a{"a b":{"c":1},"p":"own p"}'],
    ['{{{p.count}}}', '{9}'],
    ['{{p.count}}', '{p.count}'],
  ];
  for (const [source, wanted] of cases) assert.equal(text(source), wanted, source);
});

test('expression: in a partial the members of the input are names, including `p` for an entity', () => {
  const evaluate = (source: string, given: Json) =>
    compileExpression(source, Scope.partial).value(frameOver(given));
  assert.equal(evaluate('{title}', { title: 'T' }), 'T');
  assert.equal(evaluate('{input.title}{item.title}{root.title}{parent.title}', { title: 'T' }), 'TTTT');
  assert.equal(evaluate('{anything.at.all}', 5), null);
  assert.equal(evaluate('{p}', { p: 1 }), 1);
  assert.equal(evaluate('{p.x}', { title: 'T' }), null);
  const root = frameOf(entity).self;
  assert.equal(evaluate('{p.title}', root), 'Hello');
  assert.equal(evaluate('{id}', root), id);
});

test('expression: errors report their position and what was expected', () => {
  const cases: [string, number, RegExp][] = [
    ['{', 1, /expected a name, a literal or `\(`/],
    ['{}', 1, /a name/],
    ['{p.}', 3, /a name/],
    ['{p.x', 4, /closing brace.*the end/],
    ['a } b', 2, /unmatched closing brace/],
    ['{p[-1]}', 3, /an index/],
    ['{p[x]}', 3, /an index/],
    ["{p['x}", 3, /unterminated string/],
    ['{title}', 1, /unknown name `title`/],
    ['{p.x || 1}', 5, /`\?\?`/],
    ['{(p.x}', 5, /parenthesis/],
    [`{${'('.repeat(200)}p${')'.repeat(200)}}`, 66, /nested deeper/],
  ];
  for (const [source, position, message] of cases) {
    assert.throws(
      () => compileExpression(source, Scope.entity),
      (error) =>
        error instanceof SchemaSyntaxError && error.position === position && message.test(error.message),
      source,
    );
  }
});

test('expression: a string of two hundred megabyte holes is null instead of an overflow', () => {
  const large = entityOf({ x: 'y'.repeat(1_000_000) });
  const expression = compileExpression('{p.x}'.repeat(2_000), Scope.entity);
  const frame = frameOf(large);
  assert.equal(expression.text(frame), null);
  assert.equal(frame.build.outcome().diagnostics[0]?.kind, 'limitReached');
});

const frame = frameOf(entityOf({ n: 9, list: [1] }));

/** The value of a field, and the paths of its errors. */
function compiled(json: Json | undefined, compile = compileField) {
  const { at, places } = cursorOver(json);
  const { constant, value, text } = compile(at, Scope.entity);
  return {
    constant,
    value: value(frame),
    text: text(frame),
    issues: places(),
  };
}

test('expression: a string is an expression, and `$exp` is another notation for it', () => {
  const number = { constant: null, value: 9, text: '9', issues: [] };
  assert.deepEqual(compiled('{p.n}'), number);
  assert.deepEqual(compiled({ $exp: '{p.n}' }), number);
  const plain = { constant: 'plain', value: 'plain', text: 'plain', issues: [] };
  assert.deepEqual(compiled('plain'), plain);
  assert.deepEqual(compiled({ $exp: 'plain' }), plain);
});

test('expression: a literal is its own value, and its string is known without an entity', () => {
  assert.deepEqual(compiled(1.5), { constant: '1.5', value: 1.5, text: '1.5', issues: [] });
  assert.deepEqual(compiled(false), { constant: 'false', value: false, text: 'false', issues: [] });
  assert.deepEqual(compiled(null), { constant: null, value: null, text: null, issues: [] });
});

test('expression: an error is reported at its path, and the field is null', () => {
  const cases: [Json, string[]][] = [
    ['{p.', ['$']],
    ['{unknown}', ['$']],
    [{ $exp: '{p.' }, ['$.$exp']],
    [{ $exp: 7 }, ['$.$exp']],
    [{ $exp: { $exp: '{p.n}' } }, ['$.$exp']],
    [{}, ['$.$exp']],
    [{ $exp: '{p.', value: 1 }, ['$.value', '$.$exp']],
    [['{p.n}'], ['$']],
  ];
  for (const [json, issues] of cases) {
    const wanted = { constant: null, value: null, text: null, issues };
    assert.deepEqual(compiled(json), wanted, JSON.stringify(json));
  }
});

test('expression: a required field can be null but not absent', () => {
  assert.deepEqual(compiled(undefined, compileRequiredField).issues, ['$']);
  assert.equal(compiled(undefined, compileRequiredField).value, null);
  assert.deepEqual(compiled(null, compileRequiredField).issues, []);
  assert.equal(compiled('{p.n}', compileRequiredField).value, 9);
});
