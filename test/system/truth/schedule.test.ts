/** Scheduled publishing over HTTP. It needs processes: times become due while workers run, and while none does. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { formatEntityId } from '../../../src/contract/ids.ts';
import type { JsonObject } from '../../../src/contract/json.ts';
import { keys } from '../../../src/store/keys.ts';
import { redisTimeMs } from '../../support/redis-time.ts';
import { until } from '../../support/until.ts';
import type { Answer, Client } from '../support/client.ts';
import { EventSource } from '../support/event-source.ts';
import { manage, managed } from '../support/manage.ts';
import { oneRedisOnly, System } from '../support/processes/system.ts';
import { Receiver, receiverEnvironment, verified, webhookSecret, webhookTo } from '../support/receiver.ts';
import { clientKey, environmentId, siteFiles, sourceId, sourceKey, viewIdOf } from '../support/site.ts';
import { differencesFoundByVerify } from '../support/verify.ts';

const pageSchema = {
  triggers: { cms: ['page'] },
  route: { url: '{url}', handles: ['{p.handle}'] },
  properties: { title: '{p.title}', next: { type: 'reference', alias: 'page', originId: '{p.next}' } },
};

const siteOf = (port: number) =>
  siteFiles({
    settings: { ...managed, webhooks: [webhookTo(port, 'hook')] },
    schemas: {
      page: pageSchema,
      list: {
        triggers: { cms: ['list'] },
        route: { handles: ['{originId}'] },
        properties: {
          titles: {
            type: 'array',
            input: { $lookup: { filter: "type eq 'page' and properties.list eq {originId}" } },
            items: '{item.p.title}',
          },
        },
      },
    },
    indexes: {
      pages: {
        triggers: { cms: ['page'] },
        properties: { title: '{p.title}' },
        index: { fields: { title: { type: 'text' } } },
      },
    },
  });

const previewId = '5f7de6a4-1c6b-4a1e-8a0c-3d1e0f6b9c22';
const [draftsKey, previewKey] = ['source-key-of-the-drafts', 'client-key-of-the-preview'];
/** Another tenant, with a source and an environment for drafts, as in the guide "Drafts and previews". */
const studio = siteFiles({
  tenant: 'studio',
  keyPrefix: 'studio-',
  schemas: { page: pageSchema },
  settings: {
    environments: [
      { id: environmentId, alias: 'production' },
      { id: previewId, alias: 'preview' },
    ],
    sourceGroups: [
      {
        alias: 'cms',
        sources: [
          {
            id: sourceId,
            name: 'Published',
            environments: ['production'],
            apiKeys: [`studio-${sourceKey}`],
          },
          {
            id: 'd2a1f7c3-64d5-4a7f-8b68-3a5a0a2e8b44',
            name: 'Drafts',
            environments: ['preview'],
            apiKeys: [draftsKey],
          },
        ],
      },
    ],
    environmentClients: [
      { name: 'website', environment: 'production', domains: ['site'], apiKeys: [`studio-${clientKey}`] },
      { name: 'preview', environment: 'preview', domains: ['site'], apiKeys: [previewKey] },
    ],
  },
});

const receiver = new Receiver();
let system: System;
let client: Client;

before(async () => {
  const files = { ...siteOf(await receiver.listen()), ...studio };
  system = await System.start({ web: 1, workers: 1, partitions: 4, files, env: receiverEnvironment });
  client = system.client();
});
after(async () => {
  await system.stop();
  receiver.close();
});

async function nowMs(): Promise<number> {
  return await redisTimeMs((await system.store()).client);
}

const iso = (ms: number) => new Date(ms).toISOString();
const hourMs = 3_600_000;

/**
 * Does something that must finish before a moment. If a slow machine was late, repeats it with a later moment.
 * @param isBefore returns false if the moment had already passed
 * @returns the moment
 */
async function momentAfter(isBefore: (atMs: number) => Promise<boolean>): Promise<number> {
  for (let aheadMs = 500; ; aheadMs *= 2) {
    const atMs = (await nowMs()) + aheadMs;
    if (await isBefore(atMs)) return atMs;
  }
}

