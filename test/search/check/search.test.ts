import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { type QueryRules, queryIdentity } from '../../../src/search/check/query.ts';
import { closed, errorsOf, open, queryOf } from '../support/checks.ts';

test('search: the length of a search is counted in code points, at most 256', () => {
  assert.deepEqual(errorsOf({ search: { field: 'text', value: '😀'.repeat(256) } }), []);
  assert.equal(errorsOf({ search: { field: 'text', value: '😀'.repeat(257) } }).length, 1);
  for (const field of ['text', 'text[]', 'keywordText', 'keywordText[]']) {
    assert.deepEqual(errorsOf({ search: { field, value: 'a' } }), []);
  }
  for (const field of ['keyword', 'integer', 'object', '_originId', '_score']) {
    assert.equal(errorsOf({ search: { field, value: 'a' } }).length, 1, field);
  }
});

test('search: a search has the given options, and defaults for the others', () => {
  const more = { boost: [], nowMs: null, operators: null, stats: null };
  const usual = { mode: 'any', literal: false, prefix: false, fuzziness: null, ...more };
  const plain = { fields: [{ field: 'text', weight: 1 }], value: 'a', ...usual };
  assert.deepEqual(queryOf({ search: { field: 'text', value: 'a' } }).search, plain);
  const nulls = {
    fields: null,
    mode: null,
    prefix: null,
    fuzziness: null,
    literal: null,
    boost: null,
    operators: null,
  };
  assert.deepEqual(queryOf({ search: { field: 'text', value: 'a', ...nulls } }).search, plain);
  const fields = [{ field: 'text', weight: 0.5 }, { field: 'text[]' }, { field: 'keywordText', weight: 100 }];
  const asked = { mode: 'all', literal: true, prefix: true, fuzziness: 0 };
  assert.deepEqual(queryOf({ search: { fields, value: 'a', ...asked } }).search, {
    fields: [fields[0], { field: 'text[]', weight: 1 }, fields[2]],
    value: 'a',
    ...asked,
    ...more,
  });
});

test('search: a search of * includes every text field that is not listed', () => {
  const texts = ['keywordText', 'keywordText[]', 'text', 'text[]'];
  const searched = (search: JsonObject, rules?: QueryRules) =>
    queryOf({ search: { value: 'a', ...search } }, rules).search?.fields;
  const usual = texts.map((field) => ({ field, weight: 1 }));
  assert.deepEqual(searched({ field: '*' }), usual);
  assert.deepEqual(searched({ fields: [{ field: '*' }] }), usual);
  assert.deepEqual(
    searched({
      fields: [
        { field: 'text[]', weight: 3 },
        { field: '*', weight: 2 },
      ],
    }),
    [
      { field: 'text[]', weight: 3 },
      ...texts.filter((field) => field !== 'text[]').map((field) => ({ field, weight: 2 })),
    ],
  );
  const named = [...texts, '*'].map((field) => ({ field }));
  assert.deepEqual(searched({ fields: named }), usual);
  const without = { ...closed, fields: new Map([['keyword', 'keyword']] as const) };
  assert.deepEqual(errorsOf({ search: { field: '*', value: 'a' } }, without), [
    'search.field: the index has no field "*"',
  ]);
  assert.deepEqual(searched({ field: '*' }, { ...without, isOpen: true }), [{ field: '*', weight: 1 }]);
});

test('search: operators are phrases, and exclusions at the beginning or after a blank', () => {
  const cases: readonly (readonly [string, string, readonly string[], readonly string[]])[] = [
    ['a "b c" d', 'a b c d', ['b c'], []],
    ['a -b -"c d" e', 'a e', [], ['b', 'c d']],
    ['a-b c - d -e-f', 'a-b c - d', [], ['e-f']],
    ['-a', '', [], ['a']],
    ['"a', '"a', [], []],
    ['-"a b', '-"a b', [], []],
    ['"!" -! a', '! a', [], []],
  ];
  for (const [value, scored, phrases, excluded] of cases) {
    const { search } = queryOf({ search: { field: 'text', value, operators: true } });
    assert.equal(search?.value.trim().replace(/\s+/g, ' '), scored, value);
    assert.deepEqual([search?.operators?.phrases, search?.operators?.excluded], [phrases, excluded], value);
    assert.equal(queryOf({ search: { field: 'text', value } }).search?.value, value);
  }
});

test('search: each error in a boost has its path', () => {
  const number = { field: 'integer', weight: 1 };
  const date = { field: 'date', weight: 1, halfLife: 7 };
  const errors = (boost: Json) => errorsOf({ search: { field: 'text', value: 'a', boost } });
  assert.deepEqual(errors([number, date, { ...date, origin: '2026-01-01' }]), []);
  const cases: [Json, RegExp][] = [
    ['integer', /^search.boost: must be an array/],
    [[number, number, number, number], /^search.boost: 4 boosts; at most 3/],
    [[1], /^search.boost\[0\]: must be/],
    [[{ weight: 1 }], /^search.boost\[0\].field: is missing/],
    [[{ field: 'integer' }], /^search.boost\[0\].weight: is missing/],
    [[{ ...number, weight: 101 }], /^search.boost\[0\].weight: must be a number over 0, up to 100/],
    [
      [{ ...number, field: 'keyword' }],
      /^search.boost\[0\].field: a boost needs a field of numbers or dates/,
    ],
    [[{ ...number, field: 'nope' }], /^search.boost\[0\].field: the index has no field/],
    [[{ ...number, halfLife: 7 }], /^search.boost\[0\].halfLife: is for fields of dates/],
    [[{ ...date, halfLife: null }], /^search.boost\[0\].halfLife: is missing/],
    [[{ ...date, halfLife: 0 }], /^search.boost\[0\].halfLife: must be a number of days over 0/],
    [[{ ...date, origin: 'today' }], /^search.boost\[0\].origin: must be a date/],
  ];
  for (const [boost, pattern] of cases) {
    const found = errors(boost);
    assert.equal(found.length, 1, `${JSON.stringify(boost)}: ${found.join('; ')}`);
    assert.match(found[0] ?? '', pattern);
  }
});

