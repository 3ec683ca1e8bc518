/** Sorting by locale (docs/reference/indexes-and-queries.md "Sorting"), over HTTP, with two workers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/contract/json.ts';
import { QueryTenant } from '../support/query-tenant.ts';

const names = [
  'apple',
  'Zebra',
  'Århus',
  'Ærø',
  'Øl',
  'aarhus',
  'Apple',
  'file 10',
  'file 9',
  'cote',
  'côté',
  'coté',
];
/** Strings that only differ after the prefix that a shard sends. */
const long = ['É', 'e', 'E', 'é'].map((letter) => `${'y'.repeat(80)}${letter}`);
const all = [...names, ...long, ...Array.from({ length: 30 }, (_, at) => `${at % 2 ? 'Æ' : 'ö'}${at}`)];
const things: Record<string, JsonObject> = Object.fromEntries(
  all.map((name, at) => [`t${at}`, { da: name, fr: name, plain: name, group: name }]),
);
things.none = { plain: 'no name' };

const tenant = new QueryTenant(
  'collation',
  {
    indexes: {
      things: {
        triggers: { cms: ['thing'] },
        properties: Object.fromEntries(['da', 'fr', 'plain', 'group'].map((name) => [name, `{p.${name}}`])),
        index: {
          fields: {
            da: { type: 'text', collation: 'da' },
            fr: { type: 'keyword', collation: 'fr-CA' },
            plain: { type: 'keyword' },
            group: { type: 'keyword' },
          },
        },
      },
    },
  },
  things,
);

/** The expected order, computed with ICU. */
function expected(tag: string, order: string): string[] {
  const { compare } = new Intl.Collator(tag, { numeric: true });
  const sorted = all.toSorted((a, b) => compare(a, b) || Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return order === 'desc' ? sorted.reverse() : sorted;
}

for (const [field, tag] of [
  ['da', 'da'],
  ['fr', 'fr-CA'],
] as const) {
  for (const order of ['asc', 'desc']) {
    test(`collation: ${tag} ${order} sorts in locale order over all pages, absent values last`, async () => {
      const found: unknown[] = [];
      let nextPageToken: string | null = null;
      do {
        const pagination: JsonObject = { pageSize: 7, nextPageToken };
        const answer = await tenant.good({ sort: [{ field, order }], pagination });
        found.push(...answer.results.map((item: JsonObject) => item[field]));
        nextPageToken = answer.nextPageToken ?? null;
      } while (nextPageToken !== null);
      assert.deepEqual(found, [...expected(tag, order), undefined]);
    });
  }
}

test('collation: distinct returns the first item of each value in locale order', async () => {
  const answer = await tenant.good({
    sort: [{ field: 'da', order: 'desc' }],
    distinct: 'group',
    pagination: { pageSize: 100 },
  });
  assert.deepEqual(
    answer.results.map(({ da }: JsonObject) => da),
    [...expected('da', 'desc'), undefined],
  );
});

test('collation: does not affect other fields and filters', async () => {
  const sort = [{ field: 'plain' }];
  const { results } = await tenant.good({ sort, pagination: { pageSize: 100 } });
  const plain = results.map((item: JsonObject) => item.plain);
  assert.deepEqual(
    plain,
    [...all, 'no name'].toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
  );
  const filters = { and: [{ field: 'da', operator: 'equals', value: 'apple' }] };
  assert.equal((await tenant.good({ filters })).totalResults, 1);
});
