/** Schemas in JavaScript that are slow or leave work behind, on a whole platform: what waits for them, and what does not. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { JsonObject } from '../../src/contract/json.ts';
import { until } from '../support/until.ts';
import type { Client } from '../system/support/client.ts';
import { System } from '../system/support/processes/system.ts';
import { clientKey, siteFiles, sourceKey } from '../system/support/site.ts';
import { differencesFoundByVerify } from '../system/support/verify.ts';

/** Generous, for a busy machine. */
const patienceMs = 300_000;
/** Maximum delay of another tenant's page, and of its view in JavaScript, on an idle machine. */
const jsonMs = 1_000;
const codeMs = 5_000;
/** How much longer it may take while other test files run. */
const machineFactor = Number(process.env.MILLRACE_TEST_SLOWNESS ?? 3);

const codeSchema = (type: string, lines: string, head = '') => `${head}
export default {
  triggers(context) { context.triggers('cms', ['${type}']); },
  routes(entity, context) { context.handle(entity.type + '-' + entity.originId); },
  async properties(entity, context) { ${lines} },
};`;

const jsonSchema = (type: string) => ({
  triggers: { cms: [type] },
  route: { handles: [`${type}-{originId}`] },
  properties: { n: '{p.n}' },
});

/** Takes processor time; `rounds` stay below the limit of a build. */
const spin =
  'function spin(rounds) { let n = 0; for (let i = 0; i < rounds; i += 1) n = (n * 7 + i) % 1000003; return n; }';
const slowCode = {
  'schemas/slow.full.js': codeSchema(
    'slow',
    'spin(entity.properties.rounds); return { n: entity.properties.n };',
    spin,
  ),
  'schemas/acting.full.js': `${spin}
export default {
  triggers(context) { context.triggers('cms', ['acting']); },
  actions(entity, context) { spin(entity.properties.rounds); context.reprocess('plain').byOriginId('p'); },
};`,
  'schemas/moody.full.js': codeSchema(
    'moody',
    'if (entity.properties.loops) for (;;); return { n: entity.properties.n };',
  ),
  'schemas/fresh.full.js': codeSchema('fresh', 'return { n: entity.properties.n };'),
  'schemas/asking.full.js': codeSchema(
    'asking',
    `const found = await context.lookup("properties." + entity.properties.of + " eq '" + entity.properties.is + "'");
     return { n: entity.properties.n, found: found.map((one) => one.originId) };`,
  ),
  'schemas/leaving.full.js': codeSchema(
    'leaving',
    `const on = async () => { for (;;) await null; };
     throw { __proto__: Error.prototype, get message() { on(); return 'left'; } };`,
  ),
};

let system: System;
let client: Client;
/** Rounds of `spin` that take about 400 ms of processor time on this machine. */
let rounds = 0;

before(async () => {
  system = await System.start({
    web: 1,
    workers: 1,
    jobs: 1,
    // All tenants share it.
    partitions: 1,
    files: {
      ...siteFiles({
        tenant: 'good',
        schemas: { plain: jsonSchema('plain') },
        code: { 'schemas/card.full.js': codeSchema('card', 'return { n: entity.properties.n };') },
      }),
      ...siteFiles({
        tenant: 'evil',
        keyPrefix: 'evil-',
        schemas: { plain: jsonSchema('plain') },
        code: slowCode,
      }),
    },
  });
  client = system.client();
  const calibration = 3e7;
  const startedMs = process.cpuUsage().user;
  let n = 0;
  for (let i = 0; i < calibration; i += 1) n = (n * 7 + i) % 1000003;
  assert.ok(n >= 0);
  rounds = Math.floor((calibration * 400_000) / (process.cpuUsage().user - startedMs));
});
after(() => system.stop());

const prefixes = { good: '', evil: 'evil-' };
type TenantName = keyof typeof prefixes;

async function save(tenant: TenantName, type: string, originId: string, properties: JsonObject) {
  const key = `${prefixes[tenant]}${sourceKey}`;
  const answer = await client.post(`/ingest/v2/${originId}`, { type, properties }, { key });
  assert.equal(answer.status, 200, answer.text);
  return String(answer.headers['x-service-version']);
}

async function read(tenant: TenantName, handle: string, version = '') {
  const key = `${prefixes[tenant]}${clientKey}`;
  const headers = version === '' ? {} : { 'X-Service-Min-Version': version };
  const answer = await client.get(`/v2?handle=${handle}`, { key, headers });
  const view: JsonObject | null = answer.status === 200 ? (answer.json.views[handle] ?? null) : null;
  return { status: answer.status, view, retryAfter: answer.headers['retry-after'] };
}

/** @returns milliseconds until the view shows `n` */
async function seenAfter(tenant: TenantName, type: string, originId: string, n: string): Promise<number> {
  const startMs = performance.now();
  await until(
    `${type}-${originId} shows ${n}`,
    async () => (await read(tenant, `${type}-${originId}`)).view?.n === n,
    patienceMs,
  );
  return performance.now() - startMs;
}

/** Repeats a read with a version while it is 503. @returns the view of the 200 */
async function readWith(tenant: TenantName, handle: string, version: string): Promise<JsonObject | null> {
  let view: JsonObject | null = null;
  await until(
    `the version of ${handle} is visible`,
    async () => {
      const answer = await read(tenant, handle, version);
      if (answer.status === 503) assert.ok(answer.retryAfter !== undefined);
      else assert.equal(answer.status, 200);
      view = answer.view;
      return answer.status === 200;
    },
    patienceMs,
  );
  return view;
}

