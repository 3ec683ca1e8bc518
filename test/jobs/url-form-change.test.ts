/** What is kept of a view that cannot be made goes along when its tenant's URLs change their form. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileCode } from '../../src/config/code/compile-code.ts';
import { hashKeys } from '../../src/config/documents/canonical.ts';
import { loadConfiguration } from '../../src/config/documents/load.ts';
import { readLayouts } from '../../src/store/configuration/layouts.ts';
import { publishConfiguration } from '../../src/store/configuration/published-configuration.ts';
import { keys } from '../../src/store/keys.ts';
import { TestRedis } from '../support/redis.ts';
import { environmentId, Platform, page, siteTenant, tenant } from './support/platform.ts';

const redisUrl = (await TestRedis.start()).url;

const code = `export default {
  triggers(context) { context.triggers('cms', ['page']); },
  routes({ url, originId }, context) {
    context.url(url).redirects(['/Old/' + originId, url.toUpperCase()]);
    context.handle('page-' + originId);
  },
  properties({ properties: { name, fails } }) {
    if (fails) throw new Error('no');
    return { name };
  },
};`;

async function publish(platform: Platform, caseInsensitive: boolean): Promise<number> {
  const folder = `tenants/${tenant}`;
  const documents = new Map([
    [`${folder}/tenant.json`, JSON.stringify(siteTenant({ urls: { caseInsensitive } }))],
    [`${folder}/schemas/page.full.js`, code],
  ]);
  const compiled = await compileCode(hashKeys(documents));
  const loaded = loadConfiguration(compiled.documents);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.issues));
  return await publishConfiguration(platform.store, compiled.documents, loaded.configuration);
}

async function claimed({ store }: Platform): Promise<string[]> {
  const fields = await Promise.all(
    store.partitions.tags.map((tag) => store.client.hkeys(keys.claims(tag, tenant, environmentId))),
  );
  return fields.flat().sort();
}

test('a view whose schema fails keeps its last state, and its URLs follow their form', async (context) => {
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
