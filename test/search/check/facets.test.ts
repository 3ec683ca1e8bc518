import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import type { QueryRules } from '../../../src/search/check/query.ts';
import { closed, errorsOf, open, queryOf } from '../support/checks.ts';

test('facets: a facet on a field without facets is invalid, which is not an error', () => {
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

test('facets: a facet has the name of its field and ten groups by default', () => {
  const facets = [{ field: 'keyword' }, { field: 'keyword', name: 'Country', size: 100 }];
  assert.deepEqual(queryOf({ facets }).facets, [
    { field: 'keyword', name: 'keyword', size: 10, isValid: true },
    { field: 'keyword', name: 'Country', size: 100, isValid: true },
  ]);
  for (const size of [-1, 101, 1.5, '5'])
    assert.equal(errorsOf({ facets: [{ field: 'keyword', size }] }).length, 1);
  assert.match(
    errorsOf({ facets: [{ field: 'keyword', name: 5 }] })[0] ?? '',
    /^facets\[0\]\.name: must be a string/,
  );
});

function facet(field: string, more: JsonObject, rules: QueryRules = closed) {
  return queryOf({ facets: [{ field, ...more }] }, rules).facets[0];
}

test('facets: statistics and ranges need numbers or dates, intervals need dates; otherwise the facet is invalid', () => {
  const numbers = ['integer', 'long', 'float', 'double', 'date'];
  const fields = [...closed.fields.keys(), '_originId', '_updatedAt', '_score', 'nope'];
  const validWith = (more: JsonObject) => fields.filter((field) => facet(field, more)?.isValid === true);
  const lists = numbers.map((name) => `${name}[]`);
  assert.deepEqual(validWith({ stats: true }), [...numbers, ...lists]);
  assert.deepEqual(validWith({ ranges: [{ to: 5 }] }), [...numbers, ...lists]);
  assert.deepEqual(validWith({ interval: 'week' }), ['date', 'date[]']);
  assert.deepEqual(facet('keyword', { stats: true, filter: false }), {
    field: 'keyword',
    name: 'keyword',
    size: 10,
    isValid: false,
    isUnfiltered: true,
  });
  assert.equal(facet('nope', { stats: true }, open)?.isValid, false);
});

test('facets: a facet returns what it requests and nothing else', () => {
  const plain = { field: 'long', name: 'long', size: 10, isValid: true };
  const nothing = { stats: false, ranges: null, interval: null, filter: true };
  assert.deepEqual(facet('long', nothing), plain);
  assert.deepEqual(facet('long', { stats: null, filter: null }), plain);
  assert.deepEqual(facet('long', { ranges: [{ from: '9007199254740993', name: 'far' }, {}], stats: true }), {
    ...plain,
    numbers: {
      kind: 'long',
      stats: true,
      ranges: [
        { from: '9007199254740993', to: null, name: 'far' },
        { from: null, to: null, name: null },
      ],
      interval: null,
    },
  });
});

test('facets: every error in a facet is reported with its path', () => {
  const errors: readonly (readonly [string, JsonObject, string])[] = [
    ['double', { stats: 1 }, 'facets[0].stats: must be true or false, not 1'],
    ['double', { filter: 'no' }, 'facets[0].filter: must be true or false, not "no"'],
    ['date', { interval: 'hour' }, 'facets[0].interval: must be one of day, week, month, year, not "hour"'],
    ['keyword', { interval: 5 }, 'facets[0].interval: must be one of day, week, month, year, not 5'],
    [
      'date',
      { interval: 'day', ranges: [] },
      'facets[0]: has both "ranges" and "interval"; use one facet for each',
    ],
    ['double', { ranges: {} }, 'facets[0].ranges: must be an array of {"from", "to", "name"}, not "{…}"'],
    ['double', { ranges: [5] }, 'facets[0].ranges[0]: must be {"from", "to", "name"}, not 5'],
    ['double', { ranges: [{ from: 'NaN' }] }, 'facets[0].ranges[0].from: must be a number, not "NaN"'],
    ['double', { ranges: [{ to: Infinity }] }, 'facets[0].ranges[0].to: must be a number, not null'],
    ['double', { ranges: [{ to: true }] }, 'facets[0].ranges[0].to: must be a number, not true'],
    [
      'date',
      { ranges: [{ from: 'May' }] },
      'facets[0].ranges[0].from: must be a date as ISO 8601 text or epoch milliseconds, not "May"',
    ],
    [
      'keyword',
      { ranges: [{ from: [] }] },
      'facets[0].ranges[0].from: must be a number or a date, not "[…]"',
    ],
    ['double', { ranges: [{ from: 2, to: 1 }] }, 'facets[0].ranges[0]: from 2 is greater than to 1'],
    [
      'long',
      { ranges: [{ from: '9007199254740993', to: 9007199254740992 }] },
      'facets[0].ranges[0]: from "9007199254740993" is greater than to 9007199254740992',
    ],
    [
      'date',
      { ranges: [{ from: '2024-01-02', to: '2024-01-02T00:00:00+01:00' }] },
      'facets[0].ranges[0]: from "2024-01-02" is greater than to "2024-01-02T00:00:00+01:00"',
    ],
    ['double', { ranges: [{ name: 5 }] }, 'facets[0].ranges[0].name: must be a string, not 5'],
    [
      'double',
      { ranges: Array<Json>(101).fill({}) },
      'facets[0].ranges: 101 ranges; at most 100 are allowed',
    ],
  ];
  for (const [field, more, expected] of errors) {
    assert.deepEqual(errorsOf({ facets: [{ field, ...more }] }), [expected]);
  }
  assert.deepEqual(errorsOf({ facets: [{ field: 'double', ranges: [{ from: 1, to: 1 }] }] }), []);
});
