/**
 * docs/reference/indexes-and-queries.md "Search" and "Highlights" line by line, over HTTP: several fields, all words,
 * prefixes, fuzziness and highlights. Two workers answer like one.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { type NaiveSearch, naiveScorer } from '../../search/support/naive-search.ts';
import { until } from '../../support/until.ts';
import type { Answer } from '../support/client.ts';
import { QueryTenant } from '../support/query-tenant.ts';

const things: Readonly<Record<string, JsonObject>> = {
  a: { title: 'Red house', body: 'A green garden', sold: 9000 },
  b: { title: 'Green house', body: 'red', tags: ['housing', 'red brick'], made: '2026-02-28' },
  c: { title: 'Housekeeper', body: 'hause' },
  d: { title: 'Garden', body: 'greenhouse' },
  e: { title: 'house' },
};

const index = {
  triggers: { cms: ['thing'] },
  properties: {
    title: '{p.title}',
    body: '{p.body}',
    tags: { '*': 'p.tags' },
    sold: { '*': 'p.sold' },
    made: { '*': 'p.made' },
  },
  index: {
    fields: {
      title: { type: 'text' },
      body: { type: 'text' },
      tags: { type: 'text[]' },
      sold: { type: 'integer' },
      made: { type: 'date' },
    },
  },
};
const tenant = new QueryTenant('search', { indexes: { things: index } }, things);
const ask = (body: Json): Promise<Answer['json']> => tenant.good(body);

const items = Object.entries(things).map(([originId, fields]) => {
  return { partition: 0, sourceId: 's', originId, updatedAtMs: 0, fields };
});

/** originIds of the results of a search, in order. Results and scores must equal those of a scan of all items. */
async function found(search: JsonObject): Promise<string> {
  const { totalResults, results } = await ask({ search });
  assert.equal(totalResults, results.length);
  const scoreOf = naiveScorer(search as unknown as NaiveSearch, items);
  const scored = items.flatMap(({ originId }, at) => {
    const score = scoreOf(items[at] ?? assert.fail());
    return score === null ? [] : [[originId, score] as const];
  });
  scored.sort(([idA, a], [idB, b]) => b - a || (idA < idB ? -1 : 1));
  assert.deepEqual(
    results.map(({ _originId, _score }: JsonObject) => [_originId, _score]),
    scored,
    JSON.stringify(search),
  );
  return scored.map(([id]) => id).join(' ');
}

const literal = { literal: true };

test('search: with several fields, a document matches by any; the weight of a field counts', async () => {
  const fields = [{ field: 'title', weight: 2 }, { field: 'body' }];
  assert.equal(await found({ fields, value: 'green house', ...literal }), 'b a e');
  const single = { fields: [{ field: 'title' }], value: 'green hause' };
  assert.deepEqual(await found(single), await found({ field: 'title', value: 'green hause' }));
  const three = [{ field: 'tags', weight: 0.5 }, { field: 'body' }, { field: 'title', weight: 100 }];
  assert.equal(await found({ fields: three, value: 'red', ...literal }), 'a b');
});

test('search: with mode all, each word matches, in any of the fields', async () => {
  const fields = [{ field: 'title' }, { field: 'body' }];
  assert.equal(await found({ fields, value: 'green red house', mode: 'all', ...literal }), 'b a');
  assert.equal(await found({ field: 'title', value: 'green house', mode: 'all', ...literal }), 'b');
  assert.equal(await found({ field: 'title', value: 'gren hause', mode: 'all' }), 'b');
  assert.equal(await found({ fields, value: 'green nowhere', mode: 'all' }), '');
});

test('search: with prefix, the last word also matches as a prefix; whole words rank first, typos last', async () => {
  assert.equal(await found({ field: 'title', value: 'house', prefix: true, ...literal }), 'e a b c');
  assert.equal(await found({ field: 'title', value: 'huose', prefix: true }), 'e a b c');
  assert.equal(await found({ field: 'title', value: 'hou', prefix: true }), 'c e a b');
  const typed = {
    fields: [{ field: 'title' }, { field: 'body' }],
    value: 'garden gre',
    mode: 'all',
    prefix: true,
    ...literal,
  };
  assert.equal(await found(typed), 'd a');
  assert.equal(
    await found({ field: 'title', value: 'hou', ...literal }),
    '',
    'without prefix, only whole words',
  );
});

test('search: fuzziness replaces the default for the length', async () => {
  assert.equal(await found({ field: 'body', value: 'hause', fuzziness: 0 }), 'c');
  assert.deepEqual(
    await found({ field: 'title', value: 'hous', fuzziness: 2 }),
    await found({ field: 'title', value: 'hous' }),
  );
  assert.equal(await found({ field: 'title', value: 'haus', fuzziness: 0 }), '');
  assert.equal(await found({ field: 'title', value: 'haus', fuzziness: 2 }), 'e a b');
});

test('search: operators match phrases, and exclude words', async () => {
  const fields = [{ field: 'title' }, { field: 'body' }, { field: 'tags' }];
  const operators = true;
  assert.equal(await found({ fields, value: '"green garden"', operators }), 'a');
  assert.equal(await found({ fields, value: '"garden green"', operators }), '');
  assert.equal(await found({ fields, value: '"red house" garden', operators }), 'a');
  assert.equal(await found({ fields, value: 'house -red', operators }), 'e c');
  assert.equal(await found({ fields, value: 'house -"red brick"', operators }), 'e a c');
  assert.equal(await found({ fields, value: '-red', operators }), 'c d e');
  assert.equal(await found({ fields, value: 'house-red', operators, ...literal }), 'b a e');
  const shown = await ask({
    search: { fields, value: '"red house" green', operators },
    highlight: {},
  });
  assert.deepEqual(shown.results[0]._highlights, {
    title: '<em>Red</em> <em>house</em>',
    body: 'A <em>green</em> garden',
  });
});

