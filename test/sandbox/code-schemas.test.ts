import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Json, JsonObject } from '../../src/contract/json.ts';
import { codeUrlsPerViewMax } from '../../src/contract/limits.ts';
import { readPublished } from '../../src/store/configuration/published-configuration.ts';
import { until } from '../support/until.ts';
import type { Answer, Client } from '../system/support/client.ts';
import { System } from '../system/support/processes/system.ts';
import { clientKey, environmentId, siteFiles, sourceId, sourceKey } from '../system/support/site.ts';
import { differencesFoundByVerify } from '../system/support/verify.ts';

const code = {
  'lib/slug.ts': `export function slug(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}`,
  'schemas/blog/article.full.ts': `
import { slug } from '../../lib/slug.js';
interface Properties { title: string; tag?: string; author?: string | null; related?: string[]; fail?: string }
let builds = 0;
export default {
  triggers(context) {
    context.triggers('cms', ['article']);
  },
  async routes(entity, context) {
    const { title } = entity.properties as Properties;
    context.url('/articles/' + slug(title));
    context.handle('article-' + entity.originId);
    context.handle(null);
  },
  async properties({ originId, type, url, originParentId, redirects, properties, sourceId, id, updatedAt }, context) {
    const p = properties as Properties;
    builds += 1;
    globalThis.builds = (globalThis.builds ?? 0) + 1;
    const same = p.tag ? await context.lookup(\`type eq 'article' and properties.tag eq '\${encodeURIComponent(p.tag).replaceAll("'", '%27')}'\`)
      .orderBy({ propertyName: 'properties.title', direction: 'desc' }).limit(5) : [];
    if (p.fail) throw new Error(p.fail);
    return {
      title: p.title,
      builds: [builds, globalThis.builds],
      id, sourceId, type, url, originParentId, redirects,
      updated: typeof updatedAt,
      same: same.map((one) => one.properties.title),
      author: context.reference('author').byOriginId(p.author),
      related: context.reference('article').byOriginIds(p.related ?? []),
      card: context.partial('card', p),
      words: context.partial('words', p),
      children: context.reference('comment').children("type eq 'comment'"),
      latest: context.reference('comment').children().orderBy({ propertyName: 'properties.at', direction: 'desc' }).first(),
      parent: context.reference('article').parent(),
      later: Promise.resolve({ nested: [Promise.resolve(1), undefined, NaN, new Date('2020-01-02')] }),
      left: undefined,
    };
  },
};`,
  'schemas/card.partial.js': `export default {
  async properties(input, context) {
    return { heading: input.title, author: context.reference('author').byOriginId(input.author) };
  },
};`,
  'schemas/comment.full.js': `export default {
  triggers: (context) => { context.triggers('cms', ['comment']); context.triggers('cms', 'note'); },
  properties: ({ properties: { text } }) => ({ text, article: null }),
};`,
  'schemas/dynamic.full.js': `const path = (name) => ['properties', name].join('.');
export default {
  triggers(context) { context.triggers('cms', ['shelf']); },
  routes(entity, context) { context.handle('shelf-' + entity.originId); },
  async properties(entity, context) {
    const filter = [path(entity.properties.by), 'eq', "'" + entity.properties.value + "'"].join(' ');
    const found = await context.lookup(filter).toPromise();
    return { found: found.map((one) => one.originId) };
  },
};`,
  'schemas/place.full.js': `export default {
  triggers(context) { context.triggers('cms', ['place']); },
  routes(entity, context) {
    const { urls } = entity.properties;
    for (const { url, cutTo, redirects } of urls) {
      const claim = context.url(url?.slice(0, cutTo));
      if (redirects !== undefined) claim.redirects(redirects);
    }
  },
  properties(entity) { return { name: entity.properties.name }; },
};`,
  'schemas/deed.full.js': `export default {
  triggers(context) { context.triggers('cms', ['place']); },
  routes(entity, context) { context.url('/deeds/' + entity.originId); context.handle('deed-' + entity.originId); },
  actions(entity, context) { context.reprocess('place').byOriginId(entity.originId); },
};`,
  'schemas/titles.index.js': `export default {
  triggers(context) { context.triggers('cms', ['article']); },
  index: { fields: { title: { type: 'text' }, day: { type: 'date' } } },
  properties(entity) { return { title: entity.properties.title, day: new Date('2021-05-05'), other: 1 }; },
};`,
};

