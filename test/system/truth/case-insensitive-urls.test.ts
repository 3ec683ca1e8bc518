/** `urls.caseInsensitive`: its meaning, and that readers notice no interruption while it changes. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { rebuildJobs, rebuildState } from '../../../src/jobs/rebuild-job-queue.ts';
import { readLayouts } from '../../../src/store/configuration/layouts.ts';
import { until } from '../../support/until.ts';
import type { Client } from '../support/client.ts';
import { type ConfigFiles, System } from '../support/processes/system.ts';
import { clientKey, siteFiles, sourceKey } from '../support/site.ts';
import { differencesFoundByVerify } from '../support/verify.ts';

const stayed = 300;
/** Pause of a reader, because a reader without pauses takes the processor time of what it watches. */
const restMs = 20;
const schemas = {
  page: {
    triggers: { cms: ['page'] },
    route: { url: '{url}', handles: ['{p.Handle}'] },
    properties: { name: '{p.name}' },
  },
};

function files(caseInsensitive: boolean): ConfigFiles {
  const domains = [{ alias: 'site', hostnames: ['*', 'www.example.com'] }];
  return siteFiles({ schemas, settings: { domains, urls: { caseInsensitive } } });
}

let system: System;
let fronts: Client[];
let headers: Record<string, string> = {};
before(async () => {
  system = await System.start({ web: 2, workers: 2, jobs: 1, partitions: 4, files: files(false) });
  fronts = system.fronts.map((name) => system.client(name));
  for (let at = 0; at < stayed; at += 50) {
    await save(
      ...Array.from({ length: 50 }, (_, index) => page(`stay${at + index}`, `/Stay/Page-${at + index}`)),
    );
  }
  await save(page('older', '/About-Us', { redirects: ['/Old-Page'] }));
  await save(page('newer', '/about-us'));
  // A later change of the entity does not make its claim younger.
  await save(page('older', '/About-Us', { redirects: ['/Old-Page'], properties: { name: 'older', n: 2 } }));
  await save(page('dane', '/Ærø/Færge'), page('host', 'https://www.example.com/On-Host'));
  await save(page('handle', null, { properties: { name: 'handle', Handle: 'Main-Menu' } }));
});
after(() => system?.stop());

function page(originId: string, url: string | null, more: JsonObject = {}): JsonObject {
  return { originId, type: 'page', url, properties: { name: originId }, ...more };
}

async function save(...entities: JsonObject[]): Promise<void> {
  const saved = await client().post('/ingest/v2', entities, { key: sourceKey });
  assert.deepEqual([saved.status, saved.json.errors], [200, {}], saved.text);
  headers = { 'X-Service-Min-Version': String(saved.headers['x-service-version']) };
}

function client(at = 0): Client {
  const found = fronts[at];
  assert.ok(found);
  return found;
}

/** The view on a URL as each front returns it: its name, the target of its redirect, or its status. */
async function served(url: string): Promise<string | number> {
  const answers = await Promise.all(
    fronts.map(async (front) => {
      const { json } = await front.get(`/v2?url=${encodeURIComponent(url)}`, { key: clientKey, headers });
      return json.route?.name ?? json.meta.redirect ?? json.meta.status;
    }),
  );
  assert.equal(new Set(answers).size, 1, `${url}: ${answers}`);
  return answers[0];
}

async function servedOn(urls: readonly string[]): Promise<Record<string, string | number>> {
  const entries = await Promise.all(urls.map(async (url) => [url, await served(url)] as const));
  return Object.fromEntries(entries);
}

async function routes(at = 0): Promise<{ url: string; redirect: string | null }[]> {
  const { json } = await client(at).get('/routes/v2', { key: clientKey });
  return json.results.map(({ url, redirect }: { url: string; redirect: Json }) => ({ url, redirect }));
}

const urlsOfRoutes = async () =>
  (await routes()).map(({ url }) => url).filter((url) => !url.startsWith('/Stay/'));

/** Reads continuously until stopped. @returns responses that a reader must not see */
function watch(): () => Promise<string[]> {
  const seen: string[] = [];
  let isOver = false;
  const read = async (at: number) => {
    for (let turn = at; !isOver; turn += 7) {
      const number = turn % stayed;
      const { json, status } = await client(at).get(`/v2?url=/Stay/Page-${number}`, { key: clientKey });
      if (json.route?.name !== `stay${number}`)
        seen.push(`front ${at}: page ${number} was ${status} ${JSON.stringify(json)}`);
      const about = await client(at).get('/v2?url=/About-Us', { key: clientKey });
      if (!['older', 'newer'].includes(about.json.route?.name)) seen.push(`/About-Us was ${about.text}`);
      await sleep(restMs);
    }
  };
  const list = async (at: number) => {
    while (!isOver) {
      const listed = new Set((await routes(at)).map(({ url }) => url));
      for (let number = 0; number < stayed; number += 1) {
        if (!listed.has(`/Stay/Page-${number}`)) seen.push(`front ${at}: page ${number} was not listed`);
      }
      await sleep(restMs);
    }
  };
  const readers = fronts.flatMap((_, at) => [read(at), list(at)]);
  return async () => {
    isOver = true;
    await Promise.all(readers);
    return [...new Set(seen)].slice(0, 10);
  };
}

