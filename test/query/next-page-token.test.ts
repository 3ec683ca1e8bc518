import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { isPlaceAmong, openToken, sealToken, type TokenUse } from '../../src/query/next-page-token.ts';
import { queryIdentity } from '../../src/search/check/query.ts';
import type { CheckedQuery } from '../../src/search/checked-query.ts';
import type { FieldType } from '../../src/search/fields/field-type.ts';
import { searchIn } from '../search/support/searches.ts';
import { runs } from '../support/runs.ts';

const runCount = runs(200);
const secret = createSecretKey(randomBytes(32));
const query: CheckedQuery = {
  filter: {
    kind: 'condition',
    field: 'size',
    operator: 'equals',
    value: { b: 1, a: [2] },
    caseInsensitive: false,
  },
  search: searchIn('title', 'word'),
  sort: [{ field: '_score', order: 'desc' }],
  facets: [],
  offset: 0,
  pageSize: 10,
  after: null,
  fields: null,
  highlight: null,
  distinct: null,
};
const scope = { tenant: 'acme', environmentId: 'env' };
const useOf = (changed: Partial<CheckedQuery>): TokenUse => ({
  scope,
  index: 'schema:pages',
  identity: queryIdentity({ ...query, ...changed }),
});
const use = useOf({});
const place = { values: [1.5, null, 'ü', true], originId: 'o', sourceId: 's' };
const pin = {
  stats: { items: 7, fields: [{ words: 30, items: 6 }], words: [{ tier: 1, items: 2 }] },
  nowMs: 1_700_000_000_000,
};

test('next page token: any position round-trips through its token', () => {
  const value = fc.oneof(fc.string({ unit: 'binary' }), fc.double({ noNaN: true, noDefaultInfinity: true }));
  fc.assert(
    fc.property(
      fc.array(fc.oneof(value, fc.boolean(), fc.constant(null)), { maxLength: 5 }),
      fc.string({ unit: 'binary' }),
      fc.string(),
      (values, originId, sourceId) => {
        const sealed = { values, originId, sourceId };
        for (const one of [pin, { ...pin, nowMs: null }, null]) {
          const token = sealToken(secret, use, sealed, one);
          assert.match(token, /^[\w-]+$/);
          assert.deepEqual(
            JSON.stringify(openToken(secret, use, token)),
            JSON.stringify({ place: { values, originId, sourceId }, pin: one }),
          );
        }
      },
    ),
    { numRuns: runCount },
  );
});

test('next page token: a long sort value gives a token that fits in a request', () => {
  const long = { ...place, values: ['sentence '.repeat(100_000)] };
  const token = sealToken(secret, use, long, null);
  assert.ok(token.length < 50_000);
  assert.deepEqual(openToken(secret, use, token), { place: long, pin: null });
});

test('next page token: a token is valid for no other tenant, environment, index, filter, search or sort', () => {
  const token = sealToken(secret, use, place, null);
  const others: TokenUse[] = [
    { ...use, scope: { ...scope, tenant: 'other' } },
    { ...use, scope: { ...scope, environmentId: 'other' } },
    { ...use, index: 'schema:other' },
    { ...use, index: 'auto:pages' },
    useOf({ filter: null }),
    useOf({ search: null }),
    useOf({ search: searchIn('title', 'word', { fields: [{ field: 'title', weight: 2 }] }) }),
    useOf({ search: searchIn('title', 'word', { mode: 'all' }) }),
    useOf({ search: searchIn('title', 'word', { prefix: true }) }),
    useOf({ search: searchIn('title', 'word', { fuzziness: 1 }) }),
    useOf({ search: searchIn('title', 'word', { literal: true }) }),
    useOf({ sort: [{ field: '_score', order: 'asc' }] }),
    useOf({ sort: [...query.sort, { field: 'title', order: 'asc' }] }),
  ];
  for (const other of others) assert.equal(openToken(secret, other, token), null, JSON.stringify(other));
  assert.equal(openToken(createSecretKey(randomBytes(32)), use, token), null);
});

test('next page token: page size, facets and the order of object members in a filter do not matter to a token', () => {
  const token = sealToken(secret, use, place, null);
  const filter = { ...query.filter, value: { a: [2], b: 1 } } as CheckedQuery['filter'];
  const facets = [{ field: 'size', name: 'size', size: 10, isValid: true }];
  assert.deepEqual(openToken(secret, useOf({ filter, facets, pageSize: 3 }), token), { place, pin: null });
});

test('next page token: a changed, truncated, extended or forged token is rejected', () => {
  const token = sealToken(secret, use, place, null);
  for (let at = 0; at < token.length; at += 1) {
    const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
    assert.equal(openToken(secret, use, changed), null, `changed at ${at}`);
    assert.equal(openToken(secret, use, token.slice(0, at)), null, `truncated at ${at}`);
  }
  for (const text of [
    '',
    '=',
    `${token}A`,
    `${token}AAAA`,
    `${token}==`,
    ` ${token}`,
    'null',
    '🙂',
    '\ud800',
  ]) {
    assert.equal(openToken(secret, use, text), null, text);
  }
});

test('next page token: its place fits the kinds of the sorted fields, or fields that are not there', () => {
  const fields = new Map<string, FieldType>([
    ['text', 'keywordText'],
    ['long', 'long[]'],
    ['flag', 'boolean'],
    ['day', 'date'],
    ['place', 'geoPoint'],
  ]);
  const fits = (field: string, value: string | number | boolean | null) => {
    const near = field === 'place' ? { near: { lat: 0, lon: 0 } } : {};
    const sorted: CheckedQuery = { ...query, sort: [{ field, order: 'asc', ...near }] };
    const place = { values: [value], originId: 'a', sourceId: 's' };
    return isPlaceAmong({ fields, isOpen: true }, sorted, { place, pin: null });
  };
  for (const field of [...fields.keys(), 'none', '_score', '_updatedAt']) assert.ok(fits(field, null), field);
  const fitting = {
    text: 'a',
    long: '00000000000000000001',
    flag: true,
    day: 5,
    place: 5,
    none: 'a',
    _score: 1,
  };
  for (const [field, value] of Object.entries(fitting)) assert.ok(fits(field, value), field);
  const others = { text: 5, long: 5, flag: 'true', day: '2024-05-17', _updatedAt: 'a', _originId: 5 };
  for (const [field, value] of Object.entries(others)) assert.ok(!fits(field, value), field);
});
