import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { InvariantError } from '../../../src/lib/assert.ts';
import { layoutOf, project } from '../../../src/schemas/lookup-layout.ts';
import { candidates, entityOf } from '../support/fixtures.ts';
import { compiledLookup, queryOf } from '../support/lookups.ts';

test('compiled lookup: at most a thousand results, and truncation is diagnosed unless `top` causes it', () => {
  const stored = Array.from({ length: 1_200 }, (_, i) => entityOf({}, { originId: `${i}` }));
  const selected = (more: JsonObject) => {
    const schema = compiledLookup({ filter: "type eq 'article'", ...more });
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

test('compiled lookup: queries with equal text are equal and others are not, wherever they are used', () => {
  const schema = compiledLookup({ filter: 'properties.v eq {p.q}' });
  const id = (q: Json) => queryOf(schema, entityOf({ q })).id;
  assert.equal(id(1), id(1));
  assert.notEqual(id(1), id('1'));
  assert.notEqual(
    queryOf(compiledLookup({ filter: 'properties.v eq {p.q}', top: 3 }), entityOf({ q: 1 })).id,
    id(1),
  );
  assert.notEqual(
    queryOf(compiledLookup({ filter: 'properties.v eq {p.q}', source: 'x' }), entityOf({ q: 1 })).id,
    id(1),
  );
});

test('compiled lookup: candidates can repeat and be in any order; projections follow the layout', () => {
  const schema = compiledLookup({ filter: 'properties.a.b eq 1', orderBy: { property: 'n' } });
  const stored = [2, 1].map((n) => entityOf({ a: { b: 1 }, n }, { originId: `o${n}` }));
  const layout = layoutOf([...schema.lookupPlans, ...schema.lookupPlans]);
  const query = queryOf(schema, entityOf({}));
  const rows = stored.map((entity) => ({ originId: entity.originId, values: project(layout, entity) }));
  assert.deepEqual(query.select(layout, [...rows, ...rows]), {
    originIds: ['o1', 'o2'],
    matched: 2,
    cut: false,
  });
});

test('compiled lookup: a layout can answer a lookup if it has all its indexes and values', () => {
  const filters = ['properties.a eq 1', 'properties.b eq 1'];
  const [a, b] = filters.map((filter) => compiledLookup({ filter }));
  const query = queryOf(compiledLookup({ filter: 'properties.a eq 1' }), entityOf({}));
  assert.ok(query.isAnsweredBy(layoutOf([...(a?.lookupPlans ?? []), ...(b?.lookupPlans ?? [])])));
  const other = layoutOf(b?.lookupPlans ?? []);
  assert.equal(query.isAnsweredBy(other), false);
  assert.throws(() => query.select(other, []), InvariantError);
});

test('compiled lookup: candidates in portions give the same result as together, however many are dropped on the way', () => {
  const schema = compiledLookup({
    filter: "type eq 'article'",
    orderBy: { property: 'n', sort: 'desc' },
    top: 5,
  });
  const layout = layoutOf(schema.lookupPlans);
  const query = queryOf(schema, entityOf({}));
  const stored = Array.from({ length: 5_000 }, (_, i) => {
    return entityOf({ n: (i * 37) % 5_000 }, { originId: `o${i}` });
  });
  const all = candidates(query, layout, stored);
  const selection = query.selection(layout);
  for (let at = 0; at < all.length; at += 700) selection.add(all.slice(at, at + 700));
  const largest = stored.toSorted((x, y) => Number(y.properties.n) - Number(x.properties.n)).slice(0, 5);
  assert.deepEqual(
    selection.result().originIds,
    largest.map(({ originId }) => originId),
  );
  assert.deepEqual(selection.result(), query.select(layout, all));
});
