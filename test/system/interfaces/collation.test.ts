/** docs/reference/indexes-and-queries.md "Sorting" in the order of a locale, over HTTP, with two workers. */
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
/** Texts that differ behind what a shard sends of a long one. */
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

/** The order as ICU has it, computed here. */
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
    test(`collation: ${tag} ${order} is the order of the locale, page by page, absent values last`, async () => {
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

test('collation: distinct takes the first of each value in the order of the locale', async () => {
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

test('collation: fields without one, filters and facets stay as they are', async () => {
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
