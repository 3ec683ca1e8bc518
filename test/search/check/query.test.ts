import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { checkQuery, queryIdentity } from '../../../src/search/check/query.ts';
import { closed, condition, errorsOf, open, queryOf } from '../support/checks.ts';

test('query: an empty query has every default; null means absent and unknown keys are ignored', () => {
  const expected = {
    filter: null,
    search: null,
    facets: [],
    sort: [{ field: '_updatedAt', order: 'desc' }],
    offset: 0,
    pageSize: 10,
    after: null,
    fields: null,
    highlight: null,
    distinct: null,
  };
  assert.deepEqual(queryOf({}), expected);
  const nulls = {
    filters: null,
    search: null,
    facets: null,
    sort: null,
    pagination: null,
    aliases: null,
    further: 1,
  };
  assert.deepEqual(queryOf(nulls), expected);
  assert.deepEqual(
    queryOf({ pagination: { page: null, pageSize: null, nextPageToken: null }, sort: [] }),
    expected,
  );
});

test('query: a probable misspelling inside a list or an object is an error, any other unknown member is ignored', () => {
  const search = { field: 'text', value: 'x' };
  assert.deepEqual(
    errorsOf({
      sort: [{ field: 'integer', Order: 'desc' }],
      facets: [
        { field: 'integer', sise: 3 },
        { field: 'integer', ranges: [{ form: 1, to: 2 }] },
      ],
      search: {
        fields: [{ field: 'text', wieght: 2 }],
        value: 'x',
        boost: [{ field: 'date', weight: 1, halflife: 2 }],
      },
      highlight: { lenght: 10 },
    }).toSorted(),
    [
      'facets[0].sise: unknown member; did you mean `size`?',
      'facets[1].ranges[0].form: unknown member; did you mean `from`?',
      'highlight.lenght: unknown member; did you mean `length`?',
      'search.boost[0].halfLife: is missing; a field of dates needs the days after which a boost is half',
      'search.boost[0].halflife: unknown member; did you mean `halfLife`?',
      'search.fields[0].wieght: unknown member; did you mean `weight`?',
      'sort[0].Order: unknown member; did you mean `order`?',
    ],
  );
  const others = {
    sort: [{ field: 'integer', label: 'x', Near: null }],
    facets: [{ field: 'integer', label: 'x', ranges: [{ from: 1, id: 'a' }] }],
    search: { ...search, boost: [{ field: 'integer', weight: 1, comment: 'x' }] },
    highlight: { tag: 'b' },
  };
  assert.deepEqual(errorsOf(others), []);
});

test('query: every error in a query is reported with its path', () => {
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
    'search.value',
    'search.literal',
    'search.field',
    'facets[0].size',
    'facets[0].field',
    'sort[0].field',
    'sort[1].order',
    'pagination.page',
    'pagination.pageSize',
    'aliases[1]',
  ]);
  assert.match(errors[0] ?? '', /unknown operator "like"; use one of equals, notEquals/);
});