test('slow builds: pages of other tenants, and pages without code of the same tenant, do not wait for them', async (context) => {
  await seenAfterSave('good', 'plain', 'p', 'first');
  await seenAfterSave('good', 'card', 'c', 'first');
  const slow = Array.from({ length: 20 }, (_, number) => `s${number}`);
  for (const originId of slow) await save('evil', 'slow', originId, { n: originId, rounds });
  const figures: Record<string, number[]> = { json: [], own: [], code: [] };
  for (let round = 0; round < 5; round += 1) {
    figures.json?.push(await seenAfterSave('good', 'plain', 'p', `json ${round}`));
    figures.own?.push(await seenAfterSave('evil', 'plain', 'p', `own ${round}`));
    figures.code?.push(await seenAfterSave('good', 'card', 'c', `code ${round}`));
  }
  const last = await read('evil', `slow-${slow.at(-1)}`);
  assert.equal(last.view, null, 'the slow builds are still running');
  const worst = (name: string) => Math.round(Math.max(...(figures[name] ?? [])));
  context.diagnostic(
    `another tenant's JSON page ${worst('json')} ms, the own JSON page ${worst('own')} ms, another tenant's view in JavaScript ${worst('code')} ms`,
  );
  assert.ok(worst('json') < machineFactor * jsonMs);
  assert.ok(worst('own') < machineFactor * jsonMs);
  assert.ok(worst('code') < machineFactor * codeMs);
});

async function seenAfterSave(tenant: TenantName, type: string, originId: string, n: string): Promise<number> {
  await save(tenant, type, originId, { n });
  return await seenAfter(tenant, type, originId, n);
}

test('slow builds: a read with a version waits for them too, and their outputs are built', async () => {
  const version = await save('evil', 'slow', 's0', { n: 'changed', rounds });
  const { status, view } = await read('evil', 'slow-s0', version);
  assert.ok(status === 503 || view?.n === 'changed', `${status} ${JSON.stringify(view)}`);
  assert.equal((await readWith('evil', 'slow-s0', version))?.n, 'changed');
  // The version covers everything that its front wrote before.
  assert.equal((await read('evil', 'slow-s19')).view?.n, 's19');
});

test('slow actions: pages of other tenants do not wait for them', async () => {
  for (let number = 0; number < 10; number += 1) await save('evil', 'acting', `a${number}`, { rounds });
  assert.ok((await seenAfterSave('good', 'plain', 'p', 'while they act')) < machineFactor * jsonMs);
  const version = await save('evil', 'plain', 'p', { n: 'after them' });
  assert.equal((await readWith('evil', 'plain-p', version))?.n, 'after them');
});

test('slow builds: if a worker is killed during them, all outputs are still built', async () => {
  const slow = Array.from({ length: 6 }, (_, number) => `k${number}`);
  let version = '';
  for (const originId of slow) version = await save('evil', 'slow', originId, { n: originId, rounds });
  await seenAfterSave('good', 'plain', 'p', 'before the end');
  await system.kill('worker.1');
  await system.restart('worker.1');
  await system.ready();
  assert.equal((await readWith('evil', 'slow-k5', version))?.n, 'k5');
  for (const originId of slow) assert.equal((await read('evil', `slow-${originId}`)).view?.n, originId);
  // The following tests rebuild everything, some of it twice, so a few slow entities are enough.
  await removeAll('evil', [...slow.slice(1), ...ids('s', 20), ...ids('a', 10)]);
});

const ids = (letter: string, count: number) =>
  Array.from({ length: count }, (_, number) => `${letter}${number}`);

async function removeAll(tenant: TenantName, originIds: readonly string[]): Promise<void> {
  const key = `${prefixes[tenant]}${sourceKey}`;
  for (const originId of originIds) {
    const answer = await client.delete(`/ingest/v2/${originId}`, { key });
    assert.equal(answer.status, 200, answer.text);
  }
}

test('slow builds: if a schema fails for one entity, its other entities, and schemas never run before, are built', async () => {
  const bad = await save('evil', 'moody', 'bad', { loops: true });
  await readWith('evil', 'moody-bad', bad);
  const good = await save('evil', 'moody', 'fine', { n: 1 });
  assert.deepEqual(await readWith('evil', 'moody-fine', good), { n: 1 });
  const fresh = await save('evil', 'fresh', 'new', { n: 2 });
  assert.deepEqual(await readWith('evil', 'fresh-new', fresh), { n: 2 });
  const mended = await save('evil', 'moody', 'bad', { n: 3 });
  assert.deepEqual(await readWith('evil', 'moody-bad', mended), { n: 3 });
});

test('slow builds: the first build that reads a property at run time is awaited, or the read is 503', async () => {
  await save('evil', 'plain', 'red', { n: 'red', colour: 'red' });
  const asked = await save('evil', 'asking', 'q', { n: 1, of: 'colour', is: 'red' });
  assert.deepEqual(await readWith('evil', 'asking-q', asked), { n: 1, found: ['red'] });
  // An existing view shows its old state until the index of another property is complete.
  const again = await save('evil', 'asking', 'q', { n: 2, of: 'size', is: 'large' });
  assert.deepEqual(await readWith('evil', 'asking-q', again), { n: 2, found: [] });
});

test('slow builds: code that continues after its build does not delay views of another tenant', async () => {
  for (let number = 0; number < 3; number += 1) {
    await save('evil', 'leaving', `l${number}`, { number });
    assert.ok((await seenAfterSave('good', 'card', 'c', `beside ${number}`)) < machineFactor * codeMs);
  }
});

test('slow builds: verify finds no differences', async () => {
  assert.deepEqual(await differencesFoundByVerify(system), []);
});
