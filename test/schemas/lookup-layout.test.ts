import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../src/contract/json.ts';
import { lookupValuesPerIndexMax } from '../../src/contract/limits.ts';
import { workBudget } from '../../src/lib/cooperative-yield.ts';
import {
  entriesOf,
  entrySteps,
  type LookupIndex,
  layoutOf,
  overflowKey,
  project,
  propertyPaths,
  valueKey,
  wholeKey,
} from '../../src/schemas/lookup-layout.ts';
import { runs } from '../support/runs.ts';
import { entityOf } from './support/fixtures.ts';
import { compiledLookup, find } from './support/lookups.ts';

test('lookup layout: equal layouts have equal ids, whatever the order of the plans', () => {
  const plans = ['properties.a eq 1', 'properties.b eq 1'].flatMap(
    (filter) => compiledLookup({ filter }).lookupPlans,
  );
  assert.deepEqual(layoutOf(plans), layoutOf(plans.toReversed()));
  assert.notEqual(layoutOf(plans).id, layoutOf(plans.slice(1)).id);
});

test('lookup layout: an entity with too many values is found by a lookup for any of them', () => {
  const many = entityOf({ tags: Array.from({ length: 5_000 }, (_, i) => `t${i}`) }, { originId: 'many' });
  const few = entityOf({ tags: ['t4000'] }, { originId: 'few' });
  const lookup = { operator: 'contains', sourceEntityProperty: 'tags', matchValue: 't4000' };
  assert.deepEqual(find(lookup, [many, few]), ['few', 'many']);
  assert.deepEqual(find({ filter: "properties.tags/any(t: t eq 't4000')" }, [many, few]), ['few', 'many']);
  const layout = layoutOf(compiledLookup(lookup).lookupPlans);
  assert.ok(entriesOf(layout, many).length < 10);
});

function indexOf(kind: LookupIndex['kind'], path: readonly string[], type = '*'): LookupIndex {
  return { type, kind, path };
}

function layoutWith(...indexes: LookupIndex[]) {
  return layoutOf([{ sourceGroup: null, indexes, reads: [] }]);
}

test('lookup layout: an entity is indexed by each scalar at a path, with arrays on the path and at its end spread', () => {
  const index = indexOf('value', ['properties', 'tags', 'id']);
  const keys = (properties: Record<string, Json>) => entriesOf(layoutWith(index), entityOf(properties));
  assert.deepEqual(keys({ tags: [{ id: 1 }, [{ id: ['a', true] }], { id: 1 }, { id: null }, 'x'] }), [
    valueKey(index, '1'),
    valueKey(index, 'a'),
    valueKey(index, 'true'),
  ]);
  assert.deepEqual(keys({ tags: { id: { id: 1 } } }), []);
  assert.deepEqual(keys(JSON.parse('{"__proto__": {"tags": 1}}')), []);
});

test('lookup layout: an entity with as many values as an index stores has their keys, with one more the overflow key', () => {
  const index = indexOf('value', ['properties', 'tags']);
  const keys = (count: number) => {
    return entriesOf(layoutWith(index), entityOf({ tags: Array.from({ length: count }, (_, i) => i) }));
  };
  assert.equal(keys(lookupValuesPerIndexMax).length, lookupValuesPerIndexMax);
  assert.deepEqual(keys(lookupValuesPerIndexMax + 1), [overflowKey(index)]);
});

test('lookup layout: the keys of a large entity are found in steps', (context) => {
  const { clock } = workBudget;
  context.after(() => {
    workBudget.clock = clock;
  });
  const path = ['properties', 'tags'];
  const layout = layoutWith(indexOf('value', path), indexOf('text', path));
  const entity = entityOf({ tags: Array.from({ length: 400_000 }, (_, at) => [at % 10]) });
  workBudget.clock = () => true;
  const steps = entrySteps(layout, entity);
  let pauses = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) pauses += 1;
  workBudget.clock = clock;
  assert.deepEqual(step.value, entriesOf(layout, entity));
  assert.equal(step.value.length, 10);
  assert.ok(pauses > 100, `${pauses} pauses`);
});

