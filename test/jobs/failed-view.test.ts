/** The stored state of a view that cannot be built. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileCode } from '../../src/config/code/compile-code.ts';
import { hashKeys } from '../../src/config/documents/canonical.ts';
import { loadConfiguration } from '../../src/config/documents/load.ts';
import { codePatienceMs } from '../../src/contract/limits.ts';
import { packClaim, unpackClaim } from '../../src/store/claims/claim-records.ts';
import { readLayouts } from '../../src/store/configuration/layouts.ts';
import { publishConfiguration } from '../../src/store/configuration/published-configuration.ts';
import { keys, viewField } from '../../src/store/keys.ts';
import { verify } from '../../src/verify/verification.ts';
import { TestRedis } from '../support/redis.ts';
import { environmentId, Platform, page, siteTenant, tenant } from './support/platform.ts';

const redisUrl = (await TestRedis.start()).url;

const code = `function spin(rounds) {
  let n = 0;
  for (let i = 0; i < rounds; i += 1) n = (n * 7 + i) % 1000003;
  return n;
}
export default {
  triggers(context) { context.triggers('cms', ['page']); },
  routes({ url, originId }, context) {
    context.url(url).redirects(['/Old/' + originId, url.toUpperCase()]);
    context.handle('page-' + originId);
  },
  properties({ properties: { name, fails, rounds = 0 } }) {
    if (fails) throw new Error('no');
    return spin(rounds) < 0 ? {} : { name };
  },
};`;

type Loaded = Awaited<ReturnType<typeof compile>>;
/** By whether URLs are case-insensitive. Compiling starts a process. */
const compiled = new Map<boolean, Promise<Loaded>>();

function load(caseInsensitive: boolean): Promise<Loaded> {
  const known = compiled.get(caseInsensitive) ?? compile(caseInsensitive);
  compiled.set(caseInsensitive, known);
  return known;
}

async function compile(caseInsensitive: boolean) {
  const folder = `tenants/${tenant}`;
  const documents = new Map([
    [`${folder}/tenant.json`, JSON.stringify(siteTenant({ urls: { caseInsensitive } }))],
    [`${folder}/schemas/page.full.js`, code],
  ]);
  const outcome = await compileCode(hashKeys(documents), 'configuration');
  const loaded = loadConfiguration(outcome.documents);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.issues));
  return { documents: outcome.documents, configuration: loaded.configuration };
}

async function publish({ store }: Platform, caseInsensitive: boolean): Promise<number> {
  const { documents, configuration } = await load(caseInsensitive);
  return await publishConfiguration(store, documents, configuration);
}

/** @returns what verify found, as text */
async function verified({ store }: Platform, isRepair: boolean): Promise<string[]> {
  const { configuration } = await load(false);
  const found: string[] = [];
  const onDifference = ({ subject, message }: { subject: string; message: string }) =>
    found.push(`${subject} ${message}`);
  await verify({ store, configuration, tenant: null, isRepair, onProgress: () => {}, onDifference });
  return found;
}

async function claimed({ store }: Platform): Promise<string[]> {
  const fields = await Promise.all(
    store.partitions.tags.map((tag) => store.client.hkeys(keys.claims(tag, tenant, environmentId))),
  );
  return fields.flat().sort();
}

test('failed view: a view whose schema fails keeps its last state, and its URLs follow their form', async (context) => {
  const platform = await Platform.start(context, redisUrl, 2);
  await publish(platform, false);
  await platform.startWorker();
  await platform.startJobs();
  await platform.ingest([page('p', { name: 'made' }, { url: '/Some/Page' })]);
  await platform.settle();
  const exact = ['h:page-p', 'u:/Old/p', 'u:/SOME/PAGE', 'u:/Some/Page'];
  assert.deepEqual(await claimed(platform), exact);
  await platform.ingest([page('p', { name: 'not made', fails: true }, { url: '/Some/Page' })]);
  await platform.settle();

  await platform.rebuilt(await publish(platform, true));
  assert.deepEqual((await readLayouts(platform.store)).urlFormsOf(tenant).read, ['folded']);
  assert.deepEqual(await claimed(platform), ['h:page-p', 'i:/old/p', 'i:/some/page']);
  await platform.rebuilt(await publish(platform, false));
  assert.deepEqual(await claimed(platform), ['h:page-p', 'u:/Old/p', 'u:/Some/Page']);
  assert.deepEqual(await platform.view('page', 'p'), { name: 'made' });

  await platform.ingest([page('p', { name: 'made again' }, { url: '/Some/Page' })]);
  await platform.settle();
  assert.deepEqual(await claimed(platform), exact);
});

test('failed view: a repair restores the claims of a view whose schema fails, with their age, and no others', async (context) => {
  const platform = await Platform.start(context, redisUrl, 1);
  const { store } = platform;
  await publish(platform, false);
  await platform.startWorker();
  await platform.ingest([page('p', { name: 'made' }, { url: '/Some/Page' })]);
  await platform.settle();
  await platform.ingest([page('p', { name: 'not made', fails: true }, { url: '/Some/Page' })]);
  await platform.settle();
  assert.deepEqual(await verified(platform, false), []);
  const key = keys.claims(store.partitions.tag(0), tenant, environmentId);
  const before = await store.client.hgetallBuffer(key);

  await store.client.hdel(key, 'h:page-p');
  const stored = await store.client.hgetBuffer(key, 'u:/Some/Page');
  assert.ok(stored !== null);
  const stray = { ...unpackClaim('u:/Some/Page', stored), display: '/stray' };
  await store.client.hset(key, 'u:/stray', packClaim('u:/stray', stray));
  assert.ok((await verified(platform, true)).length >= 2);
  assert.deepEqual(await verified(platform, false), []);
  assert.deepEqual(await store.client.hgetallBuffer(key), before);
});

test('failed view: a repair restores a view whose code takes longer than a batch waits', async (context) => {
  const platform = await Platform.start(context, redisUrl, 1);
  const { store } = platform;
  await publish(platform, false);
  await platform.startWorker();
  await platform.ingest([
    page('p', { name: 'slow', rounds: roundsOf(3 * codePatienceMs) }, { url: '/Slow' }),
  ]);
  await platform.settle();
  const key = keys.views(store.partitions.tag(0), tenant, environmentId, 'src-1');
  assert.equal(await store.client.hdel(key, viewField('page', 'p')), 1);
  assert.equal((await verified(platform, true)).length, 1);
  assert.deepEqual(await platform.view('page', 'p'), { name: 'slow' });
  assert.deepEqual(await verified(platform, false), []);
});

/** Rounds of the schema that take that long here. */
function roundsOf(ms: number): number {
  const rounds = 3e7;
  const before = process.cpuUsage().user;
  let n = 0;
  for (let i = 0; i < rounds; i += 1) n = (n * 7 + i) % 1000003;
  assert.ok(n >= 0);
  return Math.floor((rounds * ms * 1000) / (process.cpuUsage().user - before));
}