const schemas: Readonly<Record<string, Json>> = {
  author: {
    triggers: { cms: ['author'] },
    route: { url: '/authors/{originId}' },
    properties: {
      name: '{p.name}',
      card: { type: 'partial', alias: 'card', input: '{p}' },
      articles: {
        type: 'array',
        input: { $lookup: { filter: "type eq 'article' and properties.author eq {originId}" } },
        items: { type: 'reference', alias: 'article', originId: '{item.originId}' },
      },
    },
  },
};
const partials: Readonly<Record<string, Json>> = {
  words: { properties: { title: '{title}', card: { type: 'partial', alias: 'card', input: '{root}' } } },
};

const managementKey = 'manage';
const settings = { managementClients: [{ name: 'people', apiKeys: [managementKey] }] };

let system: System;
let client: Client;

before(async () => {
  system = await System.start({
    web: 1,
    workers: 2,
    jobs: 1,
    partitions: 4,
    files: siteFiles({ schemas, partials, code, settings }),
    // The machine may be busy.
    env: { MIN_VERSION_WAIT_SECONDS: '30' },
  });
  client = system.client('web.1');
});
after(() => system.stop());

let version = '';

async function save(
  originId: string,
  type: string,
  properties: JsonObject,
  more: JsonObject = {},
): Promise<void> {
  const answer = await client.post(
    `/ingest/v2/${originId}`,
    { type, properties, ...more },
    { key: sourceKey },
  );
  assert.equal(answer.status, 200, answer.text);
  version = String(answer.headers['x-service-version']);
}

