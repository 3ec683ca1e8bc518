/** Scheduled publishing over HTTP. It needs processes: moments come while workers are there, and while none is. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { formatEntityId } from '../../../src/contract/ids.ts';
import type { JsonObject } from '../../../src/contract/json.ts';
import { keys } from '../../../src/store/keys.ts';
import { redisTimeMs } from '../../support/redis-time.ts';
import { until } from '../../support/until.ts';
import type { Answer, Client } from '../support/client.ts';
import { manage, managed } from '../support/manage.ts';
import { System } from '../support/processes/system.ts';
import { clientKey, siteFiles, sourceId, sourceKey, viewIdOf } from '../support/site.ts';
import { differencesFoundByVerify } from '../support/verify.ts';

const files = siteFiles({
  settings: managed,
  schemas: {
    page: {
      triggers: { cms: ['page'] },
      route: { url: '{url}', handles: ['{p.handle}'] },
      properties: { title: '{p.title}', next: { type: 'reference', alias: 'page', originId: '{p.next}' } },
    },
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
});

let system: System;
let client: Client;

before(async () => {
  system = await System.start({ web: 1, workers: 1, jobs: 0, partitions: 4, files });
  client = system.client();
});
after(() => system.stop());

async function nowMs(): Promise<number> {
  return await redisTimeMs((await system.store()).client);
}

const iso = (ms: number) => new Date(ms).toISOString();
const hourMs = 3_600_000;

async function save(...entities: readonly JsonObject[]): Promise<Answer> {
  const answer = await client.post('/ingest/v2', [...entities], { key: sourceKey });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.json.errors, {});
  return answer;
}

function page(originId: string, properties: JsonObject, rest: JsonObject = {}): JsonObject {
  return { originId, type: 'page', properties: { title: originId, ...properties }, ...rest };
}

/** The view at a URL or under a handle; null: none. */
async function delivered(place: string, headers: Record<string, string> = {}): Promise<JsonObject | null> {
  const { json, status, text } = await client.get(`/v2?${place}`, { key: clientKey, headers });
  assert.equal(status, 200, text);
  return json.route ?? Object.values(json.views ?? {})[0] ?? null;
}

const entity = async (originId: string) => (await manage(client, `/entities/cms/${originId}`)).json;

