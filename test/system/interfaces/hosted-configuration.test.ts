/** A configuration as a hosted service has it: its folders, file names and JSON schemas. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import type { Client } from '../support/client.ts';
import { sharedPlatform } from '../support/processes/shared-platform.ts';
import type { System } from '../support/processes/system.ts';
import { clientKey, siteFiles, sourceKey } from '../support/site.ts';

const schemas: Readonly<Record<string, Json>> = {
  'schemas/Site/frontPage.full.json': {
    sourceEntityTypes: ['frontPage'],
    route: { url: '{url}', handles: ['front'] },
    properties: {
      blocks: {
        type: 'array',
        input: '{p.blocks}',
        items: { type: 'partial', input: '{item}', alias: 'Block-{item.kind}' },
      },
      menu: {
        type: 'array',
        input: {
          $lookup: {
            operator: 'equals',
            sourceEntityProperty: 'originParentId',
            matchValue: '{originId}',
            orderBy: { property: '{item.metaData.sortOrder}', sort: 'asc' },
          },
        },
        items: { type: 'reference', gid: '{item.id}', view: 'article' },
      },
    },
    actions: [{ type: 'process', alias: 'article', originId: '{p.featured}' }],
  },
  'schemas/Site/Blocks/Block-latest.partial.json': {
    alias: 'Block-latest',
    properties: {
      headline: '{item.headline}',
      articles: {
        type: 'array',
        input: {
          $lookup: {
            filter: "type eq 'article' and properties.tags/any(t: t.id eq '{item.tag}')",
            top: '{item.top}',
            orderBy: { property: 'p.publishedAt', sort: 'desc' },
          },
        },
        items: { type: 'object', properties: { title: '{item.p.title ?? item.p.name}' } },
      },
    },
  },
  'schemas/article.full.json': {
    triggers: { cms: ['article'] },
    destinations: [{ alias: 'search', options: { objectId: 'article-{originId}' } }],
    properties: {
      title: '{p.title}',
      parent: { type: 'reference', originId: '{originParentId}', view: 'frontPage' },
    },
  },
  'schemas/Site/articles.index.json': {
    sourceEntityTypes: ['article'],
    index: { fields: { title: { type: 'text' } } },
    properties: { title: '{p.title}' },
  },
};

const article = (
  originId: string,
  title: string,
  tag: string,
  sortOrder: number,
  publishedAt: string,
): Json => ({
  originId,
  type: 'article',
  originParentId: 'home',
  properties: { title, tags: [{ id: tag }], metaData: { sortOrder }, publishedAt },
});

const entities: readonly Json[] = [
  {
    originId: 'home',
    type: 'frontPage',
    url: '/',
    properties: { blocks: [{ kind: 'latest', headline: 'New', tag: 'a', top: '1' }], featured: '1' },
  },
  article('1', 'First', 'a', 3, '2024-01-01'),
  article('2', 'Second', 'a', 1, '2024-02-01'),
  article('3', 'Third', 'b', 2, '2024-03-01'),
];

let system: System;
let front: Client;
before(async () => {
  const files = siteFiles({ tenant: 'hosted' });
  const folder = Object.entries(schemas).map(([path, json]) => [`tenants/hosted/${path}`, json]);
  system = await sharedPlatform({ ...files, ...Object.fromEntries(folder) });
  front = system.client();
});

test('hosted configuration: its schemas build views, partials and index items, and their references are resolved', async () => {
  const saved = await front.post('/ingest/v2', [...entities], { key: sourceKey });
  assert.equal(saved.status, 200, saved.text);
  const headers = { 'X-Service-Min-Version': String(saved.headers['x-service-version']) };
  const page = await front.get('/v2?url=/&handle=front&includeDuplicateViews=true', {
    key: clientKey,
    headers,
  });
  const wanted = {
    blocks: [{ headline: 'New', articles: [{ title: 'Second' }] }],
    menu: ['Second', 'Third', 'First'].map((title) => ({ title, parent: null })),
  };
  assert.deepEqual(page.json.route, wanted);
  assert.deepEqual(page.json.views, { front: wanted });
  assert.deepEqual(page.json.meta.missingViewReferences, []);
  const found = await front.post(
    '/v1/articles',
    { search: { field: 'title', value: 'third' } },
    { key: clientKey, headers },
  );
  assert.deepEqual(
    found.json.results.map(({ title }: { title: string }) => title),
    ['Third'],
  );
});

test('hosted configuration: moving a schema into another folder, or renaming it to include its kind, rebuilds nothing', async () => {
  const moved = Object.entries(schemas).map(([path, json]) => [
    `tenants/hosted/${path.replace('Site/', 'Moved here/').replace('schemas/article.full', 'schemas/article')}`,
    json,
  ]);
  const built = await system.metric('millrace_built_total');
  await system.apply({ ...siteFiles({ tenant: 'hosted' }), ...Object.fromEntries(moved) });
  assert.equal(await system.metric('millrace_built_total'), built);
  const page = await front.get('/v2?handle=front', { key: clientKey });
  assert.equal(page.json.views.front.blocks[0].headline, 'New');
});
