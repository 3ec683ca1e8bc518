/**
 * Clients of the hosted service that work unchanged: their requests, and the responses that they need. The rows run in order.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { readEntities } from '../../../src/store/entities/entities.ts';
import type { Answer, Client } from '../support/client.ts';
import { sharedPlatform } from '../support/processes/shared-platform.ts';
import type { System } from '../support/processes/system.ts';
import { clientKey, environmentId, siteFiles, sourceId, sourceKey } from '../support/site.ts';

const narrowKey = 'narrow-key-of-the-clients-test';
const deliveryKey = 'delivery-key-of-the-clients-test';
const viewId = (originId: string, alias: string) =>
  `gid://Environment/${environmentId}/Source/${sourceId}/Entity/${originId}/View/${alias}`;

interface Row {
  readonly client: string;
  readonly sends: string;
  /** Defaults to the key of the interface. */
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent unchanged. */
  readonly body?: Json | Buffer;
  readonly status: number;
  gets?(json: Answer['json'], answer: Answer): void | Promise<void>;
}

/** An entity as the connector for Umbraco 8 and later sends it. */
const inUpperCase: JsonObject = {
  id: 'article-1',
  type: 'article',
  url: '/news/one',
  redirects: ['/old/one'],
  parentId: 'root',
  properties: {
    title: { Name: 'title', Type: 'string', Value: 'One' },
    subtitle: { Name: 'subtitle', Type: 'string' },
    price: { Name: 'price', Type: 'number', Value: '12.345' },
    promoted: { Name: 'promoted', Type: 'boolean', Value: true },
    tags: {
      Name: 'tags',
      Type: 'array',
      Items: [
        { Type: 'string', Value: 'red' },
        { Type: 'string', Value: 'green' },
      ],
    },
    author: {
      Name: 'author',
      Type: 'object',
      Properties: { name: { Type: 'string', Value: 'Ann' }, Age: { Type: 'number', Value: '42' } },
    },
    blocks: {
      Type: 'array',
      Items: [{ Type: 'object', Properties: { alias: { Type: 'string', Value: 'hero' } } }],
    },
  },
};

/** The same entity as the connectors for Umbraco 7 and Sitecore send it. */
const inLowerCase: JsonObject = {
  ...inUpperCase,
  properties: {
    title: { name: 'title', type: 'string', value: 'One' },
    subtitle: { name: 'subtitle', type: 'string', value: null },
    price: { name: 'price', type: 'number', value: 12.345, precision: null },
    promoted: { name: 'promoted', type: 'boolean', value: true },
    tags: {
      name: 'tags',
      type: 'array',
      items: [
        { type: 'string', value: 'red' },
        { type: 'string', value: 'green' },
      ],
    },
    author: {
      name: 'author',
      type: 'object',
      properties: { name: { type: 'string', value: 'Ann' }, Age: { type: 'number', value: 42 } },
    },
    blocks: { type: 'array', items: [{ alias: { type: 'string', value: 'hero' } }] },
  },
};

const plain: JsonObject = {
  title: 'One',
  subtitle: null,
  price: 12.345,
  promoted: true,
  tags: ['red', 'green'],
  author: { name: 'Ann', Age: 42 },
  blocks: [{ alias: 'hero' }],
};

const begun = { status: 200, message: 'Processing of the entity has begun' };
const unchanged = { status: 200, message: 'Entity is unchanged' };
const sdk = {
  'X-Enterspeed-System': 'sdk-dotnet/2.0.2',
  'X-Enterspeed-System-Information': 'Umbraco-13.0.0',
};

function is(expected: Json): (json: Answer['json']) => void {
  return (json) => assert.deepEqual(json, expected);
}

function hasErrors(...names: string[]): (json: Answer['json']) => void {
  return (json) => {
    assert.equal(json.status, 422);
    assert.equal(json.errorCode, 's-1001');
    assert.equal(typeof json.message, 'string');
    assert.deepEqual(Object.keys(json.errors), names);
    for (const name of names) assert.equal(typeof json.errors[name], 'string', name);
  };
}

