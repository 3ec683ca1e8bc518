/**
 * docs/reference/indexes-and-queries.md "Search" and "Highlights" line by line, over HTTP: several fields, all words,
 * beginnings, fuzziness and highlights. The answers of two workers are those of one.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import type { Answer } from '../support/client.ts';
import { QueryTenant } from '../support/query-tenant.ts';

const things: Readonly<Record<string, JsonObject>> = {
  a: { title: 'Red house', body: 'A green garden' },
  b: { title: 'Green house', body: 'red', tags: ['housing', 'red brick'] },
  c: { title: 'Housekeeper', body: 'hause' },
  d: { title: 'Garden', body: 'greenhouse' },
  e: { title: 'house' },
};

const index = {
  triggers: { cms: ['thing'] },
  properties: { title: '{p.title}', body: '{p.body}', tags: { '*': 'p.tags' } },
  index: { fields: { title: { type: 'text' }, body: { type: 'text' }, tags: { type: 'text[]' } } },
};
const tenant = new QueryTenant('search', { indexes: { things: index } }, things);
const ask = (body: Json): Promise<Answer['json']> => tenant.good(body);

/** originId and score of what a search finds, in order. */
async function found(search: JsonObject): Promise<[string, number][]> {
  const { totalResults, results } = await ask({ search });
  assert.equal(totalResults, results.length);
  return results.map(({ _originId, _score }: JsonObject) => [_originId, _score]);
}

const literal = { literal: true };

test('several fields: a document matches by any; the score adds what each gives times its weight', async () => {
  const fields = [{ field: 'title', weight: 2 }, { field: 'body' }];
  assert.deepEqual(await found({ fields, value: 'green house', ...literal }), [
    ['b', 4],
    ['a', 3],
    ['e', 2],
  ]);
  const single = { fields: [{ field: 'title' }], value: 'green hause' };
  assert.deepEqual(await found(single), await found({ field: 'title', value: 'green hause' }));
  const three = [{ field: 'tags', weight: 0.5 }, { field: 'body' }, { field: 'title', weight: 100 }];
  assert.deepEqual(await found({ fields: three, value: 'red', ...literal }), [
    ['a', 100],
    ['b', 1.5],
  ]);
});

test('mode all: each word matches, in whichever of the fields', async () => {
  const fields = [{ field: 'title' }, { field: 'body' }];
  const ids = async (search: JsonObject) => (await found(search)).map(([id]) => id);
  assert.deepEqual(await ids({ fields, value: 'green red house', mode: 'all', ...literal }), ['a', 'b']);
  assert.deepEqual(await ids({ field: 'title', value: 'green house', mode: 'all', ...literal }), ['b']);
  assert.deepEqual(await ids({ field: 'title', value: 'gren hause', mode: 'all' }), ['b']);
  assert.deepEqual(await ids({ fields, value: 'green nowhere', mode: 'all' }), []);
});

test('prefix: the last word also matches what begins with it; whole words first, then by distance', async () => {
  assert.deepEqual(await found({ field: 'title', value: 'house', prefix: true, ...literal }), [
    ['a', 1],
    ['b', 1],
    ['e', 1],
    ['c', 1 / 4],
  ]);
  assert.deepEqual(await found({ field: 'title', value: 'huose', prefix: true }), [
    ['a', 1 / 2],
    ['b', 1 / 2],
    ['e', 1 / 2],
    ['c', 1 / 5],
  ]);
  const typed = {
    fields: [{ field: 'title' }, { field: 'body' }],
    value: 'garden gre',
    mode: 'all',
    prefix: true,
    ...literal,
  };
  assert.deepEqual((await found(typed)).map(([id]) => id).sort(), ['a', 'd']);
  assert.deepEqual(
    await found({ field: 'title', value: 'hou', ...literal }),
    [],
    'without prefix, whole words alone',
  );
});

test('fuzziness takes the place of what the length allows', async () => {
  assert.deepEqual(await found({ field: 'body', value: 'hause', fuzziness: 0 }), [['c', 1]]);
  assert.deepEqual(
    await found({ field: 'title', value: 'hous', fuzziness: 2 }),
    await found({ field: 'title', value: 'hous' }),
  );
  assert.deepEqual(await found({ field: 'title', value: 'haus', fuzziness: 0 }), []);
  assert.equal((await found({ field: 'title', value: 'haus', fuzziness: 2 })).length, 3);
});

test('highlights: every matching word, whole, of the searched fields or those named', async () => {
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

test('a token is bound to each of them', async () => {
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

test('each mistake is told in one list', async () => {
  const search = { field: 'title', fields: [], mode: 'most', prefix: 'yes', fuzziness: 3 };
  const { status, json } = await tenant.ask({ search });
  assert.equal(status, 400);
  assert.deepEqual(
    json.errors.map((error: string) => error.split(':')[0]),
    ['search', 'search.value', 'search.mode', 'search.prefix', 'search.fuzziness'],
  );
});
