import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { checkQuery, queryIdentity } from '../../../src/search/check/query.ts';
import type { CheckedQuery } from '../../../src/search/checked-query.ts';
import { allTypes } from '../support/arbitraries.ts';

const closed = { fields: allTypes, isOpen: false, isSchemaAlias: (alias: string) => alias === 'page' };
const open = { fields: allTypes, isOpen: true, isSchemaAlias: null };

function errorsOf(body: Json, rules: Parameters<typeof checkQuery>[1] = closed): readonly string[] {
  const result = checkQuery(body, rules);
  return result.ok ? [] : result.errors;
}

function queryOf(body: Json, rules: Parameters<typeof checkQuery>[1] = closed): CheckedQuery {
  const result = checkQuery(body, rules);
  assert.ok(result.ok, JSON.stringify(errorsOf(body, rules)));
  return result.query;
}

function condition(field: string, operator: string, value: Json): JsonObject {
  return { filters: { and: [{ field, operator, value }] } };
}

test('an empty query has every default; null means absent and unknown keys are ignored', () => {
  const expected = {
    filter: null,
    search: null,
    facets: [],
    sort: [{ field: '_updatedAt', order: 'desc' }],
    offset: 0,
    pageSize: 10,
    after: null,
  };
  assert.deepEqual(queryOf({}), expected);
  const nulls = {
    filters: null,
    search: null,
    facets: null,
    sort: null,
    pagination: null,
    aliases: null,
    more: 1,
  };
  assert.deepEqual(queryOf(nulls), expected);
  assert.deepEqual(
    queryOf({ pagination: { page: null, pageSize: null, nextPageToken: null }, sort: [] }),
    expected,
  );
});

test('a search is sorted by its score, and custom sorts ascend', () => {
  const search = { field: 'text', value: 'word' };
  assert.deepEqual(queryOf({ search }).sort, [{ field: '_score', order: 'desc' }]);
  assert.deepEqual(queryOf({ sort: [{ field: 'integer' }, { field: 'integer', order: 'asc' }] }).sort, [
    { field: 'integer', order: 'asc' },
  ]);
});

test('every mistake of a query is named with its place', () => {
  const errors = errorsOf({
    filters: {
      and: [
        { field: 'keyword', operator: 'like', value: 'a' },
        { or: [{ field: 'nope', operator: 'equals' }] },
      ],
    },
    search: { field: 'keyword', value: 'x'.repeat(257), literal: 'no' },
    facets: [{ size: 101 }],
    sort: [{ field: 'object' }, { field: 'integer', order: 'up' }],
    pagination: { page: -1, pageSize: 1001 },
    aliases: ['page', 'unknown'],
  });
  const places = errors.map((error) => error.slice(0, error.indexOf(':')));
  assert.deepEqual(places, [
    'filters.and[0].operator',
    'filters.and[1].or[0].field',
    'search.field',
    'search.value',
    'search.literal',
    'facets[0].field',
    'facets[0].size',
    'sort[0].field',
    'sort[1].order',
    'pagination.pageSize',
    'pagination.page',
    'aliases[1]',
  ]);
  assert.match(errors[0] ?? '', /unknown operator "like"; use one of equals, notEquals/);
});

test('groups nest two levels, in groups of the other kind', () => {
  const leaf = { field: 'keyword', operator: 'equals', value: 'a' };
  assert.deepEqual(errorsOf({ filters: { and: [leaf, { or: [leaf, leaf] }, { or: [] }] } }), []);
  assert.match(
    errorsOf({ filters: { and: [{ and: [leaf] }] } })[0] ?? '',
    /^filters\.and\[0\]: an "and" group inside/,
  );
  assert.match(errorsOf({ filters: { or: [{ and: [{ or: [leaf] }] }] } })[0] ?? '', /two levels/);
  assert.match(errorsOf({ filters: { and: [leaf], or: [leaf] } })[0] ?? '', /both "and" and "or"/);
  assert.match(errorsOf({ filters: leaf })[0] ?? '', /^filters: a condition must stand in/);
  assert.equal(errorsOf({ filters: [leaf] }).length, 1);
  assert.equal(errorsOf({ filters: { and: leaf } }).length, 1);
  assert.equal(errorsOf({ filters: { and: ['x', null] } }).length, 2);
});