test('search: each error in a search has its path', () => {
  assert.deepEqual(errorsOf({ search: {} }), ['search.value: is missing', 'search.field: is missing']);
  const one = { field: 'text' };
  const cases: [JsonObject, ...RegExp[]][] = [
    [{ field: 'text', fields: [one] }, /^search: has both/],
    [{ fields: 'text' }, /^search.fields: must be an array/],
    [{ fields: [] }, /^search.fields: must list at least one field/],
    [{ fields: [one, one] }, /^search.fields\[1\].field: "text" is named twice/],
    [{ fields: [one, 'text'] }, /^search.fields\[1\]: must be/],
    [{ fields: [{}] }, /^search.fields\[0\].field: is missing/],
    [
      { fields: [{ field: 'nope' }, { field: 'keyword' }] },
      /^search.fields\[0\].field: the index/,
      /\[1\].field: search needs/,
    ],
    ...[0, -1, 100.5, '2', true].map((weight): [JsonObject, RegExp] => [
      { fields: [{ ...one, weight }] },
      /^search.fields\[0\].weight: must be a number over 0, up to 100/,
    ]),
    [{ ...one, mode: 'ALL' }, /^search.mode: must be "any" or "all"/],
    [{ ...one, prefix: 1 }, /^search.prefix: must be true or false/],
    ...[3, -1, 0.5, '1'].map((fuzziness): [JsonObject, RegExp] => [
      { ...one, fuzziness },
      /^search.fuzziness: must be 0, 1 or 2/,
    ]),
    [{ ...one, literal: true, fuzziness: 1 }, /^search.fuzziness: a literal search/],
  ];
  for (const [search, ...expected] of cases) {
    const errors = errorsOf({ search: { value: 'a', ...search } });
    assert.equal(errors.length, expected.length, `${JSON.stringify(search)}: ${errors.join('; ')}`);
    for (const [at, pattern] of expected.entries()) assert.match(errors[at] ?? '', pattern);
  }
  const both = { search: { fields: [{ field: 'text', weight: 0 }], mode: 1, value: 5 } };
  assert.equal(errorsOf(both).length, 3, 'every error is reported');
});

test('search: the identity of a search in one field has never changed', () => {
  const identity = (search: JsonObject) => queryIdentity(queryOf({ search }));
  const before = '[null,{"field":"text","literal":false,"value":"a"},[{"field":"_score","order":"desc"}]]';
  assert.equal(identity({ field: 'text', value: 'a' }), before);
  assert.equal(identity({ fields: [{ field: 'text' }], value: 'a' }), before);
  const others = [
    { fields: [{ field: 'text', weight: 2 }] },
    { fields: [{ field: 'text' }, { field: 'text[]' }] },
    { field: 'text', mode: 'all' },
    { field: 'text', prefix: true },
    { field: 'text', fuzziness: 1 },
  ].map((search) => identity({ ...search, value: 'a' }));
  assert.equal(new Set([before, ...others]).size, others.length + 1);
});

const search = { field: 'text', value: 'a' };

test('search: highlights are of the searched fields or those listed, between <em> and </em> by default', () => {
  const usual = { before: '<em>', after: '</em>', length: null };
  assert.deepEqual(queryOf({ search, highlight: {} }).highlight, { fields: ['text'], ...usual });
  const asked = { fields: ['text[]', 'text', 'text[]'], before: '', after: ']', length: 20 };
  assert.deepEqual(queryOf({ search, highlight: asked }).highlight, { ...asked, fields: ['text[]', 'text'] });
  assert.equal(queryOf({ search, highlight: null }).highlight, null);
  const mark = '😀'.repeat(256);
  assert.equal(
    queryOf({ search, highlight: { before: mark } }).highlight?.before,
    mark,
    'counted in code points',
  );
  assert.equal(queryOf({ highlight: asked }).highlight, null, 'nothing is highlighted without a search');
  assert.deepEqual(queryOf({ search, highlight: { fields: ['other'] } }, open).highlight?.fields, ['other']);
});

test('search: each error in the highlights has its path', () => {
  const cases: [Json, ...RegExp[]][] = [
    [true, /^highlight: must be/],
    [{ fields: 'text' }, /^highlight.fields: must be an array/],
    [{ fields: ['text', 5] }, /^highlight.fields\[1\]: must be a string/],
    [
      { fields: ['nope', 'keyword'] },
      /^highlight.fields\[0\]: the index has no field/,
      /\[1\]: search needs a field/,
    ],
    [{ before: 1 }, /^highlight.before: must be a string/],
    [{ after: 'x'.repeat(257) }, /^highlight.after: has 257 characters/],
    ...[0, -1, 1.5, '20'].map((length): [Json, RegExp] => [
      { length },
      /^highlight.length: must be a whole number/,
    ]),
  ];
  for (const [highlight, ...expected] of cases) {
    const errors = errorsOf({ search, highlight });
    assert.equal(errors.length, expected.length, `${JSON.stringify(highlight)}: ${errors.join('; ')}`);
    for (const [at, pattern] of expected.entries()) assert.match(errors[at] ?? '', pattern);
  }
  assert.equal(errorsOf({ highlight: { length: 0 } }).length, 1, 'without a search too');
});
