/** Malicious schemas on a whole platform: they may harm themselves, but no other tenant. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../../src/contract/json.ts';
import { readProcessed } from '../../src/store/derived/processed.ts';
import { readOwners } from '../../src/store/ownership/owners.ts';
import { until } from '../support/until.ts';
import type { Client } from '../system/support/client.ts';
import { System } from '../system/support/processes/system.ts';
import { clientKey, siteFiles, sourceId, sourceKey } from '../system/support/site.ts';
import { differencesFoundByVerify } from '../system/support/verify.ts';
import { escapes } from './support/escapes.ts';

/** Generous, for a busy machine. */
const patienceMs = 120_000;
const secret = 'a-secret-of-the-environment';

/** Bodies of `properties(entity, context)`, and their outcomes: a view, or the message of a failure. */
const harmful: Readonly<Record<string, readonly [lines: string, outcome: JsonObject | RegExp]>> = {
  logs: [
    'for (let n = 0; n < 20_000; n += 1) console.log("x".repeat(100), { n }); return { a: 1 };',
    { a: 1 },
  ],
  printsLines: [`return { a: '\\n{"kind":"made"}\\n' };`, { a: '\n{"kind":"made"}\n' }],
  rejects: ['Promise.reject(new Error("nobody waits")); return { a: 1 };', { a: 1 }],
  pollutesGlobals: ['globalThis.n = (globalThis.n ?? 0) + 1; return { n: globalThis.n };', { n: 1 }],
  pollutesPrototypes: ['Object.prototype.polluted = 1; return {};', /Cannot (?:add|assign)|not extensible/],
  pollutesArrays: ['Array.prototype.map = () => []; return {};', /Cannot assign/],
  pollutesContext: ['context.lookup = () => []; return {};', /Cannot assign/],
  recurses: ['const f = () => 1 + f(); return { a: f() };', /call stack/],
  changesItsId: [
    'entity.originId = { toJSON() { throw 1; } }; return { n: 1, self: context.reference("none").self() };',
    { n: 1, self: null },
  ],
  throws: ['throw new Error("on purpose");', /^on purpose$/],
  throwsOddly: [
    'throw new Proxy({}, { get() { throw 1; }, getPrototypeOf() { throw 2; } });',
    /cannot be read/,
  ],
  neverSettles: ['await new Promise(() => {}); return {};', /never settles/],
  neverSettlesInside: ['return { a: [new Promise(() => {})] };', /never settles/],
  huge: ['return { a: "x".repeat(20_000_000) };', /more than \d+ characters/],
  nested: ['let a = {}; for (let n = 0; n < 1e5; n += 1) a = { a }; return a;', /more than 100 levels/],
  asksOnAndOn: [
    `for (let n = 0; n < 1e6; n += 1) await context.lookup("originId eq '" + n + "'"); return {};`,
    /lookups one after the other/,
  ],
  asksForTooMany: [
    `for (let n = 0; n < 50_000; n += 1) context.lookup("originId eq 'x" + n + "'").toPromise(); return {};`,
    /makes more than 5000 lookups/,
  ],
  loops: ['for (;;);', /processor time/],
  loopsInPattern: ['return { a: /^(a+)+$/.test("a".repeat(40) + "b") };', /processor time/],
  loopsInResult: ['return new Proxy({}, { ownKeys() { for (;;); } });', /processor time/],
  allocates: ['const all = []; for (;;) all.push(new Array(1e5).fill(1.5));', /memory|processor time/],
};

/** @param before precedes the schema in its file */
const schemaOf = (type: string, lines: string, before = '') => `${before}
export default {
  triggers(context) { context.triggers('cms', ['${type}']); },
  routes(entity, context) { context.handle(entity.type + '-' + entity.originId); },
  async properties(entity, context) { ${lines} },
};`;

const harmfulCode = Object.fromEntries(
  Object.entries(harmful).map(([name, [lines]]) => [`schemas/${name}.full.js`, schemaOf(name, lines)]),
);
/** For a separate tenant, because schemas that have not run yet wait for the other schemas of their tenant. */
const otherCode = {
  'schemas/moody.full.js': schemaOf(
    'moody',
    'if (entity.properties.loops) for (;;); return { n: entity.properties.n };',
  ),
  'schemas/escapes.full.js': schemaOf(
    'escapes',
    `const out = {};
    for (const [name, attempt] of attempts) {
      try { out[name] = describe(await attempt(entity, context)); } catch (error) { out[name] = 'threw'; }
    }
    return out;`,
    escapes,
  ),
};

const goodPage = {
  triggers: { cms: ['page'] },
  route: { handles: ['{originId}'] },
  properties: { n: '{p.n}' },
};
const goodCode = {
  'schemas/card.full.ts': `import type { FullSchema } from 'millrace/schema';
export default {
  triggers: (context) => context.triggers('cms', ['page']),
  routes: (entity, context) => context.handle('card-' + entity.originId),
  properties: (entity) => ({ n: entity.properties.n, polluted: typeof ({}).polluted + typeof globalThis.polluted }),
} satisfies FullSchema;`,
};

let system: System;
let client: Client;

before(async () => {
  system = await System.start({
    web: 1,
    workers: 1,
    jobs: 0,
    // All tenants share it.
    partitions: 1,
    env: { SECRET_OF_THE_ENVIRONMENT: secret },
    files: {
      ...siteFiles({ tenant: 'good', schemas: { page: goodPage }, code: goodCode }),
      ...siteFiles({ tenant: 'evil', keyPrefix: 'evil-', code: harmfulCode }),
      ...siteFiles({ tenant: 'odd', keyPrefix: 'odd-', code: otherCode }),
    },
  });
  client = system.client();
});
after(() => system.stop());