test('an empty group is no condition', () => {
  assert.equal(queryOf({ filters: { and: [] } }).filter, null);
  assert.equal(queryOf({ filters: { or: [{ and: [] }] } }).filter, null);
  assert.equal(queryOf({ filters: {} }).filter, null);
});

test('ordering operators need numbers, dates or ranges, and a value of that kind', () => {
  for (const field of ['integer', 'long[]', 'date', 'dateRange', '_updatedAt', 'doubleRange']) {
    assert.deepEqual(errorsOf(condition(field, 'greaterThan', 5)), [], field);
  }
  assert.deepEqual(errorsOf(condition('date', 'lessThan', '2024-01-01')), []);
  assert.deepEqual(errorsOf(condition('long', 'lessThan', '9223372036854775807')), []);
  for (const field of ['keyword', 'text', 'boolean', 'keyword[]', '_originId', 'object']) {
    assert.ok(errorsOf(condition(field, 'lessThanOrEquals', 5)).length > 0, field);
  }
  for (const value of ['many', true, null, [1], { gt: 1 }]) {
    assert.equal(errorsOf(condition('integer', 'greaterThan', value)).length, 1, JSON.stringify(value));
  }
  assert.equal(errorsOf(condition('date', 'greaterThan', 'today')).length, 1);
});

test('a value of another type is no mistake, it equals nothing', () => {
  assert.deepEqual(errorsOf(condition('integer', 'equals', 'abc')), []);
  assert.deepEqual(errorsOf(condition('keyword', 'in', [1, null, 'a', true])), []);
  assert.match(errorsOf(condition('keyword', 'in', 'a'))[0] ?? '', /in needs an array/);
  assert.match(errorsOf(condition('keyword', 'equals', ['a']))[0] ?? '', /use "in"/);
});

test('contains needs text or a list; objects are not searchable', () => {
  for (const field of ['keyword', 'text', 'keywordText[]', 'integer[]', 'boolean[]']) {
    assert.deepEqual(errorsOf(condition(field, 'contains', 'a')), [], field);
  }
  for (const field of ['integer', 'boolean', 'date', 'integerRange', 'object', '_updatedAt']) {
    assert.equal(errorsOf(condition(field, 'contains', 'a')).length, 1, field);
  }
  assert.deepEqual(errorsOf(condition('object', 'notEquals', null)), []);
  assert.equal(errorsOf(condition('object', 'equals', 'a')).length, 1);
});

test('a field that does not exist is a mistake in an index, and absent in an auto-indexed group', () => {
  const bodies: Json[] = [
    condition('nope', 'equals', 1),
    { search: { field: 'nope', value: 'a' } },
    { sort: [{ field: 'nope' }] },
  ];
  for (const body of bodies) {
    assert.equal(errorsOf(body).length, 1);
    assert.deepEqual(errorsOf(body, open), []);
  }
  assert.equal(errorsOf({ sort: [{ field: 'constructor' }] }).length, 1);
});

test('a facet on a field that cannot be faceted is not valid, which is no mistake', () => {
  const facets = [
    'keyword',
    'object',
    'integerRange',
    'nope',
    '_originId',
    '_sourceGuid',
    '_updatedAt',
    '_score',
  ];
  const checked = queryOf({ facets: facets.map((field) => ({ field })) }).facets;
  assert.deepEqual(
    checked.filter(({ isValid }) => isValid).map(({ field }) => field),
    ['keyword', '_originId', '_sourceGuid'],
  );
  assert.deepEqual(checked[0], { field: 'keyword', name: 'keyword', size: 10, isValid: true });
});

test('searches are counted in code points, at most 256', () => {
  assert.deepEqual(errorsOf({ search: { field: 'text', value: '😀'.repeat(256) } }), []);
  assert.equal(errorsOf({ search: { field: 'text', value: '😀'.repeat(257) } }).length, 1);
  for (const field of ['text', 'text[]', 'keywordText', 'keywordText[]']) {
    assert.deepEqual(errorsOf({ search: { field, value: 'a' } }), []);
  }
  for (const field of ['keyword', 'integer', 'object', '_originId', '_score']) {
    assert.equal(errorsOf({ search: { field, value: 'a' } }).length, 1, field);
  }
});