const ingest: readonly Row[] = [
  {
    client: '.NET SDK up to 1.0.2: connection test',
    sends: 'POST /ingest/v1',
    headers: sdk,
    body: '{}',
    status: 422,
    gets: hasErrors('id', 'type', 'properties'),
  },
  {
    client: '.NET SDK: connection test',
    sends: 'POST /ingest/v2/123',
    headers: sdk,
    body: '{}',
    status: 422,
    gets: hasErrors('type', 'properties'),
  },
  {
    client: '.NET SDK: connection test with a wrong key',
    sends: 'POST /ingest/v2/123',
    key: 'wrong',
    body: '{}',
    status: 401,
    gets: ({ status, errors }) => assert.deepEqual([status, errors], [401, {}]),
  },
  {
    client: 'Umbraco 8 and later: save',
    sends: 'POST /ingest/v1',
    headers: sdk,
    body: inUpperCase,
    status: 200,
    gets: (json, { headers }) => {
      assert.deepEqual(json, begun);
      assert.ok(headers['x-service-version']);
    },
  },
  {
    client: 'Umbraco 7, Sitecore: the same entity',
    sends: 'POST /ingest/v1',
    headers: sdk,
    body: inLowerCase,
    status: 200,
    gets: is(unchanged),
  },
  {
    client: '.NET SDK 2: the same entity as plain JSON, with an id beside the type',
    sends: 'POST /ingest/v2/article-1',
    headers: sdk,
    body: {
      id: 'article-1',
      type: 'article',
      url: '/news/one',
      redirects: ['/old/one'],
      originParentId: 'root',
      properties: plain,
    },
    status: 200,
    gets: is(unchanged),
  },
  {
    client: 'any connector: the same entity, compressed',
    sends: 'POST /ingest/v1',
    headers: { ...sdk, 'Content-Encoding': 'gzip' },
    body: gzipSync(JSON.stringify(inUpperCase)),
    status: 200,
    gets: is(unchanged),
  },
  {
    client: 'commercetools: save, body status read before that of HTTP',
    sends: 'POST /ingest/v1',
    body: {
      id: 'article-2',
      type: 'article',
      properties: { title: { type: 'string', value: 'Two' }, price: { type: 'number', value: 5 } },
    },
    status: 200,
    gets: is(begun),
  },
  {
    client: 'Umbraco: a precision rounds half to even',
    sends: 'POST /ingest/v1',
    body: {
      id: 'rounded',
      type: 'other',
      properties: { n: { Type: 'number', Value: '2.675', Precision: 2 } },
    },
    status: 200,
    gets: async () => assert.deepEqual((await stored('rounded'))?.properties, { n: 2.68 }),
  },
  {
    client: 'any connector: values that do not fit are reported with their paths',
    sends: 'POST /ingest/v1',
    body: {
      id: 'bad',
      type: 'other',
      properties: {
        when: { type: 'date', value: '2024-01-01' },
        list: { type: 'array', items: [{ type: 'number', value: 'many' }] },
        inner: { Type: 'object', Properties: { flag: { Type: 'boolean', Value: 'yes' } } },
      },
    },
    status: 422,
    gets: hasErrors('properties.when', 'properties.list[0]', 'properties.inner.flag'),
  },
  {
    client: '.NET SDK: a name that is not allowed is reported with its path',
    sends: 'POST /ingest/v1',
    headers: sdk,
    body: { id: 'bad', type: 'other', properties: { '123': { type: 'string', value: 'x' } } },
    status: 422,
    gets: (json) => {
      hasErrors('properties.123')(json);
      assert.match(
        json.errors['properties.123'],
        /^properties\.123 is not allowed: a name must not start with a digit/,
      );
    },
  },
  {
    client: 'Umbraco: another type for an entity',
    sends: 'POST /ingest/v1',
    body: { ...inUpperCase, type: 'page' },
    status: 422,
    gets: hasErrors('type'),
  },
  {
    client: 'Umbraco: another type by force',
    sends: 'POST /ingest/v1',
    headers: { 'X-Enterspeed-Force-Type': 'true' },
    body: { id: 'article-2', type: 'card', properties: { title: { type: 'string', value: 'Two' } } },
    status: 200,
    gets: is(begun),
  },
  {
    client: 'raw saves with headers of the hosted service',
    sends: 'POST /ingest/v2/page-1',
    headers: {
      'X-Enterspeed-Type': 'article',
      'X-Enterspeed-Url': '/news/page',
      'X-Enterspeed-OriginParentId': 'root',
    },
    body: { title: 'Page', price: 7, promoted: false, related: 'article-1', lost: 'nobody' },
    status: 200,
    gets: is(begun),
  },
  {
    client: 'CLI: bulk save; every error has errors, by originId',
    sends: 'POST /ingest/v2',
    headers: { 'X-Enterspeed-System-Information': 'cli/1' },
    body: [
      { originId: 'a/b', type: 'other', properties: {} },
      { originId: 'c', type: 'other', properties: { 'x-y': 1 } },
      5,
    ],
    status: 200,
    gets: (json) => {
      assert.equal(json.ingestMetadata.systemInfo, 'cli/1');
      assert.deepEqual(Object.keys(json.errors), ['c', 'entities[2]']);
      assert.ok(Array.isArray(json.errors.c));
    },
  },
  {
    client: 'CLI: a file that is no JSON',
    sends: 'POST /ingest/v2',
    body: '[{',
    status: 422,
    gets: ({ errors }) => assert.deepEqual(errors, {}),
  },
  {
    client: '.NET SDK 2: delete, the id not encoded',
    sends: 'DELETE /ingest/v2/a/b',
    headers: sdk,
    status: 200,
  },
  {
    client: 'connectors: a delete of what is gone, which counts as success for them',
    sends: 'DELETE /ingest/v2/a/b',
    status: 404,
    gets: ({ status, errors }) => assert.deepEqual([status, errors], [404, {}]),
  },
  {
    client: '.NET SDK 1: delete',
    sends: 'DELETE /ingest/v1?id=rounded',
    headers: sdk,
    status: 200,
    gets: (json, { headers }) => {
      assert.equal(json.status, 200);
      assert.ok(headers['x-service-version']);
    },
  },
  { client: '.NET SDK 1: delete of what is gone', sends: 'DELETE /ingest/v1?id=rounded', status: 404 },
  {
    client: '.NET SDK 1: delete without an id',
    sends: 'DELETE /ingest/v1',
    status: 422,
    gets: hasErrors('id'),
  },
  {
    client: '.NET SDK 1: delete with an empty id',
    sends: 'DELETE /ingest/v1?id=',
    status: 422,
    gets: hasErrors('id'),
  },
  { client: 'n8n: credentials are tried', sends: 'GET /routes/v2?first=100', status: 200 },
  { client: 'n8n of old: credentials are tried', sends: 'GET /routes/v1?first=100', status: 200 },
];