test('search: boost raises the score by a number or a date, and a token keeps the time of its first page', async () => {
  const search = { field: 'title', value: 'house', ...literal };
  const boost = [{ field: 'sold', weight: 2 }];
  assert.equal(await found({ ...search, boost }), 'a e b');
  const made = { field: 'made', weight: 5, halfLife: 10 };
  assert.equal(await found({ ...search, boost: [{ ...made, origin: '2026-03-01' }] }), 'b e a');
  const now = { ...search, boost: [made] };
  const first = await ask({ search: now });
  const scoresOf = ({ results }: Answer['json']) => results.map(({ _score }: JsonObject) => _score);
  // A millisecond may be too short to change a score of 53 bits.
  const untilOthers = (known: Json[]) =>
    until('no cached answer depends on the time', async () => {
      return !isDeepStrictEqual(scoresOf(await ask({ search: now })), known);
    });
  await untilOthers(scoresOf(first));
  const all: string[] = [];
  for (let token: string | null = ''; token !== null; ) {
    const pagination: JsonObject = token === '' ? { pageSize: 1 } : { pageSize: 1, nextPageToken: token };
    const page: Answer['json'] = await ask({ search: now, pagination });
    all.push(...page.results.map(({ _originId }: JsonObject) => _originId));
    token = page.nextPageToken;
  }
  assert.deepEqual(
    all,
    first.results.map(({ _originId }: JsonObject) => _originId),
  );
  const { nextPageToken } = await ask({ search: now, pagination: { pageSize: 1 } });
  const second = { search: now, pagination: { pageSize: 1, nextPageToken } };
  const scores = scoresOf(await ask(second));
  await untilOthers(scoresOf(await ask({ search: now })));
  assert.deepEqual(scoresOf(await ask(second)), scores);
});

test('search: highlights contain every matching word, complete, of the searched fields or those listed', async () => {
  const shown = async (body: JsonObject) => {
    const { results } = await ask({ sort: [{ field: '_originId' }], ...body });
    return Object.fromEntries(results.map((row: JsonObject) => [row._originId, row._highlights]));
  };
  const search = { fields: [{ field: 'title' }, { field: 'tags' }], value: 'red hous', prefix: true };
  assert.deepEqual(await shown({ search, highlight: {} }), {
    a: { title: '<em>Red</em> <em>house</em>' },
    b: { title: 'Green <em>house</em>', tags: ['<em>housing</em>', '<em>red</em> brick'] },
    c: { title: '<em>Housekeeper</em>' },
    e: { title: '<em>house</em>' },
  });
  const named = { fields: ['body'], before: '[', after: ']', length: 8 };
  assert.deepEqual(
    await shown({ search: { field: 'title', value: 'garden', ...literal }, highlight: named }),
    { d: {} },
  );
  const green = { field: 'body', value: 'garden green', ...literal };
  assert.deepEqual(await shown({ search: green, highlight: { ...named, length: 9 } }), {
    a: { body: '…[green]…' },
  });
  assert.deepEqual(await shown({ highlight: {} }), {
    a: undefined,
    b: undefined,
    c: undefined,
    d: undefined,
    e: undefined,
  });
  const later = { pagination: { page: 1, pageSize: 2 }, fields: ['body'], highlight: {}, search };
  const { results } = await ask({ sort: [{ field: '_originId' }], ...later });
  assert.deepEqual(
    results.map(({ _originId, _highlights, body, title }: JsonObject) => [
      _originId,
      _highlights,
      body,
      title,
    ]),
    [
      ['c', { title: '<em>Housekeeper</em>' }, 'hause', undefined],
      ['e', { title: '<em>house</em>' }, undefined, undefined],
    ],
  );
});

test('search: a token is bound to mode, prefix, fuzziness and fields', async () => {
  const search = { field: 'title', value: 'house', mode: 'all', prefix: true, fuzziness: 1 };
  const pagination = { pageSize: 1 };
  const { nextPageToken } = await ask({ search, pagination });
  const next = { pagination: { ...pagination, nextPageToken } };
  assert.equal((await ask({ search, ...next })).results.length, 1);
  const others = [
    { mode: 'any' },
    { prefix: false },
    { fuzziness: 0 },
    { field: null, fields: [{ field: 'body' }] },
  ];
  for (const other of others) {
    const body = { search: { ...search, ...other }, ...next };
    const { status, json } = await tenant.ask(body as Json);
    assert.equal(status, 400);
    assert.deepEqual(json.errors, ['Invalid nextPageToken']);
  }
});

test('search: all errors are reported in one list', async () => {
  const search = { field: 'title', fields: [], mode: 'most', prefix: 'yes', fuzziness: 3 };
  const { status, json } = await tenant.ask({ search });
  assert.equal(status, 400);
  assert.deepEqual(
    json.errors.map((error: string) => error.split(':')[0]),
    ['search.mode', 'search.prefix', 'search.fuzziness', 'search.value', 'search'],
  );
});