test('pages reach 10,000 items; a token has no depth limit and its page is ignored', () => {
  assert.equal(queryOf({ pagination: { page: 9, pageSize: 1000 } }).offset, 9000);
  assert.equal(errorsOf({ pagination: { page: 10, pageSize: 1000 } }).length, 1);
  assert.equal(errorsOf({ pagination: { page: 1e300 } }).length, 1);
  assert.equal(queryOf({ pagination: { pageSize: 0, page: 1e300 } }).offset, 0);
  for (const pageSize of [-1, 1.5, '10', 1001, true])
    assert.equal(errorsOf({ pagination: { pageSize } }).length, 1);
  const result = checkQuery({ pagination: { page: 1e9, nextPageToken: 't' } }, closed);
  assert.ok(result.ok);
  assert.equal(result.query.offset, 0);
  assert.equal(result.nextPageToken, 't');
  assert.equal(errorsOf({ pagination: { nextPageToken: 5 } }).length, 1);
});

test('a token beside filters, a search or a sort that the index cannot have was given for another one', () => {
  const pagination = { nextPageToken: 't' };
  for (const other of [
    { sort: [{ field: 'elsewhere' }] },
    { search: { field: 'elsewhere', value: 'a' } },
    condition('elsewhere', 'equals', 'a'),
  ]) {
    assert.deepEqual(errorsOf({ ...other, pagination }).slice(1), ['Invalid nextPageToken']);
  }
  assert.equal(errorsOf({ facets: [{ field: 'keyword', size: 0 }], pagination }).length, 1);
});

test('aliases are given back once each, and ignored where they are not supported', () => {
  const result = checkQuery({ aliases: ['page', 'page'] }, closed);
  assert.ok(result.ok);
  assert.deepEqual(result.aliases, ['page']);
  assert.deepEqual(errorsOf({ aliases: 5 }, open), []);
  assert.equal(errorsOf({ aliases: 'page' }).length, 1);
  assert.equal(errorsOf({ aliases: [5, 'x'] }).length, 2);
});

test('what is no object at all is one mistake', () => {
  for (const body of [null, [], 'x', 5]) assert.equal(errorsOf(body).length, 1);
  for (const part of ['filters', 'search', 'facets', 'sort', 'pagination']) {
    assert.equal(errorsOf({ [part]: 5 }).length, 1, part);
  }
});

test('more conditions, facets or sort keys than a query may have are refused', () => {
  const many = (count: number): Json[] =>
    Array.from({ length: count }, () => ({ field: 'keyword', operator: 'equals', value: 'a' }));
  assert.deepEqual(errorsOf({ filters: { or: many(1000) } }), []);
  assert.equal(errorsOf({ filters: { or: many(1001) } }).length, 1);
  const pattern = { field: 'keyword', operator: 'contains', value: '*a*' };
  assert.deepEqual(errorsOf({ filters: { or: Array.from({ length: 100 }, () => pattern) } }), []);
  assert.equal(errorsOf({ filters: { or: Array.from({ length: 101 }, () => pattern) } }).length, 1);
  assert.equal(errorsOf({ facets: many(101) }).length, 1);
  assert.equal(errorsOf({ sort: many(101) }).length, 1);
});

test('a token may pass between queries that differ in their page and facets alone', () => {
  const body = { ...condition('keyword', 'equals', 'a'), sort: [{ field: 'integer' }] };
  const identity = queryIdentity(queryOf(body));
  assert.equal(
    queryIdentity(queryOf({ ...body, pagination: { pageSize: 3 }, facets: [{ field: 'keyword' }] })),
    identity,
  );
  assert.notEqual(queryIdentity(queryOf({ ...body, sort: [{ field: 'integer', order: 'desc' }] })), identity);
  assert.notEqual(
    queryIdentity(queryOf({ ...condition('keyword', 'equals', 'b'), sort: [{ field: 'integer' }] })),
    identity,
  );
});