const article = { _originId: 'article-1' };
const found =
  (...ids: string[]) =>
  (json: Answer['json']) => {
    assert.equal(json.status, 0);
    assert.deepEqual(
      json.results.map(({ _originId }: JsonObject) => _originId),
      ids,
    );
  };
const where = (field: string, operator: string, value: Json): JsonObject => ({
  filters: { and: [{ field, operator, value }] },
});

const reads: readonly Row[] = [
  {
    client: 'demos: a page by its URL, references wrapped',
    sends: 'GET /v1?url=/news/page',
    status: 200,
    gets: ({ meta, route }) => {
      assert.equal(meta.status, 200);
      assert.deepEqual(route.related, {
        id: viewId('article-1', 'article'),
        view: { title: 'One', related: null, lost: null },
        type: 'ViewReference',
      });
      assert.equal(route.lost.view, null);
    },
  },
  {
    client: 'demos: the same with a slash behind',
    sends: 'GET /v1/?url=/news/page',
    headers: { Origin: 'https://www.example.com' },
    status: 200,
    gets: (_json, { headers }) => assert.equal(headers['access-control-allow-origin'], '*'),
  },
  {
    client: 'a front end that asks for a URL in another case',
    sends: 'GET /v2?url=/News/ONE/',
    status: 200,
    gets: ({ meta }) => assert.equal(meta.status, 200),
  },
  {
    client: 'a view of a schema as the hosted service writes it',
    sends: `GET /v2?id=${encodeURIComponent(viewId('article-2', 'card'))}`,
    status: 200,
    gets: ({ views }) =>
      assert.deepEqual(views[viewId('article-2', 'card')], { title: 'Two', article: { title: 'One' } }),
  },
  {
    client: '.NET delivery package: a redirect, HTTP 200',
    sends: 'GET /v2?url=/old/one',
    status: 200,
    gets: ({ meta, route }) =>
      assert.deepEqual([meta.status, meta.redirect, route], [301, '/news/one', null]),
  },
  {
    client: '.NET delivery package: an error is a JSON object with a message',
    sends: 'GET /v2',
    status: 422,
    gets: ({ message }) => assert.equal(typeof message, 'string'),
  },
  {
    client: 'n8n: an empty query',
    sends: 'POST /v1/blogPosts',
    body: '{\n}\n',
    status: 200,
    gets: ({ status, totalResults }) => assert.deepEqual([status, totalResults], [0, 2]),
  },
  {
    client: 'n8n: a number as text',
    sends: 'POST /v1/blogPosts',
    body: where('price', 'greaterThan', '10'),
    status: 200,
    gets: found('article-1'),
  },
  {
    client: 'n8n: text that is no number',
    sends: 'POST /v1/blogPosts',
    body: where('price', 'greaterThan', 'much'),
    status: 400,
    gets: ({ errors }) => assert.match(errors[0], /must be a number/),
  },
  {
    client: 'n8n: a boolean as text',
    sends: 'POST /v1/blogPosts',
    body: where('promoted', 'equals', 'true'),
    status: 200,
    gets: found('article-1'),
  },
  {
    client: 'n8n: a list as one text',
    sends: 'POST /v1/blogPosts',
    body: where('tags', 'in', 'blue , green'),
    status: 200,
    gets: found('article-1'),
  },
  {
    client: 'n8n: a list of numbers as one text, over a source group',
    sends: 'POST /v1/sourceGroupAlias/cms/type/article',
    body: { ...where('price', 'in', '7, 8'), pagination: { size: 1 } },
    status: 200,
    gets: found('page-1'),
  },
  {
    client: '.NET query package: order by number, unset size and name of a facet, page alone',
    sends: 'POST /v1/blogPosts',
    body: {
      sort: [{ field: 'price', order: 0 }],
      facets: [{ field: 'tags', name: null, size: 0 }],
      pagination: { page: 0, pageSize: 1 },
    },
    status: 200,
    gets: (json) => {
      found('article-1')(json);
      assert.deepEqual(
        json.facets.map(({ name, groups }: { name: string; groups: Json[] }) => [name, groups.length]),
        [['tags', 2]],
      );
    },
  },
  {
    client: '.NET query package: the other order',
    sends: 'POST /v1/blogPosts',
    body: { sort: [{ field: 'price', order: 1 }] },
    status: 200,
    gets: found('page-1', 'article-1'),
  },
  {
    client: 'query with aliases: the ids of the views that are there',
    sends: 'POST /v1/blogPosts',
    body: { ...where('_originId', 'equals', 'article-1'), aliases: ['card', 'article'] },
    status: 200,
    gets: ({ results }) => {
      assert.deepEqual(results[0]._viewIds, [viewId('article-1', 'article')]);
      assert.equal(results[0]._views.card, null);
    },
  },
  {
    client: 'multi-query over indexes, one of them bad',
    sends: 'POST /v1',
    body: [
      { index: 'blogPosts', name: 'posts', ...where('_originId', 'equals', 'article-1') },
      { index: 'blogPosts', name: 'bad', ...where('price', 'like', 1) },
      { index: 'nothing', name: 'none' },
    ],
    status: 200,
    gets: ([posts, bad, none]) => {
      assert.deepEqual([posts.name, posts.index, posts.status], ['posts', 'blogPosts', 0]);
      assert.equal(posts.results[0]._originId, article._originId);
      assert.deepEqual([bad.name, bad.index, bad.status], ['bad', 'blogPosts', 400]);
      assert.deepEqual([none.name, none.index, none.status], ['none', 'nothing', 404]);
    },
  },
  {
    client: 'a client whose scopes and indexes are narrowed: within them',
    sends: 'POST /v1/',
    key: narrowKey,
    body: [
      { index: 'blogPosts', name: 'mine' },
      { index: 'shop', name: 'theirs' },
    ],
    status: 200,
    gets: ([mine, theirs]) => {
      assert.equal(mine.status, 0);
      assert.deepEqual(theirs, {
        name: 'theirs',
        index: 'shop',
        message: 'Forbidden',
        errors: ['Forbidden'],
        status: 403,
      });
    },
  },
  {
    client: 'a client whose indexes are narrowed: outside them',
    sends: 'POST /v1/shop',
    key: narrowKey,
    body: {},
    status: 403,
    gets: is({ error: 'Forbidden', code: 'indexForbidden' }),
  },
  {
    client: 'a client whose indexes are narrowed: an index that is not there',
    sends: 'POST /v1/unknown',
    key: narrowKey,
    body: {},
    status: 403,
  },
  {
    client: 'the scope Query includes source groups',
    sends: 'POST /v1/source',
    key: narrowKey,
    body: [
      { sourceGroupAlias: 'cms', sourceEntityType: 'article', name: 'a' },
      { sourceGroupAlias: 'cms', sourceEntityType: 'other', name: 'b' },
    ],
    status: 200,
    gets: ([a, b]) => assert.deepEqual([a.status, b.status, b.errors], [0, 403, ['Forbidden']]),
  },
  { client: 'the scope Query gives no routes', sends: 'GET /routes/v2', key: narrowKey, status: 403 },
  {
    client: 'the scope Delivery gives no queries',
    sends: 'POST /v1/blogPosts',
    key: deliveryKey,
    body: {},
    status: 403,
    gets: ({ error }) => assert.equal(typeof error, 'string'),
  },
  { client: 'the scope Delivery', sends: 'GET /v2?url=/news/one', key: deliveryKey, status: 200 },
  {
    client: 'demos: routes with url and updatedAt',
    sends: 'GET /routes/v1?first=100',
    status: 200,
    gets: ({ results }) => {
      assert.deepEqual(
        results.map(({ url }: JsonObject) => url),
        ['/news/one', '/news/page', '/old/one'],
      );
      for (const { updatedAt } of results) assert.ok(!Number.isNaN(Date.parse(updatedAt)));
    },
  },
];

