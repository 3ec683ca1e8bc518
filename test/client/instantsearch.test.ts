/**
 * The search client of InstantSearch.js with a platform and some cities: its responses to requests, and the page of
 * docs/guide/search-page.md in a real browser. It needs processes because it tests the answers of fronts and workers.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import type instantsearch from 'instantsearch.js';
import {
  createSearchClient,
  type SearchClient,
  type SearchParameters,
} from '../../src/client/instantsearch.ts';
import type { Json } from '../../src/contract/json.ts';
import { blocksOf, textOf } from '../docs/support/markdown.ts';
import { openBrowser, servePage } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { atlasFiles } from '../system/support/data/atlas.ts';
import { untilVisible } from '../system/support/ledger.ts';
import { sharedPlatform } from '../system/support/processes/shared-platform.ts';
import type { System } from '../system/support/processes/system.ts';

const key = 'environment-atlas-demo';
const continents = ['Europe', 'Asia', 'Africa'];
const cities = Array.from({ length: 60 }, (_, at) => ({
  originId: `city-${String(at).padStart(2, '0')}`,
  type: 'city',
  url: `/city-${at}`,
  properties: {
    name: at === 0 ? 'Lyon <b>' : `Townville ${at}`,
    alternateNames: at === 0 ? ['Lugdunum', 'Lione'] : [],
    countryName: at % 2 === 0 ? 'Even' : '-Odd',
    continentName: continents[at % 3],
    population: at * 1000,
  },
}));

let system: System;
let client: SearchClient;

before(async () => {
  system = await sharedPlatform(atlasFiles());
  const http = system.client();
  for (const part of [cities.slice(0, 30), cities.slice(30)]) {
    const body = JSON.parse(JSON.stringify(part)) as Json;
    const saved = await http.post('/ingest/v2', body, { key: 'source-atlas-demo' });
    assert.equal(saved.status, 200, saved.text);
    await untilVisible(http, key, [String(saved.headers['x-service-version'])]);
  }
  client = createSearchClient({
    url: system.url(),
    key,
    indexes: {
      largest: { index: 'cities', sort: [{ field: 'population', order: 'desc' }] },
      'by-name': { index: 'cities', fields: ['name'] },
    },
  }) satisfies Parameters<typeof instantsearch>[0]['searchClient'];
});

async function one(params: SearchParameters, indexName = 'cities') {
  const { results } = await client.search([{ indexName, params }]);
  assert.equal(results.length, 1);
  const [result] = results;
  assert.ok(result);
  return result;
}

const idsOf = ({ hits }: { readonly hits: readonly { readonly objectID: string }[] }) =>
  hits.map(({ objectID }) => objectID);

test('instantsearch: pages have hits with objectID, totals, and no page beyond the reachable hits', async () => {
  const first = await one({ hitsPerPage: 25, page: 0 }, 'largest');
  assert.deepEqual(
    [first.nbHits, first.nbPages, first.page, first.hitsPerPage, first.index],
    [60, 3, 0, 25, 'largest'],
  );
  const expected = cities.map(({ originId }) => originId).reverse();
  assert.deepEqual(idsOf(first), expected.slice(0, 25));
  assert.deepEqual(idsOf(await one({ hitsPerPage: 25, page: 2 }, 'largest')), expected.slice(50));
  const beyond = await one({ hitsPerPage: 25, page: 400 });
  assert.deepEqual([beyond.hits, beyond.nbHits, beyond.nbPages], [[], 60, 3]);
  const none = await one({ hitsPerPage: 0 });
  assert.deepEqual([none.hits, none.nbHits, none.nbPages], [[], 60, 0]);
  assert.equal((await one({})).hitsPerPage, 20);
  assert.equal(first.hits[0]?.name, 'Townville 59');
});

test('instantsearch: a replica name is an index with its own sort and fields', async () => {
  const [best, largest] = (
    await client.search([
      { indexName: 'cities', params: { query: 'townville 5', hitsPerPage: 3 } },
      { indexName: 'largest', params: { query: 'townville 5', hitsPerPage: 3 } },
    ])
  ).results;
  assert.equal(best?.hits[0]?.objectID, 'city-05');
  assert.equal(largest?.hits[0]?.objectID, 'city-59');
  assert.equal(best?.nbHits, largest?.nbHits);
  assert.deepEqual(idsOf(await one({ query: 'lugdunum' })), ['city-00'], 'every text field is searched');
  assert.deepEqual(idsOf(await one({ query: 'lugdunum' }, 'by-name')), []);
  await assert.rejects(one({}, 'nowhere'), { status: 404 });
});

test('instantsearch: a search matches every word, the last one as a prefix, and strings of any length', async () => {
  assert.deepEqual(idsOf(await one({ query: 'lyo' })), ['city-00']);
  assert.deepEqual(idsOf(await one({ query: 'townville lyon' })), []);
  assert.equal((await one({ query: ' ' })).nbHits, 60);
  assert.equal((await one({ query: 'x'.repeat(1000) })).nbHits, 0);
});

test('instantsearch: every string has a highlight, escaped as the marks require', async () => {
  const [hit] = (await one({ query: 'lyon' })).hits;
  assert.deepEqual(hit?._highlightResult.name, {
    value: '<em>Lyon</em> &lt;b&gt;',
    matchLevel: 'full',
    matchedWords: ['lyon'],
  });
  assert.deepEqual(hit?._highlightResult.country, { value: 'Even', matchLevel: 'none', matchedWords: [] });
  assert.ok(!('population' in (hit?._highlightResult ?? {})));
  const tags = { highlightPreTag: '__a__', highlightPostTag: '__/a__' };
  const [found] = (await one({ query: 'lugd', ...tags })).hits;
  assert.deepEqual(found?._highlightResult.names, [
    { value: '__a__Lugdunum__/a__', matchLevel: 'full', matchedWords: ['lugdunum'] },
    { value: 'Lione', matchLevel: 'none', matchedWords: [] },
  ]);
  assert.deepEqual(found?._highlightResult.name, { value: 'Lyon <b>', matchLevel: 'none', matchedWords: [] });
  const [plain] = (await one({ query: '', facetFilters: ['country:Even'] }, 'largest')).hits;
  assert.deepEqual(plain?._highlightResult.country, { value: 'Even', matchLevel: 'none', matchedWords: [] });
});

test('instantsearch: facets ignore their own selections and apply all others', async () => {
  const facets = ['continent', 'country', 'isCapital'];
  const all = { Africa: 20, Asia: 20, Europe: 20 };
  assert.deepEqual((await one({ facets })).facets, {
    continent: all,
    country: { '-Odd': 30, Even: 30 },
    isCapital: { false: 60 },
  });
  for (const facetFilters of [[['continent:Europe', 'continent:Asia']], [['continent:-Africa']]]) {
    const chosen = await one({ facets, facetFilters });
    assert.deepEqual([chosen.nbHits, chosen.facets.continent], [40, all]);
    assert.deepEqual(chosen.facets.country, { '-Odd': 20, Even: 20 });
  }
  // A required filter restricts its own facet as well.
  const must = await one({ facets, facetFilters: ['continent:Europe', 'country:\\-Odd', 'isCapital:false'] });
  assert.deepEqual([must.nbHits, must.facets.continent], [10, { Europe: 10 }]);
  assert.equal((await one({ facetFilters: 'country:-Even' })).nbHits, 30);
  assert.deepEqual((await one({ facets: 'continent', maxValuesPerFacet: 1 })).facets.continent, {
    Africa: 20,
  });
  assert.deepEqual((await one({ facets: ['*', 'no-such-field'] })).facets, {});
});

test('instantsearch: numeric refinements are comparisons, ranges, selections, and the bounds of a range', async () => {
  const counts: readonly (readonly [NonNullable<SearchParameters['numericFilters']>, number])[] = [
    [['population>=58000'], 2],
    [['population > 58000'], 1],
    ['population<=1000', 2],
    [['population<1000'], 1],
    [['population!=0'], 59],
    [['population=5000'], 1],
    [['population:5000 TO 7000'], 3],
    [['population>=1000', 'population<=2000'], 2],
    [[['population=1000', 'population=2000', 'population=3000']], 3],
    [['population>=-5'], 60],
  ];
  for (const [numericFilters, count] of counts) {
    assert.equal((await one({ numericFilters })).nbHits, count, `${numericFilters}`);
  }
  const ends = { min: 0, max: 59_000, avg: 29_500, sum: 1_770_000 };
  // The first time the client does not know yet that the field is numeric.
  const fresh = createSearchClient({ url: system.url(), key });
  for (const _ of [1, 2]) {
    const params = { facets: ['population', 'continent'], numericFilters: ['population>=50000'] };
    const [result] = (await fresh.search([{ indexName: 'cities', params }])).results;
    assert.deepEqual([result?.nbHits, result?.facets_stats], [10, { population: ends }]);
    assert.equal(result?.facets.continent?.Europe, 3);
  }
  const filtered = await one({ facets: ['population'], facetFilters: [['country:Even']] });
  assert.deepEqual(
    [filtered.facets_stats.population?.min, filtered.facets_stats.population?.max],
    [0, 58_000],
  );
});

test('instantsearch: unsupported parameters are errors', async () => {
  for (const params of [
    { filters: 'country:Even' },
    { insideBoundingBox: [[1, 2, 3, 4]] },
    { facetFilters: ['Even'] },
    { numericFilters: ['population'] },
    { numericFilters: [['population:1 TO 2', 'population=5']] },
  ]) {
    await assert.rejects(one(params), TypeError, JSON.stringify(params));
  }
  await assert.rejects(one({ facetFilters: ['no-such-field:x'] }), { status: 400 });
});

test('instantsearch: many requests are answered in order', async () => {
  const requests = cities.slice(0, 12).map(({ originId }, at) => ({
    indexName: 'cities',
    params: { numericFilters: [`population=${at * 1000}`], query: '', analytics: false, tag: originId },
  }));
  const { results } = await client.search(requests);
  assert.deepEqual(
    results.map((result) => idsOf(result)),
    cities.slice(0, 12).map(({ originId }) => [originId]),
  );
  assert.deepEqual(await client.search([]), { results: [] });
});

/** The page of the guide, with its script bundled. */
async function guidePage(): Promise<string> {
  const page =
    blocksOf(textOf('docs/guide/search-page.md')).find(({ language }) => language === 'html')?.text ?? '';
  const [, before = '', script = ''] = /^([\s\S]*<script type="module">)([\s\S]*)<\/script>/.exec(page) ?? [];
  assert.ok(script.includes("'http://127.0.0.1:4000'"));
  const { outputFiles } = await build({
    stdin: {
      contents: script.replace('http://127.0.0.1:4000', system.url()),
      resolveDir: import.meta.dirname,
    },
    alias: {
      'millrace/instantsearch': './src/client/instantsearch.ts',
      // Otherwise the template library would use the console's Preact, which has another version.
      preact: './node_modules/instantsearch.js/node_modules/preact',
    },
    define: { 'process.env.NODE_ENV': '"production"' },
    bundle: true,
    minify: true,
    format: 'esm',
    write: false,
    platform: 'browser',
  });
  return `${before}${outputFiles[0]?.text.replaceAll('</script', '<\\/script')}</script>`;
}

