import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoredEntity } from '../../../src/contract/entity.ts';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { entriesOf, layoutOf, project } from '../../../src/schemas/lookup/layout.ts';
import type { LookupQuery } from '../../../src/schemas/lookup/query.ts';
import type { FullSchema } from '../../../src/schemas/schema.ts';
import {
  answer,
  candidates,
  compileValid,
  compileWithIssues,
  entityOf,
  inputOf,
  schemaOf,
} from '../support/fixtures.ts';

function lookupSchema(lookup: Json): Json {
  return schemaOf({ found: { type: 'array', input: { $lookup: lookup }, items: '{item.originId}' } });
}

function compiled(lookup: Json): FullSchema {
  const schema = compileValid({ schemas: { view: lookupSchema(lookup) } }).schemas.get('view');
  assert.ok(schema);
  return schema;
}

function queryOf(schema: FullSchema, asking: StoredEntity): LookupQuery {
  const [query] = schema.build(inputOf(asking)).lookups;
  assert.ok(query);
  return query;
}

function find(lookup: Json, stored: readonly StoredEntity[], asking: JsonObject = {}): string[] {
  const schema = compiled(lookup);
  const query = queryOf(schema, entityOf(asking));
  return answer(query, layoutOf(schema.lookupPlans), stored).map((entity) => entity.originId);
}

function issuesOf(lookup: Json): string[] {
  const { issues } = compileWithIssues({ schemas: { view: lookupSchema(lookup) } });
  return issues.map(
    ({ path, message }) => `${path.replace('$.properties.found.input.$lookup', '')} ${message}`,
  );
}

const mixed = [null, 2, 10, '10', '9', 'a', '\uffff', '😀', true, false, [1], undefined];
const ranked = mixed.map((value, i) => {
  return entityOf(value === undefined ? {} : { v: value }, { originId: `${String.fromCharCode(109 - i)}` });
});

test('numbers come before texts before booleans, null last in both directions, ties by originId', () => {
  const valuesOf = (ids: string[]) =>
    ids.map((id) => ranked.find((entity) => entity.originId === id)?.properties.v ?? null);
  const ordered = (sort: string) => find({ filter: "type ne 'x'", orderBy: { property: 'v', sort } }, ranked);
  const ascending = [2, 10, '10', '9', 'a', '\uffff', '😀', false, true];
  assert.deepEqual(valuesOf(ordered('asc')).slice(0, 9), ascending);
  assert.deepEqual(valuesOf(ordered('desc')).slice(0, 9), ascending.toReversed());
  assert.deepEqual(ordered('asc').slice(9), ['b', 'c', 'm']);
  assert.deepEqual(ordered('desc').slice(9), ['b', 'c', 'm']);
});

test('ties are ordered by the code points of the originId', () => {
  const ids = ['\uffff', '😀', 'b', 'a', 'B'];
  const stored = ids.map((originId) => entityOf({}, { originId }));
  assert.deepEqual(find({ filter: "type eq 'article'" }, stored), ['B', 'a', 'b', '\uffff', '😀']);
});

test('property match compares scalars by their text, and null matches nothing', () => {
  const stored = [9, '9', '09', null, ['9'], true, 'true'].map((v, i) =>
    entityOf({ v }, { originId: `o${i}` }),
  );
  const match = (operator: string, m: Json) =>
    find({ operator, sourceEntityProperty: 'v', matchValue: '{p.m}' }, stored, { m });
  assert.deepEqual(match('equals', 9), ['o0', 'o1']);
  assert.deepEqual(match('equals', '9'), ['o0', 'o1']);
  assert.deepEqual(match('equals', true), ['o5', 'o6']);
  assert.deepEqual(match('equals', null), []);
  assert.deepEqual(match('equals', [9]), []);
  assert.deepEqual(match('contains', 9), ['o1', 'o2', 'o4']);
  assert.deepEqual(match('contains', ''), ['o1', 'o2', 'o6']);
  assert.deepEqual(match('contains', null), []);
});

