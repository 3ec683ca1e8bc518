/**
 * A cache in front that stores answers for a year stays current if the tags of all changes are purged. After each change of a
 * random history, every page through nginx equals the page from the front.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { normalizeUrl } from '../../../src/config/urls/url.ts';
import { formatViewId } from '../../../src/contract/ids.ts';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { changeTags } from '../../../src/store/derived/subjects.ts';
import { claimField } from '../../../src/store/keys.ts';
import { entityOf } from '../support/data/entities.ts';
import { NginxCache } from '../support/nginx-cache.ts';
import { sharedPlatform } from '../support/processes/shared-platform.ts';
import type { System } from '../support/processes/system.ts';
import { Random } from '../support/random.ts';
import { clientKey, environmentId, siteFiles, sourceId, sourceKey } from '../support/site.ts';

const steps = Number(process.env.MILLRACE_STEPS ?? 40);
const pageNames = Array.from({ length: 8 }, (_, number) => `p${number}`);
const authorNames = Array.from({ length: 4 }, (_, number) => `a${number}`);
/** Just below the maximum that an answer can name: a page of only these has narrow tags, and a page with more has wide tags. */
const citizens = Array.from({ length: 606 }, (_, number) => `c${number}`);

const settings = 'public, s-maxage=31536000';
const clients = [
  { key: 'commas', cacheControl: settings, cacheTags: 'Cache-Tag' },
  { key: 'spaces', cacheControl: settings, cacheTags: 'Surrogate-Key' },
];
const reference = (alias: string, originId: string) => ({ type: 'reference', alias, originId });
const tenant = 'cached';
const files = siteFiles({
  tenant,
  settings: {
    environmentClients: [
      { name: 'uncached', environment: 'production', domains: ['site'], apiKeys: [clientKey] },
      {
        name: 'narrow',
        environment: 'production',
        domains: ['site'],
        apiKeys: ['narrow'],
        cacheControl: settings,
        origins: ['https://good.example'],
      },
      ...clients.map(({ key, ...caching }) => ({
        name: key,
        environment: 'production',
        domains: ['site'],
        apiKeys: [key],
        ...caching,
      })),
    ],
  },
  schemas: {
    page: {
      triggers: { cms: ['page'] },
      route: { url: '{url}', handles: ['{originId}', '{p.handle}'] },
      properties: {
        title: '{p.title}',
        next: reference('teaser', '{p.next}'),
        group: {
          type: 'array',
          input: { $lookup: { filter: 'p.group eq {p.group}' } },
          items: reference('teaser', '{item.originId}'),
        },
      },
    },
    teaser: {
      triggers: { cms: ['page'] },
      properties: { teaser: '{p.title}', by: reference('author', '{p.author}') },
    },
    author: { triggers: { cms: ['author'] }, properties: { name: '{p.name}' } },
    citizen: { triggers: { cms: ['citizen'] }, properties: { name: '{p.name}' } },
    town: {
      triggers: { cms: ['town'] },
      route: { handles: ['town'] },
      properties: {
        all: {
          type: 'array',
          input: { $lookup: { filter: "type eq 'citizen'" } },
          items: reference('citizen', '{item.originId}'),
        },
      },
    },
  },
});

const random = Random.forTest('cache-in-front');
let system: System;
let nginx: NginxCache;
before(async () => {
  system = await sharedPlatform(files);
  nginx = await NginxCache.start(system.url());
});
after(() => nginx?.stop());

const urls = ['/0', '/1', '/2', '/3', '/4', 'https://www.example.com/0'];

/** URLs, redirects and handles of each page, as last saved. */
const namesOf = new Map<string, string[]>();

function randomEntity(name: string) {
  const maybe = (value: string) => (random.chance(0.8) ? value : '');
  const url = random.chance(0.8) ? random.pick(urls) : null;
  const properties: JsonObject = {
    title: `title ${random.below(1000)}`,
    next: maybe(random.pick(pageNames)),
    author: maybe(random.pick(authorNames)),
    group: random.below(4),
    handle: maybe(`h${random.below(3)}`),
  };
  const redirects = url === null ? [] : random.some(['/old/0', '/old/1', '/1'], 0.3);
  const handle = String(properties.handle);
  namesOf.set(name, [
    ...[url ?? '', ...redirects].flatMap((one) => (one === '' ? [] : [urlField(one)])),
    claimField.handle(name),
    ...(handle === '' ? [] : [claimField.handle(handle)]),
  ]);
  return entityOf(name, 'page', properties, { url, redirects });
}

function urlField(url: string): string {
  return claimField.url(normalizeUrl(url)?.path ?? '');
}