let system: System;
let client: Client;
let version = '';

const stored = async (originId: string) =>
  (await readEntities(await system.store(), 'clients', [{ sourceId, originId }]))[0];

const fields = { price: 'double', promoted: 'boolean', tags: 'keyword[]' };
const posts = {
  triggers: { cms: ['article'] },
  properties: Object.fromEntries(Object.keys(fields).map((name) => [name, { '*': `p.${name}` }])),
  index: {
    fields: Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, { type }])),
  },
};
const website = { environment: 'production', domains: ['site'] };

before(async () => {
  system = await sharedPlatform(
    siteFiles({
      tenant: 'clients',
      schemas: {
        article: {
          triggers: { cms: ['article'] },
          route: { url: '{url}' },
          properties: {
            title: '{p.title}',
            related: { type: 'reference', alias: 'article', originId: '{p.related}' },
            lost: { type: 'reference', alias: 'article', originId: '{p.lost}' },
          },
        },
        card: {
          sourceEntityTypes: ['card'],
          properties: {
            title: '{p.title}',
            article: { type: 'reference', view: 'link', originId: 'article-1' },
          },
        },
        link: { sourceEntityTypes: ['article'], properties: { title: '{p.title}' } },
      },
      indexes: { blogPosts: posts, shop: posts },
      settings: {
        urls: { caseInsensitive: true },
        environmentClients: [
          { ...website, name: 'all', apiKeys: [clientKey] },
          {
            ...website,
            name: 'narrow',
            scopes: ['Query'],
            indexes: ['blog*', 'cms:art*'],
            apiKeys: [narrowKey],
          },
          { ...website, name: 'delivery', scopes: ['Delivery'], apiKeys: [deliveryKey] },
        ],
      },
    }),
  );
  client = system.client();
});

async function send({ client: who, sends, key, headers, body, status, gets }: Row): Promise<void> {
  const [method = '', path = ''] = sends.split(' ');
  const isIngest = path.startsWith('/ingest');
  const answer = await client.call(method, path, {
    key: key ?? (isIngest ? sourceKey : clientKey),
    headers: { ...headers, ...(isIngest ? {} : { 'X-Enterspeed-Min-Version': version }) },
    ...(body === undefined ? {} : { body }),
  });
  const about = `${who}, ${sends}: ${answer.text}`;
  assert.equal(answer.status, status, about);
  try {
    await gets?.(answer.json, answer);
  } catch (error) {
    throw new Error(about, { cause: error });
  }
  version = String(answer.headers['x-service-version'] ?? version);
}

for (const row of [...ingest, ...reads])
  test(`clients: ${row.client}: ${row.sends} is ${row.status}`, () => send(row));

test('clients: entities from connectors are stored as plain JSON', async () => {
  const entity = await stored('article-1');
  assert.deepEqual(
    [entity?.properties, entity?.url, entity?.redirects, entity?.originParentId],
    [plain, '/news/one', ['/old/one'], 'root'],
  );
});