test('ingest: a time that cannot be read, or that comes too early, is a mistake of its member', async () => {
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

test('ingest: times count for changed or unchanged as the moments they are, and a save without them clears them', async () => {
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

test('an entity is there for management alone, then for everybody, then for management again', async () => {
  await save(
    { originId: 'news', type: 'list', properties: {} },
    page('first', { next: 'timed' }, { url: '/first' }),
  );
  const { offset } = (await client.get('/changes/v1?since=now', { key: clientKey })).json;
  const [from, end] = [(await nowMs()) + 1500, (await nowMs()) + 4000];
  const times = { publishAt: iso(from), unpublishAt: iso(end) };
  const timed = page('timed', { list: 'news', handle: 'timed' }, { url: '/timed', ...times });
  const { headers } = await save(timed);
  const version = { 'X-Service-Min-Version': String(headers['x-service-version']) };

  assert.equal(await delivered('url=/timed', version), null);
  assert.equal(await delivered('handle=timed', version), null);
  assert.deepEqual(await delivered('handle=news', version), { titles: [] });
  assert.equal((await delivered('url=/first', version))?.next, null);
  const waiting = await entity('timed');
  assert.deepEqual([waiting.state, waiting.publishAt, waiting.unpublishAt], ['waiting', iso(from), iso(end)]);
  assert.deepEqual(waiting.made, []);
  const { json: schedule } = await manage(client, '/schedule?first=1');
  const { scheduled } = schedule;
  assert.deepEqual(scheduled, [
    {
      ...{ sourceGroup: 'cms', environment: 'production', originId: 'timed', type: 'page' },
      ...{ at: iso(from), becomes: 'published' },
    },
  ]);
  const explained = await manage(client, `/explain/view?id=${encodeURIComponent(viewIdOf('timed'))}`);
  assert.equal(explained.status, 404);
  assert.match(explained.json.message, new RegExp(`waits to be published at ${iso(from)}`));
  const url = await manage(client, '/explain/url?url=/timed');
  assert.match(
    JSON.stringify(url.json.steps),
    new RegExp(`page of timed waits to be published at ${iso(from)}`),
  );
  const preview = await manage(client, '/preview', { body: { schema: 'page', originId: 'timed' } });
  assert.equal(preview.json.view.title, 'timed');
  const stateOf = async (state: string) =>
    (await manage(client, `/entities?sourceGroup=cms&type=page&state=${state}`)).json.entities.map(
      (one: { originId: string }) => one.originId,
    );
  assert.ok((await stateOf('waiting')).includes('timed'));
  assert.equal((await manage(client, '/entities?sourceGroup=cms&state=soon')).status, 422);

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

  await until('it is over', async () => (await delivered('handle=timed')) === null);
  assert.ok((await nowMs()) >= end, 'not before its moment');
  await until(
    'it is no longer listed',
    async () => JSON.stringify(await delivered('handle=news')) === '{"titles":[]}',
  );
  assert.equal((await delivered('url=/first'))?.next, null);
  assert.deepEqual([(await entity('timed')).state, (await entity('timed')).made], ['over', []]);
  const { json: changes } = await client.get(`/changes/v1?since=${offset}`, { key: clientKey });
  const told = changes.changes.filter((one: { originId: string }) => one.originId === 'timed');
  assert.deepEqual(
    told.map((one: { action: string }) => one.action),
    ['removed'],
  );
  assert.deepEqual(await differencesFoundByVerify(system), []);
});

test('what falls due while no worker runs is done at start, and claims have the age of their moments', async () => {
  await save(page('before', { handle: 'prize' }));
  const start = await nowMs();
  await save(page('due', { handle: 'prize' }, { publishAt: iso(start + 400) }));
  await save(page('gone', { handle: 'gone' }, { unpublishAt: iso(start + 500) }));
  const late = page('late', { handle: 'prize' }, { publishAt: iso(start + 2 * hourMs) });
  await until('all are processed', async () => (await delivered('handle=gone')) !== null);
  await system.kill('worker.1');
  await until('both moments have passed', async () => (await nowMs()) > start + 600);
  assert.notEqual(await delivered('handle=gone'), null);
  await system.restart('worker.1');
  await until('due is published', async () => (await delivered('handle=prize'))?.title === 'due');
  await until('gone is over', async () => (await delivered('handle=gone')) === null);
  // The later moment wins, whatever was saved last.
  await save(page('before', { handle: 'prize', changed: true }));
  await save(late);
  assert.deepEqual(await differencesFoundByVerify(system), []);
  assert.equal((await delivered('handle=prize'))?.title, 'due');
  await save(page('late', { handle: 'prize' }));
  await until('a cleared time publishes', async () => (await delivered('handle=prize'))?.title === 'late');
});

test('verify finds what should be published and is not', async () => {
  const store = await system.store();
  const at = (await nowMs()) + 1500;
  await save(page('lost', { handle: 'lost' }, { publishAt: iso(at) }));
  const scheduled = async () =>
    (await manage(client, '/schedule')).json.scheduled.some(
      (one: { originId: string }) => one.originId === 'lost',
    );
  await until('it is scheduled', scheduled);
  assert.ok((await system.metric('millrace_scheduled_entities')) > 0);
  const tag = store.partitions.tag(store.partitions.ofEntity(sourceId, 'lost'));
  const bounds = await store.client.zrange(keys.schedule(tag, 'acme', sourceId), '0', '-1');
  for (const bound of bounds) {
    const leaf = keys.leaf(keys.schedule(tag, 'acme', sourceId), bound);
    for (const text of await store.client.lrange(leaf, 0, -1)) {
      if (text.endsWith('lost')) await store.client.lrem(leaf, 0, text);
    }
  }
  await until('its moment has passed', async () => (await nowMs()) > at);
  const differences = await differencesFoundByVerify(system);
  assert.ok(
    differences.some((one) => one.includes('lost') && one.includes('not published yet')),
    differences.join('\n'),
  );
});