test('filters are typed: 9 is not `9`, absent is null', () => {
  const stored = [9, '9', null, undefined, [9]].map((v, i) =>
    entityOf(v === undefined ? {} : { v }, { originId: `o${i}` }),
  );
  const cases: [string, string[]][] = [
    ['properties.v eq 9', ['o0']],
    ["properties.v eq '9'", ['o1']],
    ['properties.v eq null', ['o2', 'o3']],
    ['properties.v ne 9', ['o1', 'o2', 'o3', 'o4']],
    ['properties.v gt 8', ['o0']],
    ["properties.v ge '8'", ['o1']],
    ['not (properties.v lt 10)', ['o1', 'o2', 'o3', 'o4']],
    ['properties.v/any(x: x eq 9)', ['o0', 'o4']],
    ['properties.v/all(x: x eq 9)', ['o0', 'o2', 'o3', 'o4']],
    ["properties['v'] in (9, '9')", ['o0', 'o1']],
    ["originId eq 'o0' or originId eq 'o3'", ['o0', 'o3']],
    ["contains(originId, '3')", ['o3']],
    ["startswith(type, 'art') and endswith(type, 'cle') and p.v eq 9", ['o0']],
  ];
  for (const [filter, wanted] of cases) assert.deepEqual(find({ filter }, stored), wanted, filter);
});

test('no value of an entity changes what a filter means', () => {
  const stored = [
    entityOf({ v: "x' or 'a' eq 'a" }, { originId: 'o1' }),
    entityOf({ v: 'y' }, { originId: 'o2' }),
  ];
  for (const filter of [
    'properties.v eq {p.q}',
    "properties.v eq '{p.q}'",
    'properties.v in {p.q}',
    'properties.v in ({p.q})',
  ]) {
    assert.deepEqual(find({ filter }, stored, { q: "x' or 'a' eq 'a" }), ['o1'], filter);
  }
  assert.deepEqual(find({ filter: "properties.v eq '{{p.q}}'" }, [entityOf({ v: '{p.q}' })]), ['origin-1']);
  assert.deepEqual(find({ filter: "properties.v eq '{p.q}'" }, [entityOf({})], { q: null }), []);
});

test('the narrowest key is chosen, and it knows the type', () => {
  const indexes = (filter: string) => compiled({ filter }).lookupPlans[0]?.indexes;
  const value = (path: string[], type = 'page') => ({ type, kind: 'value', path });
  assert.deepEqual(indexes("type eq 'page' and properties.a eq 1 and properties.b gt 2"), [
    value(['properties', 'a']),
  ]);
  assert.deepEqual(indexes("properties.a eq 1 or properties.b in ('x', 'y')"), [
    value(['properties', 'a'], '*'),
    value(['properties', 'b'], '*'),
  ]);
  assert.deepEqual(indexes('properties.tags/any(t: t.id eq 3 and t.x ne 1)'), [
    value(['properties', 'tags', 'id'], '*'),
  ]);
  assert.deepEqual(indexes("type eq 'page' and startswith(url, '/x')"), [
    { type: 'page', kind: 'text', path: ['url'] },
  ]);
  assert.deepEqual(indexes("type eq 'page' and not (properties.a eq 1)"), [
    { type: 'page', kind: 'all', path: [] },
  ]);
  assert.deepEqual(indexes('properties.a eq null'), [{ type: '*', kind: 'all', path: [] }]);
  assert.deepEqual(indexes("type eq 'a' and type eq 'b'"), []);
});

test('an entity with too many values is found by whoever asks for one of them', () => {
  const many = entityOf({ tags: Array.from({ length: 5_000 }, (_, i) => `t${i}`) }, { originId: 'many' });
  const few = entityOf({ tags: ['t4000'] }, { originId: 'few' });
  const lookup = { operator: 'contains', sourceEntityProperty: 'tags', matchValue: 't4000' };
  assert.deepEqual(find(lookup, [many, few]), ['few', 'many']);
  assert.deepEqual(find({ filter: "properties.tags/any(t: t eq 't4000')" }, [many, few]), ['few', 'many']);
  const layout = layoutOf(compiled(lookup).lookupPlans);
  assert.ok(entriesOf(layout, many).length < 10);
});

test('keys are bounded, and long values are still found by them', () => {
  const long = 'x'.repeat(100_000);
  const stored = [entityOf({ v: long }), entityOf({ v: `${long}y` }, { originId: 'o2' })];
  const schema = compiled({ filter: 'properties.v eq {p.q}' });
  const query = queryOf(schema, entityOf({ q: long }));
  const layout = layoutOf(schema.lookupPlans);
  assert.ok(query.id.length < 300);
  for (const key of [...query.keys, ...stored.flatMap((entity) => entriesOf(layout, entity))])
    assert.ok(key.length <= 160);
  assert.equal(candidates(query, layout, stored).length, 1);
});