async function save(...entities: readonly JsonObject[]): Promise<Answer> {
  const answer = await client.post('/ingest/v2', [...entities], { key: sourceKey });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.json.errors, {});
  return answer;
}

/** Saves entities. @returns the version of the save */
async function saved(...entities: readonly JsonObject[]): Promise<string> {
  return String((await save(...entities)).headers['x-service-version']);
}

function page(originId: string, properties: JsonObject, rest: JsonObject = {}): JsonObject {
  return { originId, type: 'page', properties: { title: originId, ...properties }, ...rest };
}

/** The view at a URL or under a handle, or null. */
async function delivered(place: string, version?: string, key = clientKey): Promise<JsonObject | null> {
  const { json, status, text } = await client.get(`/v2?${place}`, {
    key,
    ...(version !== undefined && { version }),
  });
  assert.equal(status, 200, text);
  return json.route ?? Object.values(json.views ?? {})[0] ?? null;
}

const entity = async (originId: string) => (await manage(client, `/entities/cms/${originId}`)).json;

test('schedule: an invalid time, or an end before the start, is an error of its member', async () => {
  const single = async (body: JsonObject, headers: Record<string, string> = {}) =>
    await client.post('/ingest/v2/refused', body, { key: sourceKey, headers });
  const simplified = { type: 'page', properties: {} };
  for (const time of ['2027-01-04', '2027-01-04T09:00', '2027-02-30T09:00Z', 'tomorrow', '', 5]) {
    const { status, json } = await single({ ...simplified, publishAt: time });
    assert.equal(status, 422, String(time));
    assert.deepEqual(Object.keys(json.errors), ['publishAt']);
  }
  const order = { publishAt: '2027-01-04T10:00+01:00', unpublishAt: '2027-01-04T09:00Z' };
  const { json } = await single({ ...simplified, ...order });
  assert.deepEqual(json.errors, { unpublishAt: '`unpublishAt` must be after `publishAt`' });
  const raw = await single({}, { 'X-Service-Type': 'page', 'X-Service-Unpublish-At': 'never' });
  assert.deepEqual(Object.keys(raw.json.errors), ['unpublishAt']);
  const bulk = await client.post(
    '/ingest/v2',
    [page('good', {}), page('bad', {}, order), page('worse', {}, { publishAt: 'x', unpublishAt: 'y' })],
    { key: sourceKey },
  );
  assert.deepEqual(bulk.json.changedSourceEntities, ['good']);
  assert.deepEqual(
    Object.entries(bulk.json.errors).map(([id, texts]) => [id, (texts as string[]).length]),
    [
      ['bad', 1],
      ['worse', 2],
    ],
  );
});

test('schedule: times are compared as instants, and a save without them clears them', async () => {
  const at = (publishAt: string | null) => page('same', {}, { publishAt });
  const outcome = async (body: JsonObject) => (await save(body)).json.changedSourceEntities.length;
  assert.equal(await outcome(at('2099-01-04T09:00+01:00')), 1);
  assert.equal(await outcome(at('2099-01-04T08:00:00.000Z')), 0);
  const { publishAt, unpublishAt, state } = await entity('same');
  assert.deepEqual([publishAt, unpublishAt, state], ['2099-01-04T08:00:00.000Z', null, 'waiting']);
  assert.equal(await outcome(page('same', {}, { publishAt: null })), 1);
  assert.equal(await outcome(page('same', {})), 0);
  assert.deepEqual((await entity('same')).state, 'published');
  const headers = { 'X-Service-Type': 'page', 'X-Service-Publish-At': '2099-01-04T09:00Z' };
  await client.post('/ingest/v2/same', { title: 'raw' }, { key: sourceKey, headers });
  assert.equal((await entity('same')).publishAt, '2099-01-04T09:00:00.000Z');
});