async function delivered(query: string): Promise<Answer['json']> {
  const headers = version === '' ? {} : { 'X-Service-Min-Version': version };
  const answer = await client.get(`/v2?${query}`, { key: clientKey, headers });
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

/** Name of the view that is served on a URL, the target of its redirect, or the status. */
const leadsTo = async (url: string) => {
  const { meta, route } = await delivered(`url=${url}`);
  return meta.redirect ?? (route === null ? meta.status : route.name);
};
const view = async (handle: string) => (await delivered(`handle=${handle}`)).views[handle];
const gid = (originId: string) => `gid://Source/${sourceId}/Entity/${originId}`;

test('code schemas: a view has everything that code returned, and what others derive from it', async () => {
  await save('ann', 'author', { name: 'Ann' });
  await save(
    'a1',
    'article',
    { title: 'One Two', tag: "it's é&", author: 'ann', related: ['a2', 'none'] },
    { url: '/x', redirects: ['/old'] },
  );
  await save('a2', 'article', { title: 'Two', tag: "it's é&" }, { originParentId: 'a1' });
  await save('c1', 'comment', { text: 'first', at: 1 }, { originParentId: 'a1' });
  await save('c2', 'comment', { text: 'second', at: 2 }, { originParentId: 'a1' });
  const { route, meta } = await delivered('url=/articles/one-two');
  assert.equal(meta.status, 200);
  assert.deepEqual(meta.missingViewReferences, [
    {
      path: 'route.related[1]',
      viewId: `gid://Environment/${environmentId}/Source/${sourceId}/Entity/none/View/article`,
    },
  ]);
  assert.equal(route.title, 'One Two');
  assert.deepEqual(route.builds, [1, 1]);
  assert.equal(route.id, gid('a1'));
  assert.equal(route.sourceId, `gid://Source/${sourceId}`);
  assert.deepEqual(
    [route.type, route.url, route.originParentId, route.redirects, route.updated],
    ['article', '/x', null, ['/old'], 'string'],
  );
  assert.deepEqual(route.same, ['Two', 'One Two']);
  assert.equal(route.author.name, 'Ann');
  assert.deepEqual(route.author.card, { author: null });
  assert.equal(route.related[0].title, 'Two');
  assert.equal(route.related[1], null);
  assert.equal(route.card.heading, 'One Two');
  assert.equal(route.card.author.name, 'Ann');
  assert.equal(route.words.card.heading, 'One Two');
  assert.equal(route.words.card.author.name, 'Ann');
  assert.deepEqual(
    route.children.map(({ text }: JsonObject) => text),
    ['first', 'second'],
  );
  assert.equal(route.latest.text, 'second');
  assert.equal(route.parent, null);
  assert.deepEqual(route.later, { nested: [1, null, null, '2020-01-02T00:00:00.000Z'] });
  assert.ok(!('left' in route));
  assert.equal((await view('article-a2')).parent.title, 'One Two');
});

test('code schemas: lookups in code are tracked: a change rebuilds the views whose result differs', async () => {
  await save('a3', 'article', { title: 'Zebra', tag: "it's é&" });
  assert.deepEqual((await view('article-a1')).same, ['Zebra', 'Two', 'One Two']);
  await save('a3', 'article', { title: 'Zebra', tag: 'other' });
  assert.deepEqual((await view('article-a1')).same, ['Two', 'One Two']);
  await save('c3', 'comment', { text: 'third', at: 3 }, { originParentId: 'a1' });
  assert.equal((await view('article-a1')).latest.text, 'third');
});

test('code schemas: a property without an index is looked up once its index is complete, never in part', async () => {
  await save('b1', 'book', { color: 'red' });
  await save('b2', 'book', { color: 'red' });
  await save('s1', 'shelf', { by: 'color', value: 'red' });
  const found = async () => (await view('shelf-s1'))?.found;
  await until('the shelf is there', async () => {
    const now = await found();
    assert.ok(now === undefined || now.length === 2, JSON.stringify(now));
    return now !== undefined;
  });
  await save('b3', 'book', { color: 'red' });
  assert.deepEqual(await found(), ['b1', 'b2', 'b3']);
  await save('s2', 'shelf', { by: 'color', value: 'blue' });
  assert.deepEqual((await view('shelf-s2')).found, []);
});

test('code schemas: lookups found at run time are part of the next configuration from its start', async () => {
  const before = await system.store().then(readPublished);
  const path = 'tenants/acme/.compiled/lookups.json';
  assert.ok(before !== null);
  assert.ok(before.documents.has(path));
  const other = { ...schemas, other: { triggers: { cms: ['other'] }, properties: { n: '{p.n}' } } };
  await system.publish(siteFiles({ schemas: other, partials, code, settings }));
  const after = await system.store().then(readPublished);
  assert.equal(after?.generation, before.generation + 1);
  assert.equal(after?.documents.get(path), before.documents.get(path));
  await system.apply(siteFiles({ schemas, partials, code, settings }));
  assert.deepEqual(await differencesFoundByVerify(system), []);
});

test('code schemas: a URL can redirect, by the redirects of the entity', async () => {
  assert.equal((await delivered('url=/old')).meta.redirect, '/articles/one-two');
});

test('code schemas: a view has all the URLs that code returns, each with its own redirects', async () => {
  const [one, other] = [{ url: '/places/one', redirects: ['/places/uno'] }, { url: '/places/other' }];
  const own = { redirects: ['/places/own'] };
  await save('l1', 'place', { name: 'L', urls: [one, other] }, own);
  const asked = ['one', 'other', 'uno', 'own'].map((name) => `/places/${name}`);
  assert.deepEqual(await Promise.all(asked.map(leadsTo)), ['L', 'L', '/places/one', 404]);
  await save('l1', 'place', { name: 'L', urls: [other] }, own);
  assert.deepEqual(await Promise.all(asked.map(leadsTo)), [404, 'L', 404, '/places/other']);
  await save('l1', 'place', { name: 'L', urls: [{ ...other, redirects: [] }] }, own);
  assert.deepEqual(await Promise.all(asked.map(leadsTo)), [404, 'L', 404, 404]);
  await save('l1', 'place', { name: 'L', urls: [] }, own);
  assert.deepEqual(await Promise.all(asked.map(leadsTo)), [404, 404, 404, 404]);
});

test('code schemas: URLs and redirects beyond the limit of a view lead nowhere', async () => {
  const redirects = Array.from({ length: codeUrlsPerViewMax }, (_, at) => `/places/r${at}`);
  await save('l3', 'place', {
    name: 'L',
    urls: [{ url: '/places/first', redirects }, { url: '/places/last' }],
  });
  const asked = ['first', 'r0', `r${codeUrlsPerViewMax - 2}`, `r${codeUrlsPerViewMax - 1}`, 'last'];
  assert.deepEqual(await Promise.all(asked.map((name) => leadsTo(`/places/${name}`))), [
    'L',
    '/places/first',
    '/places/first',
    404,
    404,
  ]);
});

test('code schemas: URLs and redirects that no request can have are not claims, and are reported', async () => {
  await save('l4', 'place', { name: 'home', urls: [{ url: '/places' }] });
  const unusable = ['/places#contact', '//places', 'places', 'http://'];
  const urls = [{ url: '/places/four', redirects: unusable }, ...unusable.map((url) => ({ url }))];
  await save('l5', 'place', { name: 'L', urls });
  assert.deepEqual(await Promise.all(['/places', '//places', '/places/four'].map(leadsTo)), [
    'home',
    404,
    'L',
  ]);
  const { json } = await client.get('/management/v1/diagnostics', { key: managementKey });
  const [told, ...others] = json.diagnostics.filter(({ kind }: { kind: string }) => kind === 'urlMissing');
  assert.deepEqual([told?.schema, told?.place, told?.count, others], ['place', '$.routes', 1, []]);
  assert.match(told.message, /begins with one \/ .* has no fragment/);
});

test('code schemas: a URL that code cuts within a character is listed and can be requested', async () => {
  await save('l6', 'place', { name: 'Cut', urls: [{ url: '/places/😀', cutTo: 9 }] });
  assert.equal(await leadsTo('/places/%EF%BF%BD'), 'Cut');
  assert.deepEqual(await differencesFoundByVerify(system), []);
});

test('code schemas: a schema without properties builds no view, and claims nothing', async () => {
  await save('l2', 'place', { name: 'L', urls: [{ url: '/places/two' }] });
  assert.equal((await delivered('url=/places/two')).meta.status, 200);
  assert.equal((await delivered('url=/deeds/l2')).meta.status, 404);
  assert.equal(await view('deed-l2'), undefined);
});

test('code schemas: an index in code has the fields of its index, and dates can be Date objects', async () => {
  const body = {
    filters: { and: [{ field: 'day', operator: 'equals', value: '2021-05-05T00:00:00.000Z' }] },
    sort: [{ field: '_originId' }],
  };
  const answer = await client.post('/v1/titles', body, {
    key: clientKey,
    headers: { 'X-Service-Min-Version': version },
  });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(
    answer.json.results.map((item: JsonObject) => [item._originId, item.title, item.other]),
    [
      ['a1', 'One Two', undefined],
      ['a2', 'Two', undefined],
      ['a3', 'Zebra', undefined],
    ],
  );
});

test('code schemas: a schema that throws leaves the last view unchanged, with a diagnostic', async () => {
  await save('a2', 'article', { title: 'Changed', fail: 'not today' }, { originParentId: 'a1' });
  assert.equal((await view('article-a2')).title, 'Two');
  assert.equal((await delivered('url=/articles/two')).meta.status, 200);
  assert.deepEqual(await differencesFoundByVerify(system), []);
  await save('a2', 'article', { title: 'Changed' }, { originParentId: 'a1' });
  assert.equal((await view('article-a2')).title, 'Changed');
  assert.equal((await delivered('url=/articles/two')).meta.status, 404);
});

test('code schemas: a change of an imported file rebuilds what was built with it', async () => {
  const slug = code['lib/slug.ts'].replace("'-'", "'_'");
  await system.apply(siteFiles({ schemas, partials, settings, code: { ...code, 'lib/slug.ts': slug } }));
  await until(
    'the route is the new one',
    async () => (await delivered('url=/articles/one_two')).meta.status === 200,
  );
  assert.equal((await delivered('url=/articles/one-two')).meta.status, 404);
  assert.deepEqual(await differencesFoundByVerify(system), []);
});