test('query: an unknown field is an error in an index, and absent in an auto-indexed group', () => {
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

test('query: a token with filters, a search or a sort that the index cannot have belongs to another query', () => {
  const pagination = { nextPageToken: 't' };
  for (const other of [
    { sort: [{ field: 'elsewhere' }] },
    { search: { field: 'elsewhere', value: 'a' } },
    condition('elsewhere', 'equals', 'a'),
  ]) {
    assert.deepEqual(errorsOf({ ...other, pagination }).slice(1), ['Invalid nextPageToken']);
  }
  assert.equal(errorsOf({ facets: [{ field: 'keyword', size: -1 }], pagination }).length, 1);
});

test('query: aliases are returned without duplicates, and ignored where they are not supported', () => {
  const result = checkQuery({ aliases: ['page', 'page'] }, closed);
  assert.ok(result.ok);
  assert.deepEqual(result.aliases, ['page']);
  assert.deepEqual(errorsOf({ aliases: 5 }, open), []);
  assert.equal(errorsOf({ aliases: 'page' }).length, 1);
  assert.equal(errorsOf({ aliases: [5, 'x'] }).length, 2);
});

test('query: a body that is not an object is one error', () => {
  for (const body of [null, [], 'x', 5]) assert.equal(errorsOf(body).length, 1);
  for (const part of ['filters', 'search', 'facets', 'sort', 'pagination']) {
    assert.equal(errorsOf({ [part]: 5 }).length, 1, part);
  }
});

test('query: more conditions, facets or sort keys than allowed are rejected', () => {
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

test('query: a token can be used by queries that differ only in their page and facets', () => {
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

test('query: pages reach 10,000 items; a token has no depth limit and its page is ignored', () => {
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
  assert.deepEqual(errorsOf({ pagination: { page: 'x', nextPageToken: 't' } }), []);
  assert.equal(errorsOf({ pagination: { nextPageToken: 5 } }).length, 1);
});

test('query: fields lists fields of the index or built-in ones, without duplicates; null requests all', () => {
  assert.equal(queryOf({}).fields, null);
  assert.equal(queryOf({ fields: null }).fields, null);
  assert.deepEqual(queryOf({ fields: [] }).fields, []);
  const names = ['text', '__proto__', 'text', '_score', '_views', '_distance', '_originId'];
  assert.deepEqual(queryOf({ fields: names }).fields, [...new Set(names)]);
});

test('query: an unknown field is an error in an index and ignored in an auto-indexed group', () => {
  assert.deepEqual(errorsOf({ fields: ['text', 'nope', 5] }), [
    'fields[1]: the index has no field "nope"',
    'fields[2]: must be a string, not 5',
  ]);
  assert.deepEqual(queryOf({ fields: ['nope'] }, open).fields, ['nope']);
  const many = Array<string>(1001).fill('text');
  assert.deepEqual(errorsOf({ fields: many }), ['fields: 1001 field names; at most 1000 are allowed']);
  assert.deepEqual(errorsOf({ fields: 'text' }), ['fields: must be an array of field names, not "text"']);
});

test('query: distinct needs a field with single values', () => {
  const names = [...closed.fields.keys(), '_originId', '_sourceGuid', '_updatedAt', '_score', 'nope'];
  const scalars = ['keyword', 'text', 'keywordText', 'integer', 'long', 'float', 'double', 'boolean', 'date'];
  assert.deepEqual(
    names.filter((distinct) => errorsOf({ distinct }).length === 0),
    [...scalars, '__proto__', '_originId', '_sourceGuid', '_updatedAt'],
  );
  const needs = 'distinct: needs a field of type keyword, text, a number, boolean or date; ';
  assert.deepEqual(errorsOf({ distinct: 'text[]' }), [`${needs}"text[]" is of type text[]`]);
  assert.deepEqual(errorsOf({ distinct: '_score' }), [`${needs}"_score" is not a field of an item`]);
  assert.deepEqual(errorsOf({ distinct: 'nope' }), ['distinct: the index has no field "nope"']);
  assert.deepEqual(errorsOf({ distinct: 'nope' }, open), []);
  assert.deepEqual(errorsOf({ distinct: ['text'], distinctFacets: 0 }), [
    'distinct: must be the name of a field, not "[…]"',
    'distinctFacets: must be true or false, not 0',
  ]);
});

test('query: facets count the items that remain, unless distinctFacets is false', () => {
  const distinct = { field: 'text', isForFacets: true, beaten: null };
  assert.deepEqual(queryOf({ distinct: 'text', distinctFacets: null }).distinct, distinct);
  assert.deepEqual(queryOf({ distinct: 'text', distinctFacets: false }).distinct, {
    ...distinct,
    isForFacets: false,
  });
  assert.equal(queryOf({ distinctFacets: false }).distinct, null);
});

test('query: a token is bound to distinct, but not to what facets count', () => {
  const [none, some, other, uncounted] = [
    {},
    { distinct: 'text' },
    { distinct: 'keyword' },
    { distinct: 'text', distinctFacets: false },
  ].map((body) => queryIdentity(queryOf(body)));
  assert.equal(new Set([none, some, other]).size, 3);
  assert.equal(uncounted, some);
  assert.deepEqual(
    errorsOf({ distinct: 'nope', pagination: { nextPageToken: 'x' } }).at(-1),
    'Invalid nextPageToken',
  );
});
