import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { runs } from '../../support/runs.ts';
import { buildView, entityOf } from '../support/fixtures.ts';
import { assertCases, issuesIn, resultOf } from '../support/property.ts';

const array = (input: Json, more: JsonObject = {}): Json => ({ type: 'array', input, ...more });

test('array: null gives no elements, an array its elements, any other value one element', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (json) => {
      // The round trip removes negative zeros.
      const a: Json = JSON.parse(JSON.stringify(json));
      const wanted = a === null ? [] : Array.isArray(a) ? a : [a];
      assert.deepEqual(resultOf(array('{p.a}'), { a }), wanted);
    }),
    { numRuns: runs(200) },
  );
  assert.deepEqual(resultOf(array('{p.missing}'), {}), []);
  assert.deepEqual(resultOf(array('<{p.a}>'), { a: 1 }), ['<1>']);
  assert.deepEqual(resultOf(array({ $exp: '{p.a}' }), { a: [1] }), [1]);
});

test('array: `items` maps each element, named by `var` or `item` by default', () => {
  assertCases([
    [array('{p.a}', { items: '{item}-{root.p.n}' }), { a: ['a', 'b'], n: 9 }, ['a-9', 'b-9']],
    [array('{p.a}', { var: 't', items: '{t}' }), { a: ['a', null] }, ['a', null]],
    [array('{p.a}', { items: '{item.x}' }), { a: ['a', { x: 'y' }] }, [null, 'y']],
    [array('{p.a}', { items: { type: 'number', value: '{item}' } }), { a: ['1', 2] }, [1, 2]],
  ]);
});

test('array: `$path` returns every value that it selects', () => {
  const nested = [
    { name: 'x', list: [1, 2] },
    { name: 'y', list: [3] },
  ];
  assertCases([
    [array({ $path: '$.p.nested[*].list[*]' }), { nested }, [1, 2, 3]],
    [array({ $path: 'p.nested[?@.name == {p.n}].list' }), { nested, n: 'y' }, [[3]]],
    [array({ $path: 'p.nested[?@.name == {p.n}]' }), { nested }, []],
    [array({ $path: 'p.missing' }), {}, []],
    [array({ $path: 'p.a' }), { a: null }, [null]],
  ]);
});

test('array: root, parent and variables of outer arrays are in scope', () => {
  const nested = [
    { name: 'x', list: [1, 2] },
    { name: 'y', list: [3] },
  ];
  const inner = array('{outer.list}', { items: '{item} {outer.name} {parent.name} {root.originId}' });
  assertCases([
    [
      array('{p.nested}', { var: 'outer', items: inner }),
      { nested },
      [['1 x x origin-1', '2 x x origin-1'], ['3 y y origin-1']],
    ],
    [array('{p.a}', { items: '{parent.originId}' }), { a: [1] }, ['origin-1']],
  ]);
});

test('array: rejects an invalid input, and a variable name that is reserved or malformed', () => {
  assert.deepEqual(issuesIn({ type: 'array' }), ['.input']);
  assert.deepEqual(issuesIn(array('{p}', { item: '' })), ['.item']);
  assert.deepEqual(issuesIn(array({})), ['.input']);
  assert.deepEqual(issuesIn(array({ $path: 'p', $lookup: { filter: "type eq 'x'" } })), ['.input']);
  assert.deepEqual(issuesIn(array({ $path: 'p', x: 1 })), ['.input.x', '.input']);
  assert.deepEqual(issuesIn(array({ $exp: '{p}', x: 1 })), ['.input.x']);
  assert.deepEqual(issuesIn(array({ $lookup: { filter: "type eq 'x'", x: 1 } })), ['.input.$lookup.x']);
  assert.deepEqual(issuesIn(array({ $path: 'p[' })), ['.input.$path']);
  for (const name of ['root', 'parent', 'input', 'p', 'type', 'originId', 'a b', '', '1a', 7]) {
    assert.deepEqual(issuesIn(array('{p}', { var: name })), ['.var'], String(name));
  }
  assert.deepEqual(issuesIn(array('{p}', { var: 'item' })), []);
});

test('array: a lookup returns entities, and `input` is the matched one', () => {
  const self = entityOf({ title: 'Hello' });
  const entities = [
    self,
    entityOf({ name: 'B', n: 2 }, { originId: 'b', originParentId: 'origin-1', type: 'page', url: '/b' }),
    entityOf({ name: 'A', n: 10 }, { originId: 'a', originParentId: 'origin-1', type: 'page' }),
    entityOf({ name: 'C' }, { originId: 'c', originParentId: 'b', type: 'page' }),
  ];
  const children = (id: string, more: Json = {}) => ({
    $lookup: {
      operator: 'equals',
      sourceEntityProperty: 'originParentId',
      matchValue: id,
      ...(more as object),
    },
  });
  const { view } = buildView(
    {
      ids: { type: 'array', input: children('{originId}'), items: '{input.id}' },
      byN: {
        type: 'array',
        input: children('{originId}', { orderBy: { property: 'n', sort: 'asc' }, top: '1' }),
        items: '{item.p.name}',
      },
      tree: {
        type: 'array',
        input: children('{originId}', { orderBy: { property: 'name' } }),
        var: 'child',
        items: {
          type: 'object',
          properties: {
            name: '{child.p.name} {child.url} {child.type}',
            below: {
              type: 'array',
              input: children('{child.originId}'),
              items: '{item.originId} in {child.originId}',
            },
          },
        },
      },
    },
    self,
    { entities },
  );
  assert.deepEqual(view, {
    ids: ['gid://Source/source-1/Entity/a', 'gid://Source/source-1/Entity/b'],
    byN: ['B'],
    tree: [
      { name: 'A /one page', below: [] },
      { name: 'B /b page', below: ['c in b'] },
    ],
  });
});