async function save(entities: readonly unknown[]): Promise<string> {
  const { status, text, headers } = await system.client().post('/ingest/v2', entities as Json, {
    key: sourceKey,
  });
  assert.equal(status, 200, text);
  return String(headers['x-service-version']);
}

async function remove(originId: string): Promise<string> {
  const { headers } = await system.client().delete(`/ingest/v2/${originId}`, { key: sourceKey });
  namesOf.delete(originId);
  return String(headers['x-service-version'] ?? '');
}

/** Changes one or two entities. @returns a version that includes the change */
async function change(): Promise<string> {
  const dice = random.fraction();
  if (dice < 0.15) return remove(random.pick(pageNames));
  if (dice < 0.25) return remove(random.pick(authorNames));
  if (dice < 0.4) {
    const name = `name ${random.below(1000)}`;
    return save([entityOf(random.pick(authorNames), 'author', { name })]);
  }
  if (dice < 0.5) {
    const name = `name ${random.below(1000)}`;
    return save([entityOf(random.pick(citizens), 'citizen', { name })]);
  }
  const names = random.shuffled(pageNames).slice(0, random.between(1, 2));
  return save(names.map(randomEntity));
}

/** The stored bytes of every view, by `source:alias:originId`. */
async function storedViews(): Promise<Map<string, string>> {
  const store = await system.store();
  const views = new Map<string, string>();
  for (const key of await store.client.keys(`*:views:${tenant}:${environmentId}:*`)) {
    const sourceId = key.split(':').at(-1);
    for (const [field, body] of Object.entries(await store.client.hgetall(key))) {
      views.set(`${sourceId}:${field}`, body);
    }
  }
  return views;
}

interface Content {
  readonly views: ReadonlyMap<string, string>;
  readonly names: ReadonlyMap<string, readonly string[]>;
}

async function content(): Promise<Content> {
  return { views: await storedViews(), names: new Map(namesOf) };
}

/** The tags of all views whose bytes, URLs, handles or redirects differ, as the change feed reports them. */
function tagsOfChanges(earlier: Content, later: Content): Set<string> {
  const tags = new Set<string>();
  for (const field of new Set([...earlier.views.keys(), ...later.views.keys()])) {
    const [source = '', alias = '', originId = ''] = field.split(':');
    const namesIn = ({ names }: Content) => (alias === 'page' ? (names.get(originId) ?? []) : []);
    const [left, now] = [namesIn(earlier), namesIn(later)];
    const isSame = earlier.views.get(field) === later.views.get(field) && `${left}` === `${now}`;
    if (isSame) continue;
    const view = { sourceId: source, alias, originId };
    for (const tag of changeTags({ tenant, environmentId }, view, [...left, ...now])) tags.add(tag);
  }
  return tags;
}

const viewId = (originId: string, alias: string) =>
  encodeURIComponent(formatViewId({ environmentId, sourceId, originId, alias }));
const beside = [...pageNames, 'nothing'].map((name) => `id=${viewId(name, 'teaser')}`).join('&');
const queries = [
  ...[...urls, '/old/0', '/old/1', '/none', '/1/?x', 'https://other.example/2'].map(
    (url) => `url=${encodeURIComponent(url)}`,
  ),
  ...pageNames.map((name) => `handle=${name}`),
  ...['h0', 'h1', 'h2'].map((handle) => `handle=${handle}&url=/none-beside`),
  ...authorNames.map((name) => `id=${viewId(name, 'author')}&handle=h1`),
  'handle=town',
  `handle=town&${beside}`,
  `${beside}&includeDuplicateViews=true`,
];
const paths = queries.flatMap((query) => [`/v2?${query}`, `/v1?${query}`]);
const codings = ['identity', 'gzip', 'br'];

interface Seen {
  readonly status: string | null;
  readonly control: string | null;
  readonly text: string;
}

async function read(base: string, path: string, key: string, coding: string): Promise<Seen> {
  const response = await fetch(`${base}${path}`, {
    headers: { 'X-Api-Key': key, 'Accept-Encoding': coding },
  });
  assert.equal(response.status, 200, path);
  const { headers } = response;
  const control = headers.get('cache-control');
  return { status: headers.get('x-cache-status'), control, text: await response.text() };
}

/** Cache keys of the answers that nginx must have cached. */
const kept = new Set<string>();
let hits = 0;

/** Compares each path through nginx and from the front. Nginx must serve cached answers unless they were purged. */
async function comparePages(): Promise<void> {
  const compare = async (path: string, at: number) => {
    const key = clients[at % 2]?.key ?? '';
    const coding = codings[at % 3] ?? '';
    const through = await read(nginx.url, path, key, coding);
    const fresh = await read(system.url(), path, key, coding);
    assert.equal(through.text, fresh.text, `${path} was ${through.status}`);
    assert.equal(through.control, fresh.control);
    const cacheKey = `${path}|${key}`;
    assert.equal(through.status, kept.has(cacheKey) ? 'HIT' : 'MISS', path);
    if (through.status === 'HIT') hits += 1;
    if (through.control === settings) kept.add(cacheKey);
    else assert.equal(through.control, 'no-store');
  };
  await Promise.all(paths.map(compare));
}