async function formsInUse(): Promise<unknown> {
  return (await readLayouts(await system.store())).urlFormsOf('acme');
}

const insensitive = {
  '/about-us': 'newer',
  '/About-Us': 'newer',
  '/ABOUT-US/?q#f': 'newer',
  '/OLD-PAGE': '/About-Us',
  '/%C3%86R%C3%98/f%c3%a6rge': 'dane',
  '/ærø/FÆRGE': 'dane',
  'https://WWW.example.com/ON-host': 'host',
  '/on-HOST': 'host',
  '/stay/PAGE-7': 'stay7',
};

const sensitive = {
  '/about-us': 'newer',
  '/About-Us': 'older',
  '/ABOUT-US': 404,
  '/Old-Page': '/About-Us',
  '/old-page': 404,
  '/ærø/FÆRGE': 404,
  'https://www.example.com/On-Host': 'host',
  'https://www.example.com/on-host': 404,
  '/stay/PAGE-7': 404,
};

const listedRoutes = ['/About-Us', '/Old-Page', '/about-us', '/Ærø/Færge', 'https://www.example.com/On-Host'];

test('case-insensitive URLs: without the setting paths are compared exactly', async () => {
  assert.deepEqual(await servedOn(Object.keys(sensitive)), sensitive);
  assert.deepEqual(await urlsOfRoutes(), listedRoutes);
});

test('case-insensitive URLs: when switched on, paths are compared in lower case, the later claim is served, and no reader misses a page', async () => {
  const stop = watch();
  await system.apply(files(true));
  assert.deepEqual(await stop(), []);
  assert.deepEqual(await formsInUse(), { written: 'folded', read: ['folded'] });
  assert.deepEqual(await servedOn(Object.keys(insensitive)), insensitive);
  assert.deepEqual(await urlsOfRoutes(), listedRoutes.slice(1), 'as written, and only those that are served');
  const first = await client().get('/routes/v1?first=100', { key: clientKey });
  assert.equal(first.json.total, stayed + 4);
  const byHandle = await client().get('/v2?handle=Main-Menu&handle=main-menu', { key: clientKey });
  assert.deepEqual(Object.keys(byHandle.json.views), ['Main-Menu'], 'handles stay as they are');
  assert.deepEqual(await differencesFoundByVerify(system), []);
});

test('case-insensitive URLs: claims win by age, whatever their case', async () => {
  await save(page('newest', '/ABOUT-us'));
  assert.equal(await served('/about-us'), 'newest');
  await client()
    .delete('/ingest/v2/newest', { key: sourceKey })
    .then(({ headers: answered }) => {
      headers = { 'X-Service-Min-Version': String(answered['x-service-version']) };
    });
  assert.equal(await served('/about-us'), 'newer');
  await save(page('newer', '/elsewhere', { redirects: ['/ABOUT-US', '/ELSEWHERE'] }));
  assert.deepEqual(await servedOn(['/about-us', '/Elsewhere']), {
    '/about-us': 'older',
    '/Elsewhere': 'newer',
  });
  await save(page('newer', '/about-us'));
  assert.equal(await served('/About-Us'), 'newer');
  assert.deepEqual(await differencesFoundByVerify(system), []);
});

test('case-insensitive URLs: when switched off again, everything is as before, and no reader misses a page', async () => {
  const stop = watch();
  await system.apply(files(false));
  assert.deepEqual(await stop(), []);
  assert.deepEqual(await formsInUse(), { written: 'exact', read: ['exact'] });
  assert.deepEqual(await servedOn(Object.keys(sensitive)), sensitive);
  assert.deepEqual(await urlsOfRoutes(), listedRoutes);
  assert.deepEqual(await differencesFoundByVerify(system), []);
});

test('case-insensitive URLs: a worker and the jobs process killed during a conversion lose no claim, and it can be reversed', async () => {
  const generation = await system.publish(files(true));
  await Promise.all([system.kill('worker.1'), system.kill('jobs.1')]);
  await Promise.all([system.restart('worker.1'), system.restart('jobs.1')]);
  const store = await system.store();
  const queue = rebuildJobs(store);
  await until(
    'part of the rebuild is done',
    async () => (await rebuildState(store, queue, generation)).marked > 0,
  );
  await queue.close();
  await system.publish(files(false));
  const last = await system.publish(files(true));
  await Promise.all([system.kill('worker.2'), system.kill('jobs.1')]);
  await Promise.all([system.restart('worker.2'), system.restart('jobs.1')]);
  await system.rebuilt(last);
  await system.ready();
  assert.deepEqual(await formsInUse(), { written: 'folded', read: ['folded'] });
  assert.deepEqual(await servedOn(Object.keys(insensitive)), insensitive);
  assert.deepEqual(await differencesFoundByVerify(system), []);
});
