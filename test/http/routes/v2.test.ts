/** docs/reference/http.md "Listing routes": the index of a sitemap, with small files. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Sitemap } from '../../../src/http/routes/v2.ts';
import { startFront, type TestFront } from '../support/front.ts';
import { putClaim } from '../support/seed.ts';
import { environmentId } from '../support/site.ts';

const base = 'https://www.example.com';
const site = { origin: base, excludesOtherHosts: true };
let front: TestFront;
before(async () => {
  front = await startFront();
  for (let at = 0; at < 12; at += 1) await putClaim(front.store, `page-${at}`, { url: `/p${10 + at}` });
  await putClaim(front.store, 'old', { url: '/p12-old', redirect: '/p12' });
});
after(() => front.stop());

const scope = { tenant: 'one', environmentId, urlForms: ['exact'] } as const;
const locsIn = (body: string) => [...body.matchAll(/<loc>([^<]*)<\/loc>/g)].map(([, loc = '']) => loc);

async function bodyOf(sitemap: Sitemap, token = ''): Promise<string> {
  const { status, body } = await sitemap.answer(token);
  assert.equal(status, 200);
  return String(body);
}

test('routes v2: a sitemap with more URLs than fit in a file is an index, whose files have each page once', async () => {
  const sitemap = new Sitemap(front.store, scope, site, { urlsMax: 7, rangeUrls: 5 });
  const index = await bodyOf(sitemap);
  assert.match(index, /<sitemapindex /);
  const tokens = locsIn(index).map((loc) => new URL(loc).searchParams.get('continuationToken') ?? '');
  assert.equal(tokens.length, 3);
  // A page that is added meanwhile moves none of the others.
  await putClaim(front.store, 'new', { url: '/p11-new' });
  const files = await Promise.all(tokens.map((token) => bodyOf(sitemap, token)));
  for (const file of files) assert.ok(locsIn(file).length <= 7);
  const expected = Array.from({ length: 12 }, (_, at) => `${base}/p${10 + at}`);
  assert.deepEqual(files.flatMap(locsIn), [...expected, `${base}/p11-new`].sort());
  await assert.rejects(sitemap.answer(`${tokens[0]}x`), /Invalid continuation token/);
});

test('routes v2: a sitemap that fits in one file is one', async () => {
  const body = await bodyOf(new Sitemap(front.store, scope, site, { urlsMax: 14, rangeUrls: 5 }));
  assert.match(body, /<urlset /);
  assert.equal(locsIn(body).length, 13);
});

test('routes v2: a sitemap keeps the path of a page and percent-encodes what URLs cannot contain', async () => {
  const pages = {
    '/s/back\\slash': '/s/back%5Cslash',
    '/s/blank ': '/s/blank%20',
    '/s/dots/../up': '/s/dots/../up',
    '/s/signs|^[]{}"<>`': '/s/signs%7C%5E%5B%5D%7B%7D%22%3C%3E%60',
    '/s/tab\tand\nline': '/s/tab%09and%0Aline',
    '/s/written%c3%a9': '/s/written%c3%a9',
    "/s/é%2F%/?q=a|b&c='": '/s/%C3%A9%2F%25/?q=a%7Cb&amp;c=&apos;',
    'https://WWW.example.com?q= ': '/?q=%20',
    'http://user@www.example.com:80/s/user': '/s/user',
  };
  for (const url of Object.keys(pages)) await putClaim(front.store, `at ${url}`, { url });
  const locs = locsIn(await bodyOf(new Sitemap(front.store, scope, site)));
  for (const path of Object.values(pages)) {
    const origin = path === '/s/user' ? 'http://www.example.com' : base;
    assert.ok(locs.includes(origin + path), path);
  }
});