test('cache in front: purging the tags of each change keeps a year-long cache current, and unchanged pages stay in it', async () => {
  for (let from = 0; from < citizens.length; from += 50) {
    await save(citizens.slice(from, from + 50).map((name) => entityOf(name, 'citizen', { name })));
  }
  await save(authorNames.map((name) => entityOf(name, 'author', { name })));
  const first = await save([entityOf('town', 'town', {}), ...pageNames.map(randomEntity)]);
  const shown = (version: string) =>
    system.client().get('/v2?handle=p0', { key: clientKey, ...(version !== '' && { version }) });
  assert.equal((await shown(first)).status, 200);
  await comparePages();
  let earlier = await content();
  let purged = 0;
  for (let step = 0; step < steps; step += 1) {
    const version = await change();
    assert.equal((await shown(version)).status, 200);
    const later = await content();
    const dropped = await nginx.purge(tagsOfChanges(earlier, later));
    for (const key of dropped) kept.delete(key);
    purged += dropped.size;
    await comparePages();
    earlier = later;
  }
  console.log(
    `${steps} changes: ${purged} answers purged, ${hits} of ${steps * paths.length} pages from nginx`,
  );
  assert.ok(purged > steps && hits > steps);
});

test('cache in front: the largest answers reach the cache with their tags, narrow and wide', async () => {
  const tags = async (query: string) =>
    (await fetch(`${nginx.url}/v2?${query}`, { headers: { 'X-Api-Key': 'commas' } })).headers.get(
      'cache-tag',
    ) ?? '';
  const narrow = await tags('handle=town');
  assert.ok(narrow.length > 7800 && narrow.length <= 8000, `${narrow.length} bytes`);
  const wide = await tags(`handle=town&${beside}`);
  assert.ok(wide.length < 200, `${wide.length} bytes`);
});

test('cache in front: an answer that nginx cached for one reader is correct for the next, whatever its origin and coding', async () => {
  const origins = ['', 'https://good.example', 'https://bad.example'];
  const asked = origins.flatMap((origin) => codings.map((coding) => ({ origin, coding })));
  for (const key of ['narrow', 'commas']) {
    for (const round of ['first', 'again']) {
      for (const { origin, coding } of random.shuffled(asked)) {
        const { headers } = await fetch(`${nginx.url}/v2?handle=town`, {
          headers: { 'X-Api-Key': key, 'Accept-Encoding': coding, ...(origin !== '' && { Origin: origin }) },
        });
        const about = `${key} ${round} ${origin} ${coding} ${headers.get('x-cache-status')}`;
        assert.equal(headers.get('content-encoding') ?? 'identity', coding, about);
        const good = key === 'commas' ? '*' : origin === origins[1] ? origin : null;
        assert.equal(headers.get('access-control-allow-origin'), good, about);
        if (round === 'again') assert.equal(headers.get('x-cache-status'), 'HIT', about);
      }
    }
  }
});

test('cache in front: a request for live answers gets events, also if nginx has cached the page', async () => {
  const get = (headers: Readonly<Record<string, string>>) =>
    fetch(`${nginx.url}/v2?handle=town`, { headers: { 'X-Api-Key': 'commas', ...headers } });
  await (await get({})).arrayBuffer();
  const live = await get({ Accept: 'text/event-stream' });
  assert.deepEqual(
    [live.headers.get('content-type'), live.headers.get('x-cache-status')],
    ['text/event-stream', 'BYPASS'],
  );
  await live.body?.cancel();
  const { headers } = await get({});
  assert.deepEqual(
    [headers.get('content-type')?.split(';')[0], headers.get('x-cache-status')],
    ['application/json', 'HIT'],
  );
});

test('cache in front: nginx caches nothing of a client without the setting, and forwards reads with a version', async () => {
  for (const key of [clientKey, clientKey]) {
    const { status, control } = await read(nginx.url, '/v2?handle=p0', key, 'gzip');
    assert.deepEqual([status, control], ['MISS', 'private, no-cache']);
  }
  const version = await save([entityOf('p0', 'page', { title: 'newest' })]);
  const response = await fetch(`${nginx.url}/v2?handle=p0`, {
    headers: { 'X-Api-Key': 'commas', 'X-Service-Min-Version': version },
  });
  const { views } = (await response.json()) as { views: { p0: { title: string } } };
  assert.deepEqual([response.headers.get('x-cache-status'), views.p0.title], ['BYPASS', 'newest']);
});
