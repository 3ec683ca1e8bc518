import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertCases, issuesIn } from '../support/property.ts';

test('dynamic: a single match is itself, none is null, several are an array', () => {
  assertCases([
    [{ '*': '$.p.a.b' }, { a: { b: { c: 2 } } }, { c: 2 }],
    [{ '*': 'p.a' }, { a: null }, null],
    [{ '*': 'p.missing' }, {}, null],
    [{ '*': 'p.a[*]' }, { a: ['x', 'y'] }, ['x', 'y']],
    [{ '*': 'p.a[*]' }, { a: ['x'] }, 'x'],
    [{ '*': 'p.a[*]' }, { a: [] }, null],
  ]);
});

test('dynamic: a string that is a single hole is the value of the hole', () => {
  assertCases([
    [{ '*': '{p.a}' }, { a: ['a', 'b'] }, ['a', 'b']],
    [{ '*': '{p.a ?? p.b}' }, { b: 7 }, 7],
  ]);
});

test('dynamic: with a type, `value` can replace `*`', () => {
  assertCases([
    [{ type: 'dynamic', '*': 'p.a' }, { a: 1 }, 1],
    [{ type: 'dynamic', value: 'p.a' }, { a: 1 }, 1],
  ]);
});

test('dynamic: it has one path, and nothing else', () => {
  assert.deepEqual(issuesIn({ type: 'dynamic' }), ["['*']"]);
  assert.deepEqual(issuesIn({ type: 'dynamic', '*': 'p', value: 'p' }), ['.value']);
  assert.deepEqual(issuesIn({ '*': 'p', x: 1 }), ['.x']);
  assert.deepEqual(issuesIn({ '*': 'p[' }), ["['*']"]);
  assert.deepEqual(issuesIn({ '*': 7 }), ["['*']"]);
});