test('lookup layout: an index of a type contains only the entities of that type', () => {
  const page = indexOf('all', [], 'page');
  const any = indexOf('all', []);
  const keys = (type: string) => entriesOf(layoutWith(page, any), entityOf({}, { type }));
  assert.deepEqual(keys('page').sort(), [wholeKey(page), wholeKey(any)].sort());
  assert.deepEqual(keys('article'), [wholeKey(any)]);
});

test('lookup layout: a text index contains the entities with a string at its path', () => {
  const index = indexOf('text', ['properties', 'a']);
  for (const [a, isIn] of [
    ['', true],
    [[1, ['x']], true],
    [1, false],
    [null, false],
    [{ a: 'x' }, false],
  ] as const) {
    const keys = entriesOf(layoutWith(index), entityOf({ a: a as Json }));
    assert.deepEqual(keys, isIn ? [wholeKey(index)] : [], JSON.stringify(a));
  }
});

test('lookup layout: an index entry contains the values at the paths of the projection, in order', () => {
  const reads = ['url', 'redirects', 'type', 'originParentId', 'originId', 'id', 'stamp'].map((name) => [
    name,
  ]);
  const layout = layoutOf([{ sourceGroup: null, indexes: [], reads: [...reads, ['properties', 'a', 'b']] }]);
  const row = project(layout, entityOf({ a: { b: [1] } }, { redirects: ['/r'] }));
  assert.deepEqual(Object.fromEntries(layout.projection.map((path, i) => [path.join('.'), row[i]])), {
    url: '/one',
    redirects: ['/r'],
    type: 'article',
    originParentId: null,
    originId: 'origin-1',
    id: 'gid://Source/source-1/Entity/origin-1',
    stamp: null,
    'properties.a.b': [1],
  });
});

test('lookup layout: any order and repetition of plans gives one layout, with each index and path once', () => {
  const path = fc.constantFrom(
    ['type'],
    ['properties', 'a'],
    ['properties', 'a.b'],
    ['properties', 'a', 'b'],
  );
  const index = fc.record({
    type: fc.constantFrom('*', 'page'),
    kind: fc.constantFrom('value', 'text', 'all'),
    path,
  });
  const plan = fc.record({ sourceGroup: fc.constant(null), indexes: fc.array(index), reads: fc.array(path) });
  fc.assert(
    fc.property(fc.array(plan, { maxLength: 5 }), (plans) => {
      const layout = layoutOf(plans);
      assert.deepEqual(layoutOf([...plans.toReversed(), ...plans]), layout);
      const texts = (things: readonly unknown[]) => things.map((thing) => JSON.stringify(thing)).sort();
      const wanted = plans.flatMap(({ indexes }) =>
        indexes.map(({ type, kind, path }) => ({ type, kind, path })),
      );
      assert.deepEqual(texts(layout.indexes), [...new Set(texts(wanted))]);
      assert.deepEqual(texts(layout.projection), [...new Set(texts(plans.flatMap(({ reads }) => reads)))]);
    }),
    { numRuns: runs(200) },
  );
});

test('lookup plan: a name is a dotted path in the properties', () => {
  assert.deepEqual(propertyPaths('title'), [['properties', 'title']]);
  assert.deepEqual(propertyPaths('seo.title'), [['properties', 'seo', 'title']]);
});

test('lookup plan: a built-in field of the entity is second, after a property of that name', () => {
  for (const name of ['originParentId', 'originId', 'type', 'url', 'redirects', 'id']) {
    assert.deepEqual(propertyPaths(name), [['properties', name], [name]]);
  }
  assert.deepEqual(propertyPaths('type.name'), [['properties', 'type', 'name']], 'fields have no members');
});

test('lookup plan: `properties.x` and `p.x` mean only the properties', () => {
  assert.deepEqual(propertyPaths('properties.type'), [['properties', 'type']]);
  assert.deepEqual(propertyPaths('p.url'), [['properties', 'url']]);
  assert.deepEqual(propertyPaths('p'), [['properties', 'p']], 'on its own, it is a name like any other');
});
