/** The scripts of the recipes convert the data of other systems to entities. */
import assert from 'node:assert/strict';
import { createReadStream, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { run, temporaryFolder } from '../cli/support/command.ts';
import { blocksOf, root, textOf } from './support/markdown.ts';

const scripts = new Map(
  blocksOf(textOf('docs/guide/import-recipes.md'))
    .filter(({ language }) => language === 'js')
    .map(({ text }) => [/^\/\/ ([\w.]+):/.exec(text)?.[1] ?? '', text]),
);

/** The entities that a script writes. @param input name of the file for its standard input */
async function entitiesOf(
  context: test.TestContext,
  script: string,
  words: readonly string[],
  files: Readonly<Record<string, string>> = {},
  input?: string,
): Promise<unknown[]> {
  const folder = await temporaryFolder(context);
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  for (const [name, text] of Object.entries({ ...files, [script]: scripts.get(script) ?? '' })) {
    writeFileSync(path.join(folder, name), text);
  }
  const stdin = input === undefined ? {} : { stdin: createReadStream(path.join(folder, input)) };
  const { code, stdout, stderr } = await run(process.execPath, [script, ...words], { cwd: folder, ...stdin });
  assert.deepEqual([code, stderr], [0, '']);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Serves answers by path and query. @returns the address of the server */
async function serve(
  context: test.TestContext,
  answers: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const server = createServer((request, response) => {
    const body = answers[request.url ?? ''];
    response.writeHead(body === undefined ? 404 : 200, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('import recipes: WordPress posts of all pages', async (context) => {
  const post = (id: number, more: object = {}) => ({
    id,
    link: `https://blog.example.com/2026/post-${id}/`,
    date_gmt: '2026-01-02T03:04:05',
    title: { rendered: 'Rock &amp; roll' },
    content: { rendered: '<p>Loud.</p>' },
    categories: [3],
    ...more,
  });
  const embedded = {
    author: [{ name: 'Ada' }],
    'wp:featuredmedia': [{ source_url: 'https://x.example/a.jpg' }],
  };
  const at = (page: number) =>
    `/wp-json/wp/v2/posts?per_page=100&page=${page}&_embed=author,wp:featuredmedia`;
  const pages = {
    [at(1)]: JSON.stringify([post(7, { _embedded: embedded })]),
    [at(2)]: JSON.stringify([post(8)]),
  };
  const site = await serve(context, pages, { 'X-WP-TotalPages': '2' });
  const entity = (id: number, author: string | null, image: string | null) => ({
    originId: `post-${id}`,
    type: 'post',
    url: `/2026/post-${id}/`,
    properties: {
      title: 'Rock &amp; roll',
      html: '<p>Loud.</p>',
      published: '2026-01-02T03:04:05Z',
      author,
      image,
      categories: ['category-3'],
    },
  });
  assert.deepEqual(await entitiesOf(context, 'wordpress.mjs', [site]), [
    entity(7, 'Ada', 'https://x.example/a.jpg'),
    entity(8, null, null),
  ]);
});

test('import recipes: published Contentful entries in one language', async (context) => {
  const author = { sys: { type: 'Link', linkType: 'Entry', id: 'ada' } };
  const contentType = { sys: { id: 'article' } };
  const exported = {
    entries: [
      {
        sys: { id: 'a1', publishedVersion: 4, contentType },
        fields: {
          title: { 'en-US': 'Rain', de: 'Regen' },
          slug: { 'en-US': 'rain' },
          author: { 'en-US': author },
        },
      },
      { sys: { id: 'a2', publishedVersion: 1, contentType }, fields: { title: { de: 'Nur deutsch' } } },
      { sys: { id: 'a3', contentType }, fields: { title: { 'en-US': 'Draft' } } },
    ],
  };
  const files = { 'export.json': JSON.stringify(exported) };
  assert.deepEqual(await entitiesOf(context, 'contentful.mjs', ['export.json'], files), [
    {
      originId: 'a1',
      type: 'article',
      url: '/article/rain',
      properties: { title: 'Rain', slug: 'rain', author },
    },
    { originId: 'a2', type: 'article', url: null, properties: {} },
  ]);
});

test('import recipes: Sanity documents without drafts', async (context) => {
  const documents = [
    { _id: 'a1', _type: 'article', title: 'Rain', slug: { current: 'rain' }, author: { _ref: 'ada' } },
    { _id: 'drafts.a1', _type: 'article', title: 'Rain, new' },
    { _id: 'image-1', _type: 'sanity.imageAsset', url: 'https://cdn.example/1.jpg' },
    { _id: 'ada', _type: 'author', name: 'Ada' },
  ];
  const files = { 'data.ndjson': documents.map((one) => `${JSON.stringify(one)}\n`).join('') };
  assert.deepEqual(await entitiesOf(context, 'sanity.mjs', [], files, 'data.ndjson'), [
    {
      originId: 'a1',
      type: 'article',
      url: '/article/rain',
      properties: { title: 'Rain', slug: { current: 'rain' }, author: { _ref: 'ada' } },
    },
    { originId: 'ada', type: 'author', url: null, properties: { name: 'Ada' } },
  ]);
});

test('import recipes: items of RSS and Atom feeds', async (context) => {
  const rss = `<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>
<item><title>1984</title><link>https://news.example.com/a</link><guid isPermaLink="false">17</guid>
<pubDate>Fri, 02 Jan 2026 03:04:05 GMT</pubDate><description><![CDATA[<p>Text</p>]]></description></item>
<item><title>Rock &amp; roll</title><link>https://news.example.com/b?x=1</link></item></channel></rss>`;
  const atom = `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><entry><id>urn:1</id>
<title>Rain</title><link href="https://news.example.com/c"/><updated>2026-01-02T03:04:05Z</updated>
<content type="html">&lt;p&gt;Wet&lt;/p&gt;</content></entry></feed>`;
  const origin = await serve(context, { '/rss.xml': rss, '/atom.xml': atom });
  const entity = (originId: string, path: string, title: string, html: string | null) => ({
    originId,
    type: 'news',
    url: path.split('?')[0],
    properties: {
      title,
      html,
      published: html === null ? null : '2026-01-02T03:04:05.000Z',
      link: `https://news.example.com${path}`,
    },
  });
  assert.deepEqual(await entitiesOf(context, 'feed.mjs', [`${origin}/rss.xml`]), [
    entity('17', '/a', '1984', '<p>Text</p>'),
    entity('https://news.example.com/b?x=1', '/b?x=1', 'Rock & roll', null),
  ]);
  assert.deepEqual(await entitiesOf(context, 'feed.mjs', [`${origin}/atom.xml`]), [
    entity('urn:1', '/c', 'Rain', '<p>Wet</p>'),
  ]);
});