type TenantName = keyof typeof prefixes;
const prefixes = { good: '', evil: 'evil-', odd: 'odd-' };

async function save(
  tenant: TenantName,
  originId: string,
  type: string,
  properties: JsonObject,
): Promise<string> {
  const key = `${prefixes[tenant]}${sourceKey}`;
  const answer = await client.post(`/ingest/v2/${originId}`, { type, properties }, { key });
  assert.equal(answer.status, 200, answer.text);
  return String(answer.headers['x-service-version']);
}

async function viewAt(tenant: TenantName, handle: string, version = ''): Promise<JsonObject | undefined> {
  const key = `${prefixes[tenant]}${clientKey}`;
  let found: JsonObject | undefined;
  await until(
    `the version of ${handle} is visible`,
    async () => {
      const headers = version === '' ? {} : { 'X-Service-Min-Version': version };
      const { status, json } = await client.get(`/v2?handle=${encodeURIComponent(handle)}`, { key, headers });
      if (status === 503) return false;
      found = json.views[handle];
      return true;
    },
    patienceMs,
  );
  return found;
}

/** Why the last build of an entity's view produced nothing. */
async function failureOf(originId: string): Promise<string | undefined> {
  const store = await system.store();
  const [record] = await readProcessed(store, store.partitions.tag(0), 'evil', sourceId, [originId]);
  return record?.outputs.find(({ kind }) => kind === 'view')?.failure?.message;
}

/** Acts as the other tenant: its writes must become visible, and its requests answered. @returns rounds, and the longest */
async function live(isRunning: () => boolean): Promise<string> {
  let [rounds, longestMs] = [0, 0];
  for (; isRunning() || rounds === 0; rounds += 1) {
    const startMs = performance.now();
    const version = await save('good', 'p', 'page', { n: `${rounds}` });
    const about = `round ${rounds}`;
    assert.deepEqual(await viewAt('good', 'p', version), { n: `${rounds}` }, about);
    assert.deepEqual(
      await viewAt('good', 'card-p', version),
      { n: `${rounds}`, polluted: 'undefinedundefined' },
      about,
    );
    const { status, json } = await client.post('/v1/sourceGroupAlias/cms/type/page', {}, { key: clientKey });
    assert.equal(status, 200);
    assert.equal(json.totalResults, 1);
    longestMs = Math.max(longestMs, performance.now() - startMs);
    await sleep(20);
  }
  return `${rounds} rounds, the longest of ${Math.round(longestMs)} ms`;
}

test('code schemas: whatever the schemas of one tenant do, another tenant of the same partition is served', async (context) => {
  await live(() => false);
  const store = await system.store();
  const epochs = async () => (await readOwners(store)).map(({ epoch, workerId }) => [epoch, workerId]);
  const [before_, pid] = [await epochs(), system.process('worker.1').pid];
  let isOver = false;
  const living = live(() => !isOver);
  try {
    for (const name of Object.keys(harmful)) await save('evil', `e-${name}`, name, { n: 1 });
    for (const [name, [, outcome]] of Object.entries(harmful)) {
      const handle = `${name}-e-${name}`;
      if (outcome instanceof RegExp) {
        const failed = async () => outcome.test((await failureOf(`e-${name}`)) ?? '');
        await until(`the failure of ${name}, ${outcome}`, failed, patienceMs);
        assert.equal(await viewAt('evil', handle), undefined, name);
      } else {
        await until(`the view ${name}`, async () => (await viewAt('evil', handle)) !== undefined, patienceMs);
        assert.deepEqual(await viewAt('evil', handle), outcome, name);
      }
    }
  } finally {
    isOver = true;
  }
  context.diagnostic(`the other tenant: ${await living}`);
  assert.deepEqual(await epochs(), before_, 'no lease was lost');
  assert.equal(system.process('worker.1').pid, pid);
});

test('code schemas: outputs missed by a stopped schema are built automatically, without another change', async () => {
  await save('odd', 'loops', 'moody', { loops: true });
  for (const number of [1, 2, 3]) await save('odd', `fine${number}`, 'moody', { n: number });
  for (const number of [1, 2, 3]) {
    const isThere = async () => (await viewAt('odd', `moody-fine${number}`))?.n === number;
    await until(`the view of fine${number}`, isThere, patienceMs);
  }
});

test('code schemas: nothing outside of a schema is accessible', async () => {
  const version = await save('odd', 'x', 'escapes', { text: 'x' });
  let found: JsonObject | undefined;
  await until(
    'the attempts are made',
    async () => {
      found = await viewAt('odd', 'escapes-x', version);
      return found !== undefined;
    },
    patienceMs,
  );
  const text = JSON.stringify(found);
  assert.ok(Object.keys(found ?? {}).length > 30, text);
  for (const leaked of [secret, 'redis://', system.configDir, String(system.process('worker.1').pid)]) {
    assert.ok(!text.includes(leaked), leaked);
  }
  const got = Object.entries(found ?? {}).filter(([, what]) => what !== 'threw' && what !== 'undefined');
  assert.deepEqual(got, []);
});

test('code schemas: verify finds no differences, and a restarted worker runs the schemas again', async () => {
  await system.kill('worker.1');
  await system.restart('worker.1');
  await system.ready();
  await live(() => false);
  assert.deepEqual(await differencesFoundByVerify(system), []);
});