test('instantsearch: the page of the guide works in a browser, on its own origin', async (context) => {
  const [browser, served] = await Promise.all([openBrowser(), guidePage().then(servePage)]);
  context.after(() => Promise.all([browser.close(), served.close()]));
  const page = await browser.newPage();
  const wrong: string[] = [];
  page.on('pageerror', (error) => wrong.push(error.message));
  await page.goto(served.origin);
  const shows = (what: string, selector: string, text: RegExp) =>
    until(what, async () => text.test((await page.locator(selector).allInnerTexts()).join('|')), 30_000);
  const firstHit = '.ais-Hits-item:first-child';
  await shows('all cities', '#stats', /60 results/);
  await shows('the continents', '#continent', /Africa\s*20[\s\S]*Asia\s*20[\s\S]*Europe\s*20/);
  assert.equal(await page.locator('.ais-Hits-item').count(), 20);

  await page.locator('#box input').fill('lyo');
  await shows('a city by a beginning', firstHit, /^Lyon <b>, Even: 0$/);
  assert.equal(await page.locator(`${firstHit} mark`).textContent(), 'Lyon');

  await page.locator('#box input').fill('');
  await page.locator('#continent label', { hasText: 'Europe' }).click();
  await shows('the cities of a continent', '#stats', /20 results/);
  await shows('the other continents still', '#continent', /Africa\s*20/);

  await page.locator('#sort select').selectOption('largest');
  await shows('the largest first', firstHit, /Townville 57/);

  await page.locator('#population input').first().fill('30000');
  await page.locator('#population button').click();
  await shows('large cities', '#stats', /10 results/);
  assert.equal(await page.locator('#population input').first().getAttribute('min'), '0');

  await page.locator('#continent label', { hasText: 'Europe' }).click();
  await shows('of all continents', '#stats', /30 results/);
  await page.locator('#pages a', { hasText: '2' }).click();
  await shows('the next page', firstHit, /Townville 39/);
  assert.deepEqual(wrong, []);
});

test('instantsearch: the bundle, including any dependency, is below 6 kB', async () => {
  const { outputFiles } = await build({
    entryPoints: ['src/client/instantsearch.ts'],
    bundle: true,
    format: 'esm',
    write: false,
    platform: 'browser',
  });
  const bytes = gzipSync(outputFiles[0]?.contents ?? new Uint8Array()).length;
  assert.ok(bytes > 0 && bytes < 6_000, `${bytes} bytes`);
});