test('a thousand results at most, and the cut is told unless `top` hides it', () => {
  const stored = Array.from({ length: 1_200 }, (_, i) => entityOf({}, { originId: `${i}` }));
  const selected = (more: JsonObject) => {
    const schema = compiled({ filter: "type eq 'article'", ...more });
    const layout = layoutOf(schema.lookupPlans);
    const query = queryOf(schema, entityOf({}));
    const { originIds, cut } = query.select(layout, candidates(query, layout, stored));
    return [originIds.length, cut];
  };
  assert.deepEqual(selected({}), [1_000, true]);
  assert.deepEqual(selected({ top: 1_100 }), [1_000, true]);
  assert.deepEqual(selected({ top: 1_000 }), [1_000, false]);
  assert.deepEqual(selected({ top: '7' }), [7, false]);
  assert.deepEqual(selected({ top: 0 }), [0, false]);
  assert.deepEqual(selected({ top: '{p.none}' }), [1_000, true]);
});

test('queries of equal text are equal, others are not, wherever they stand', () => {
  const schema = compiled({ filter: 'properties.v eq {p.q}' });
  const id = (q: Json) => queryOf(schema, entityOf({ q })).id;
  assert.equal(id(1), id(1));
  assert.notEqual(id(1), id('1'));
  assert.notEqual(
    queryOf(compiled({ filter: 'properties.v eq {p.q}', top: 3 }), entityOf({ q: 1 })).id,
    id(1),
  );
  assert.notEqual(
    queryOf(compiled({ filter: 'properties.v eq {p.q}', source: 'x' }), entityOf({ q: 1 })).id,
    id(1),
  );
});

test('candidates may repeat and come in any order; projections follow the layout', () => {
  const schema = compiled({ filter: 'properties.a.b eq 1', orderBy: { property: 'n' } });
  const stored = [2, 1].map((n) => entityOf({ a: { b: 1 }, n }, { originId: `o${n}` }));
  const layout = layoutOf([...schema.lookupPlans, ...schema.lookupPlans]);
  const query = queryOf(schema, entityOf({}));
  const rows = stored.map((entity) => ({ originId: entity.originId, values: project(layout, entity) }));
  assert.deepEqual(query.select(layout, [...rows, ...rows]), { originIds: ['o1', 'o2'], cut: false });
});

test('equal layouts have equal ids, whatever the order of the plans', () => {
  const plans = ['properties.a eq 1', 'properties.b eq 1'].flatMap(
    (filter) => compiled({ filter }).lookupPlans,
  );
  assert.deepEqual(layoutOf(plans), layoutOf(plans.toReversed()));
  assert.notEqual(layoutOf(plans).id, layoutOf(plans.slice(1)).id);
});

test('mistakes in a lookup are told with their place', () => {
  assert.deepEqual(issuesOf({ filter: "type = 'x'" }), [
    ".filter at character 6: one of eq, ne, gt, ge, lt, le, in expected, but `= 'x'` stands there",
  ]);
  assert.match(issuesOf({ filter: "title eq 'x'" })[0] ?? '', /an entity has no field `title`/);
  assert.match(issuesOf({ filter: "type EQ 'x'" })[0] ?? '', /character 6: there is no operator `EQ`/);
  assert.match(issuesOf({ filter: "type eq 'x" })[0] ?? '', /character 9: the text in quotes does not end/);
  assert.match(issuesOf({ filter: "type eq 'x' type" })[0] ?? '', /character 13: `and`, `or` or the end/);
  assert.match(issuesOf({ filter: 'type eq {title}' })[0] ?? '', /nothing is called `title`/);
  assert.match(issuesOf({ filter: 'length(type) eq 1' })[0] ?? '', /there is no function `length`/);
  assert.match(issuesOf({ filter: `${'('.repeat(500)}type eq 'x'` })[0] ?? '', /nested deeper/);
  assert.match(issuesOf({ filter: 'properties.a/any(type: type eq 1)' })[0] ?? '', /means something else/);
  assert.deepEqual(issuesOf({ operator: 'is', sourceEntityProperty: 3, tops: 1 }), [
    '.tops unknown key "tops"',
    '.sourceEntityProperty must be a text, is a number',
    '.matchValue this key is missing',
    '.operator must be `equals` or `contains`, is "is"',
  ]);
  assert.deepEqual(
    issuesOf({ filter: "type eq 'x'", orderBy: { property: 'a', sort: 'up' }, top: 'ten', source: '{p.x}' }),
    [
      '.source the source group of a lookup cannot be an expression',
      '.orderBy.sort must be `asc` or `desc`, is "up"',
      '.top must be a number, 0 or more, is "ten"',
    ],
  );
});
