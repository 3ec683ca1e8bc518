import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { typedValue, valueText } from '../../../src/console/parts/typed-value.ts';
import {
  boostOf,
  conditionsOf,
  hasOperators,
  isChosen,
  noBoost,
  toggled,
  withBoost,
  withConditions,
  withOperators,
  withSearch,
  withSort,
  withToken,
} from '../../../src/console/query/query-state.ts';

test('query state: members unknown to the form are kept', () => {
  const query = { distinct: 'a', search: { field: 'name', value: 'x', prefix: true }, filters: { or: [] } };
  assert.deepEqual(withSort(query, 'size', 'desc'), { ...query, sort: [{ field: 'size', order: 'desc' }] });
  assert.deepEqual(withSearch(query, 'name, names', 'y'), {
    distinct: 'a',
    filters: { or: [] },
    search: { prefix: true, fields: [{ field: 'name' }, { field: 'names' }], value: 'y' },
  });
});

test('query state: filters of another form are not changed', () => {
  const query = { filters: { and: [{ or: [] }] } };
  assert.equal(conditionsOf(query), null);
  assert.equal(toggled(query, 'a', 1), query);
  const plain = [{ field: 'a', operator: 'in', value: [1] }];
  assert.deepEqual(conditionsOf(withConditions({}, plain)), plain);
});

test('query state: a group of a facet is switched on and off, starting from the first page', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.integer(), fc.boolean()), (value) => {
      const query = { pagination: { pageSize: 5 } };
      const on = toggled(withToken(query, 'token'), 'field', value);
      assert.equal(isChosen(on, 'field', value), true);
      assert.deepEqual(on.pagination, { pageSize: 5 });
      assert.deepEqual(toggled(on, 'field', value), query);
    }),
  );
});

test('query state: a value is formatted so that it parses to itself', () => {
  const values = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.integer()));
  fc.assert(fc.property(values, (value) => assert.deepEqual(typedValue(valueText(value)), value)));
});

test('query state: operators and a boost are members of the search, and others are kept', () => {
  const query = { search: { field: 'name', value: 'x', prefix: true } };
  const made = withOperators(withBoost(query, { field: 'sold', weight: 2, halfLife: null }), true);
  assert.deepEqual(made, {
    search: { ...query.search, boost: [{ field: 'sold', weight: 2 }], operators: true },
  });
  assert.ok(hasOperators(made));
  assert.deepEqual(boostOf(made), { field: 'sold', weight: 2, halfLife: null });
  assert.deepEqual(withOperators(withBoost(made, noBoost), false), query);
  const dated = { field: 'made', weight: 1, halfLife: 30 };
  assert.deepEqual(boostOf(withBoost(query, dated)), dated);
  assert.deepEqual(withBoost({}, dated), {}, 'without a search there is nothing to boost');
});