test('schedule: an entity is visible to management only, then to everyone, then to management only', async () => {
  await save(
    { originId: 'news', type: 'list', properties: {} },
    page('first', { next: 'timed' }, { url: '/first' }),
  );
  const { offset } = (await client.get('/changes/v1?since=now', { key: clientKey })).json;
  const [inAnHour, afterwards] = [iso((await nowMs()) + hourMs), iso((await nowMs()) + 2 * hourMs)];
  const timed = (publishAt: string, unpublishAt: string) =>
    page('timed', { list: 'news', handle: 'timed' }, { url: '/timed', publishAt, unpublishAt });
  const version = await saved(timed(inAnHour, afterwards));

  assert.equal(await delivered('url=/timed', version), null);
  assert.equal(await delivered('handle=timed', version), null);
  assert.deepEqual(await delivered('handle=news', version), { titles: [] });
  assert.equal((await delivered('url=/first', version))?.next, null);
  const waiting = await entity('timed');
  assert.deepEqual(
    [waiting.state, waiting.publishAt, waiting.unpublishAt],
    ['waiting', inAnHour, afterwards],
  );
  assert.deepEqual(waiting.made, []);
  const { json: schedule } = await manage(client, '/schedule?first=1');
  const { scheduled } = schedule;
  assert.deepEqual(scheduled, [
    {
      sourceGroup: 'cms',
      environment: 'production',
      originId: 'timed',
      type: 'page',
      at: inAnHour,
      becomes: 'published',
    },
  ]);
  const explained = await manage(client, `/explain/view?id=${encodeURIComponent(viewIdOf('timed'))}`);
  assert.equal(explained.status, 404);
  assert.match(explained.json.message, new RegExp(`is waiting to be published at ${inAnHour}`));
  const { shows } = (await manage(client, `/explain/view?id=${encodeURIComponent(viewIdOf('first'))}`)).json;
  const shown = { viewId: viewIdOf('timed'), paths: ['next'], missing: true };
  assert.deepEqual(shows, [{ ...shown, scheduled: { at: inAnHour, becomes: 'published' } }]);
  const url = await manage(client, '/explain/url?url=/timed');
  assert.match(JSON.stringify(url.json.steps), new RegExp(`page of timed will be published at ${inAnHour}`));
  const preview = await manage(client, '/preview', { body: { schema: 'page', originId: 'timed' } });
  assert.equal(preview.json.view.title, 'timed');
  const stateOf = async (state: string) =>
    (await manage(client, `/entities?sourceGroup=cms&type=page&state=${state}`)).json.entities.map(
      (one: { originId: string }) => one.originId,
    );
  assert.ok((await stateOf('waiting')).includes('timed'));
  assert.equal((await manage(client, '/entities?sourceGroup=cms&state=soon')).status, 422);

  const from = await momentAfter(async (atMs) => {
    const version = await saved(timed(iso(atMs), afterwards));
    return (await delivered('url=/timed', version)) === null;
  });
  await until('it is published', async () => (await delivered('url=/timed')) !== null);
  assert.ok((await nowMs()) >= from, 'not before its moment');
  await until(
    'it is listed',
    async () => JSON.stringify(await delivered('handle=news')) === '{"titles":["timed"]}',
  );
  assert.match(JSON.stringify(await delivered('url=/first')), /"next":\{"title":"timed"/);
  const because = async (originId: string, alias: string) =>
    (await manage(client, `/explain/view?id=${encodeURIComponent(viewIdOf(originId, alias))}`)).json.built
      .because;
  assert.deepEqual(await because('timed', 'page'), { kind: 'schedule' });
  assert.deepEqual(await because('news', 'list'), {
    kind: 'lookup',
    entityId: formatEntityId({ sourceId, originId: 'timed' }),
  });
  assert.ok((await stateOf('published')).includes('timed'));

  const end = await momentAfter(async (atMs) => {
    const version = await saved(timed(iso(from), iso(atMs)));
    return (await delivered('handle=timed', version)) !== null;
  });
  await until('it is over', async () => (await delivered('handle=timed')) === null);
  assert.ok((await nowMs()) >= end, 'not before its moment');
  await until(
    'it is no longer listed',
    async () => JSON.stringify(await delivered('handle=news')) === '{"titles":[]}',
  );
  assert.equal((await delivered('url=/first'))?.next, null);
  assert.deepEqual([(await entity('timed')).state, (await entity('timed')).made], ['over', []]);
  const { json: changes } = await client.get(`/changes/v1?since=${offset}`, { key: clientKey });
  const reported = changes.changes.filter((one: { originId: string }) => one.originId === 'timed');
  assert.deepEqual(
    reported.map((one: { action: string }) => one.action),
    ['removed'],
  );
  assert.deepEqual(await differencesFoundByVerify(system), []);
});

/** Everything that can show the page /offer or its redirect, in its current state. */
async function shownOfOffer(version: string) {
  const access = { key: clientKey, version };
  const search = { search: { field: 'title', value: 'offer' } };
  const viewId = viewIdOf('offer');
  const [index, autoIndex, one, redirect, ids, routes, sitemap, entities] = await Promise.all([
    client.post('/v1/pages', search, access),
    client.post('/v1/sourceGroupAlias/cms/type/page', search, access),
    client.get('/v2?url=/offer', access),
    client.get('/v2?url=/old-offer', access),
    client.post('/v2', { ids: [viewId] }, access),
    client.get('/routes/v2', access),
    client.get('/routes/v2?format=sitemap&base=https://www.example.com', access),
    client.get('/ingest/entities?type=page', { key: sourceKey, version }),
  ]);
  const urls = (routes.json.results as { url: string }[]).map(({ url }) => url);
  assert.ok(entities.json.originIds.includes('offer'), 'ingest always lists it');
  return {
    items: [index.json.totalResults, autoIndex.json.totalResults],
    statuses: [one.json.meta.status, redirect.json.meta.status],
    caching: one.headers['cache-control'],
    views: Object.keys(ids.json.views).length,
    routes: urls.filter((url) => url.includes('offer')),
    isInSitemap: sitemap.text.includes('https://www.example.com/offer<'),
    etag: String(one.headers.etag),
  };
}

test('schedule: items, routes, sitemap, redirects, live answers, webhooks, feed and cached answers follow each change of state', async () => {
  const shown = { items: [1, 1], statuses: [200, 301], caching: 'private, no-cache', views: 1 };
  const there = { ...shown, routes: ['/offer', '/old-offer'], isInSitemap: true };
  const hidden = { items: [0, 0], statuses: [404, 404], caching: 'no-store', views: 0 };
  const gone = { ...hidden, routes: [], isInSitemap: false };
  const { offset } = (await client.get('/changes/v1?since=now', { key: clientKey })).json;
  const live = new EventSource(`${system.url()}/v2?url=/offer`, {
    'X-Api-Key': clientKey,
    Accept: 'text/event-stream',
  });
  const offer = (fromMs: number) =>
    page('offer', { handle: 'offer' }, { url: '/offer', redirects: ['/old-offer'], publishAt: iso(fromMs) });
  const version = await saved(offer((await nowMs()) + hourMs));
  const { etag: before, ...first } = await shownOfOffer(version);
  assert.deepEqual(first, gone);
  const from = (await nowMs()) + 500;
  await save(offer(from));
  await until('it is published', async () => (await delivered('url=/offer')) !== null);
  const { etag: meanwhile, ...second } = await shownOfOffer(version);
  assert.deepEqual(second, there);
  const asked = async (etag: string) =>
    (await client.get('/v2?url=/offer', { key: clientKey, headers: { 'If-None-Match': etag } })).status;
  assert.deepEqual([await asked(before), await asked(meanwhile)], [200, 304]);
  const { json: page1 } = await client.get(`/changes/v1?since=${offset}`, { key: clientKey });
  await save({ ...offer(from), unpublishAt: iso((await nowMs()) + 500) });
  await until('it is over', async () => (await delivered('url=/offer')) === null);
  const { etag: _, ...third } = await shownOfOffer(version);
  assert.deepEqual(third, gone);
  assert.deepEqual([await asked(before), await asked(meanwhile)], [304, 200]);
  const { json: page2 } = await client.get(`/changes/v1?since=${page1.offset}`, { key: clientKey });
  const reported = (changes: readonly JsonObject[]) =>
    changes
      .filter(({ originId }) => originId === 'offer')
      .map(({ action, urls, left }) => [action, urls, (left as JsonObject).urls]);
  assert.deepEqual(reported(page1.changes), [['set', ['/offer'], []]]);
  assert.deepEqual(reported(page2.changes), [['removed', [], ['/offer']]]);
  const sent = () =>
    receiver
      .at('/hook')
      .flatMap((request) =>
        reported(verified(request, webhookSecret).data.changes as unknown as JsonObject[]),
      );
  await until('the webhook has both', () => sent().length >= 2);
  assert.deepEqual(sent(), [...reported(page1.changes), ...reported(page2.changes)]);
  await live.until(() => live.events.length >= 3, 'each moment is an event');
  live.close();
  const seen = live.events.map(({ data }) => JSON.parse(data).meta.status);
  assert.deepEqual(seen, [404, 200, 404]);
});

test('schedule: a page takes over a URL at its time and returns it at the next, and its draft is visible all the time', async () => {
  const key = `studio-${clientKey}`;
  const send = async (sourceOf: string, ...entities: readonly JsonObject[]) => {
    const { json } = await client.post('/ingest/v2', [...entities], { key: sourceOf });
    assert.deepEqual(json.errors, {});
  };
  const title = async (of = key) => (await delivered('url=/home', undefined, of))?.title;
  const from = (await nowMs()) + 1500;
  const spring = page('spring', {}, { url: '/home', publishAt: iso(from) });
  await send(`studio-${sourceKey}`, page('usual', {}, { url: '/home' }));
  await until('the page is served as usual', async () => (await title()) === 'usual');
  await send(`studio-${sourceKey}`, spring);
  await send(draftsKey, page('spring', { title: 'draft' }, { url: '/home' }));
  await until('the draft is there', async () => (await title(previewKey)) === 'draft');
  await until('it takes over', async () => (await title()) === 'spring');
  assert.ok((await nowMs()) >= from, 'not before its moment');
  await send(`studio-${sourceKey}`, { ...spring, unpublishAt: iso((await nowMs()) + 500) });
  await until('it gives the URL back', async () => (await title()) === 'usual');
  assert.equal(await title(previewKey), 'draft');
});

test('schedule: however often the times of an entity change, it has one pending time, and the schedule lists it once', async () => {
  const start = (await nowMs()) + hourMs;
  const momentOf = (at: number) => iso(start + ((at * 7919) % 1000) * 1000);
  for (let round = 0; round < 20; round += 1) {
    const states = Array.from({ length: 50 }, (_, at) =>
      page('moved', { round }, { publishAt: momentOf(round * 50 + at) }),
    );
    await save(...states);
  }
  const others = Array.from({ length: 45 }, (_, at) =>
    page(`wait${at}`, {}, { publishAt: momentOf(at % 9) }),
  );
  await save(...others);
  const version = await saved(page('moved', {}, { publishAt: momentOf(3) }));
  await delivered('handle=moved', version);
  const listed: { originId: string; at: string }[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const { json } = await manage(client, `/schedule?first=7${after === '' ? '' : `&after=${after}`}`);
    listed.push(...json.scheduled);
    after = json.next;
  }
  const wanted = [...others.map(({ originId }) => originId), 'moved'];
  assert.deepEqual(
    listed
      .map(({ originId }) => originId)
      .filter((id) => /^(?:moved|wait)/.test(id))
      .sort(),
    wanted.sort(),
  );
  assert.equal(listed.find(({ originId }) => originId === 'moved')?.at, momentOf(3));
  assert.deepEqual(
    listed.map(({ at }) => at),
    listed.map(({ at }) => at).sort(),
  );
  for (const query of ['first=0', 'first=501', 'after=eyJ9'])
    assert.equal((await manage(client, `/schedule?${query}`)).status, 422, query);
  await client.call('DELETE', '/ingest/v2', { key: sourceKey, body: { originIds: wanted as string[] } });
});

test('schedule: times that become due while no worker runs are processed at startup, and claims have the age of their times', async () => {
  await save(page('before', { handle: 'prize' }));
  const both = await momentAfter(async (atMs) => {
    if (!system.process('worker.1').isRunning) await system.restart('worker.1');
    const due = page('due', { handle: 'prize' }, { publishAt: iso(atMs) });
    const version = await saved(due, page('gone', { handle: 'gone' }, { unpublishAt: iso(atMs + 1) }));
    if ((await delivered('handle=gone', version)) === null) return false;
    await system.kill('worker.1');
    return (await nowMs()) < atMs;
  });
  const late = page('late', { handle: 'prize' }, { publishAt: iso(both + 2 * hourMs) });
  await until('both moments have passed', async () => (await nowMs()) > both + 1);
  assert.notEqual(await delivered('handle=gone'), null);
  await system.restart('worker.1');
  await until('the due entity is published', async () => (await delivered('handle=prize'))?.title === 'due');
  await until('the withdrawn entity is over', async () => (await delivered('handle=gone')) === null);
  // The later publication time wins, whichever entity was saved last.
  await save(page('before', { handle: 'prize', changed: true }));
  await save(late);
  assert.deepEqual(await differencesFoundByVerify(system), []);
  assert.equal((await delivered('handle=prize'))?.title, 'due');
  await save(page('late', { handle: 'prize' }));
  await until('a cleared time publishes', async () => (await delivered('handle=prize'))?.title === 'late');
});

test('schedule: verify finds unpublished entities that are due', async () => {
  const store = await system.store();
  const inAnHour = iso((await nowMs()) + hourMs);
  await delivered('handle=lost', await saved(page('lost', { handle: 'lost' }, { publishAt: inAnHour })));
  const { scheduled } = (await manage(client, '/schedule')).json;
  assert.ok(scheduled.some((one: { originId: string }) => one.originId === 'lost'));
  assert.ok((await system.metric('millrace_scheduled_entities')) > 0);
  const tag = store.partitions.tag(store.partitions.ofEntity(sourceId, 'lost'));
  const schedule = keys.schedule(tag, 'acme', sourceId);
  const at = await momentAfter(async (atMs) => {
    const publishAt = iso(atMs);
    await delivered('handle=lost', await saved(page('lost', { handle: 'lost' }, { publishAt })));
    let removed = 0;
    for (const bound of await store.client.zrange(schedule, '0', '-1')) {
      const leaf = keys.leaf(schedule, bound);
      for (const text of await store.client.lrange(leaf, 0, -1)) {
        if (text.endsWith('lost')) removed += await store.client.lrem(leaf, 0, text);
      }
    }
    return removed > 0;
  });
  await until('its moment has passed', async () => (await nowMs()) > at);
  const differences = await differencesFoundByVerify(system);
  assert.ok(
    differences.some((one) => one.includes('lost') && one.includes('not published yet')),
    differences.join('\n'),
  );
});

test(
  'schedule: processes exit with an error once a newer version has upgraded the store',
  oneRedisOnly,
  async () => {
    const { client: redis } = await system.store();
    const format = String(await redis.hget(keys.layout, 'format'));
    const names = [...system.workers, ...system.fronts, 'jobs.1'];
    const ends = Promise.all(names.map((name) => system.process(name).ended()));
    await redis.hset(keys.layout, 'format', '99');
    assert.deepEqual(
      (await ends).map(({ code }) => code),
      names.map(() => 1),
    );
    for (const name of names) assert.match(system.process(name).output, /this store has format 99/);
    await redis.hset(keys.layout, 'format', format);
  },
);
