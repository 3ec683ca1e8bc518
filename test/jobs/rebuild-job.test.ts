import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { buildersFor } from '../../src/actors/batch/builder.ts';
import { loadConfiguration } from '../../src/config/documents/load.ts';
import type { Json } from '../../src/contract/json.ts';
import { autoIndexedNamesMax } from '../../src/contract/limits.ts';
import { rebuildJobs, rebuildState } from '../../src/jobs/rebuild-job-queue.ts';
import { countRoutes } from '../../src/store/claims/routes.ts';
import { digestOf } from '../../src/store/codec/digest.ts';
import { readGenerations } from '../../src/store/configuration/published-configuration.ts';
import { indexName, keys } from '../../src/store/keys.ts';
import { readPartitionStates } from '../../src/store/partitions/partition-state.ts';
import { TestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { textWithDigest } from '../support/xxh64.ts';
import { differencesIn } from './support/differences.ts';
import { changeRecords } from './support/former-records.ts';
import { type Files, Platform, page, siteFiles, siteTenant, tenant } from './support/platform.ts';

const redisUrl = (await TestRedis.start()).url;

const pageSchema = (title: string) => ({
  triggers: { cms: ['page'] },
  route: { url: '{url}', handles: ['page-{originId}'] },
  properties: { title },
});
const pages = Array.from({ length: 300 }, (_, index) =>
  page(`p${index}`, { name: `Page ${index}` }, { url: `/pages/${index}` }),
);

test('rebuild job: a changed schema rebuilds all its views, and its progress ends at 100 percent', async (context) => {
  const platform = await Platform.start(context, redisUrl);
  await platform.publish(siteFiles({ schemas: { page: pageSchema('{p.name}') } }));
  await platform.startWorker();
  await platform.startJobs();
  await platform.ingest(pages);
  await platform.settle();
  assert.deepEqual(await platform.view('page', 'p7'), { title: 'Page 7' });

  await platform.rebuilt(
    await platform.publish(siteFiles({ schemas: { page: pageSchema('new {p.name}') } })),
  );
  for (const { originId } of pages) {
    assert.deepEqual(await platform.view('page', originId), { title: `new Page ${originId.slice(1)}` });
  }
  await until('the metrics report it', async () => {
    const texts = await platform.store.registry.metrics('test');
    return texts.some(({ text }) => /^millrace_rebuild_progress_percent 100$/m.test(text));
  });
});

test('rebuild job: a rebuild that a newer configuration replaces is done when the newer one is', async (context) => {
  const platform = await Platform.start(context, redisUrl);
  await platform.publish(siteFiles({ schemas: { page: pageSchema('{p.name}') } }));
  const worker = await platform.startWorker();
  await platform.startJobs();
  await platform.ingest(pages);
  await platform.settle();

  // Without a worker, no rebuild can end before the next configuration is published.
  await worker.stop();
  const schemas = { page: pageSchema('new {p.name}') };
  const replaced = await platform.publish(siteFiles({ schemas }));
  await until(
    'its jobs are enqueued',
    async () => (await readGenerations(platform.store)).enqueued === replaced,
  );
  const other = siteTenant({ domains: [{ alias: 'site', hostnames: ['www.example.com', '*'] }] });
  const skipped = await platform.publish(siteFiles({ schemas, tenant: other }));
  await platform.publish(siteFiles({ schemas }));
  await platform.startWorker();
  await Promise.all([platform.rebuilt(replaced), platform.rebuilt(skipped)]);
  for (const { originId } of pages) {
    assert.deepEqual(await platform.view('page', originId), { title: `new Page ${originId.slice(1)}` });
  }
});

test('rebuild job: a configuration that changes no result rebuilds nothing', async (context) => {
  const platform = await Platform.start(context, redisUrl);
  const schemas = { page: pageSchema('{p.name}') };
  await platform.publish(siteFiles({ schemas }));
  await platform.startWorker();
  await platform.startJobs();
  await platform.ingest(pages);
  await platform.settle();
  const before = await readPartitionStates(platform.store);
  const renamed = siteTenant({ domains: [{ alias: 'site', hostnames: ['www.example.com', '*'] }] });
  await platform.rebuilt(await platform.publish(siteFiles({ schemas, tenant: renamed })));
  const after = await readPartitionStates(platform.store);
  assert.deepEqual(
    after.map(({ end, commits }) => ({ end, commits })),
    before.map(({ end, commits }) => ({ end, commits })),
  );
});

/** The digest of the view schema of a configuration alone. */
function schemaDigest(files: Files): string {
  const loaded = loadConfiguration(
    new Map(Object.entries(files).map(([file, json]) => [file, JSON.stringify(json)])),
  );
  assert.ok(loaded.ok);
  const acme = loaded.configuration.tenants.get(tenant);
  const source = acme?.sources.get('src-1');
  const [builder] = acme === undefined || source === undefined ? [] : buildersFor(acme, source, 'page');
  return builder?.schema?.digest ?? '';
}

/** A tenant with a further source group, which has no entities. */
function tenantWithGroup(alias: string, sources: Json = []) {
  const cms = {
    alias: 'cms',
    sources: [{ id: 'src-1', name: 'CMS', environments: ['production'], apiKeys: ['source-key'] }],
  };
  return siteTenant({ sourceGroups: [cms, { alias, sources }] });
}

test('rebuild job: a changed schema rebuilds its views, whatever names the configuration uses to hide it', async (context) => {
  const platform = await Platform.start(context, redisUrl);
  // Its view depends on all source groups.
  const linking = (title: string) => {
    const { properties, ...schema } = pageSchema(title);
    const link = { type: 'reference', alias: 'page', originId: '{p.link}', source: '{p.group}' };
    return { ...schema, properties: { ...properties, link } };
  };
  const before = siteFiles({ schemas: { page: linking('{p.name}') } });
  const schemas = { page: linking('new {p.name}') };
  // With this group the XXH64 of the inputs of the views stays the same.
  const known = `${schemaDigest(before)}.cms=src-1`;
  const beginning = `${schemaDigest(siteFiles({ schemas }))}.cms=src-1|`;
  const chosen = textWithDigest(digestOf(known), {
    beginning: `${beginning}z`,
    end: '=',
    allowed: /^[\w-]{8}$/,
  });
  assert.deepEqual(digestOf(chosen), digestOf(known));
  await platform.publish(before);
  await platform.startWorker();
  await platform.startJobs();
  await platform.ingest(pages.slice(0, 10));
  await platform.settle();
  const group = chosen.slice(beginning.length, -1);
  await platform.rebuilt(await platform.publish(siteFiles({ schemas, tenant: tenantWithGroup(group) })));
  assert.deepEqual(await platform.view('page', 'p7'), { title: 'new Page 7', link: null });
});

/** The number of entities that a rebuild has invalidated. */
async function markedBy(context: TestContext, platform: Platform, files: Files): Promise<number> {
  const queue = rebuildJobs(platform.store);
  context.after(() => queue.close());
  const generation = await platform.publish(files);
  await platform.rebuilt(generation);
  return (await rebuildState(platform.store, queue, generation)).marked;
}

test('rebuild job: records with an old digest are rebuilt once, by the next configuration', async (context) => {
  const platform = await Platform.start(context, redisUrl);
  const files = (hostname: string) =>
    siteFiles({
      schemas: { page: pageSchema('{p.name}') },
      tenant: siteTenant({ domains: [{ alias: 'site', hostnames: [hostname] }] }),
    });
  const generation = await platform.publish(files('*'));
  await platform.startWorker();
  await platform.startJobs();
  // Otherwise its walk could find changed records, and invalidate them already.
  await platform.rebuilt(generation);
  await platform.ingest(pages.slice(0, 10));
  await platform.settle();
  const former = digestOf(`${schemaDigest(files('*'))}.cms=src-1`).toString('base64url');
  await changeRecords(platform.store, (output) => ({ ...output, schemaDigest: former }));
  assert.equal(await markedBy(context, platform, files('www.example.com')), 10);
  assert.deepEqual(await platform.view('page', 'p7'), { title: 'Page 7' });
  assert.equal(await markedBy(context, platform, files('*')), 0);
});

test('rebuild job: a source that is added or removed rebuilds only what can read it', async (context) => {
  const platform = await Platform.start(context, redisUrl);
  const lookup = (source: string) => ({
    type: 'array',
    input: { $lookup: { source, filter: "type eq 'post'" } },
  });
  const link = (source: string) => ({ type: 'reference', alias: 'post', originId: '1', source });
  const partial = { type: 'partial', alias: 'posts', input: '{root}' };
  const properties: Readonly<Record<string, Json>> = {
    plain: '{p.name}',
    own: { type: 'reference', alias: 'plain', originId: '{p.name}' },
    ofCms: lookup('cms'),
    linksCms: link('cms'),
    ofBlog: lookup('blog'),
    linksBlog: link('blog'),
    ofPartial: partial,
    linksAny: link('{p.group}'),
  };
  const schemas = Object.fromEntries(
    Object.entries(properties).map(([alias, value]) => [
      alias,
      { triggers: { cms: [alias] }, properties: { value } },
    ]),
  );
  const partials = { posts: { properties: { posts: lookup('blog') } } };
  const indexes = {
    names: {
      triggers: { cms: ['plain'] },
      index: { fields: { value: { type: 'keyword' } } },
      properties: { value: '{p.name}' },
    },
  };
  const files = (settings: Json) => siteFiles({ schemas, partials, indexes, tenant: settings });
  await platform.publish(files(tenantWithGroup('blog')));
  await platform.startWorker();
  await platform.startJobs();
  await platform.ingest(Object.keys(schemas).map((type) => page(type, { name: type }, { type })));
  await platform.settle();
  const blog = { id: 'src-blog', name: 'Blog', environments: ['production'], apiKeys: ['blog-key'] };
  for (const sources of [[blog], []]) {
    assert.equal(await markedBy(context, platform, files(tenantWithGroup('blog', sources))), 4);
    await platform.settle();
    assert.deepEqual(await differencesIn(platform), []);
  }
});

test('rebuild job: an auto-indexed type without room is not invalidated', async (context) => {
  const platform = await Platform.start(context, redisUrl);
  const group = {
    alias: 'cms',
    autoIndex: true,
    sources: [{ id: 'src-1', name: 'CMS', environments: ['production'], apiKeys: ['source-key'] }],
  };
  const files = (title: string) =>
    siteFiles({ schemas: { page: pageSchema(title) }, tenant: siteTenant({ sourceGroups: [group] }) });
  await platform.publish(files('{p.name}'));
  const { client, partitions } = platform.store;
  const tag = partitions.tag(partitions.ofText(`${tenant}:src-1`));
  await client.set(keys.autoIndexed(tag, tenant, 'src-1'), autoIndexedNamesMax);
  await platform.startWorker();
  await platform.startJobs();
  const others = pages.slice(10, 60).map((one) => ({ ...one, type: 'other' }));
  await platform.ingest([...pages.slice(0, 10), ...others]);
  await platform.settle();
  const generation = await platform.publish(files('new {p.name}'));
  await platform.rebuilt(generation);
  const queue = rebuildJobs(platform.store);
  context.after(() => queue.close());
  assert.equal((await rebuildState(platform.store, queue, generation)).marked, 10, 'only the pages, once');
});

test('rebuild job: views, claims, routes and index items that are no longer configured are removed', async (context) => {
  const platform = await Platform.start(context, redisUrl);
  const index = {
    triggers: { cms: ['page'] },
    properties: { name: '{p.name}' },
    index: { fields: { name: { type: 'keyword' } } },
  };
  await platform.publish(siteFiles({ schemas: { page: pageSchema('{p.name}') }, indexes: { pages: index } }));
  await platform.startWorker();
  await platform.startJobs();
  await platform.ingest(pages);
  await platform.settle();
  const counted = async () => {
    const { client, partitions } = platform.store;
    const sum = async (keyOf: (tag: string) => string) => {
      const counts = await Promise.all(partitions.tags.map((tag) => client.hlen(keyOf(tag))));
      return counts.reduce((total, one) => total + one, 0);
    };
    return {
      views: await sum((tag) => keys.views(tag, tenant, 'env-1', 'src-1')),
      claims: await sum((tag) => keys.claims(tag, tenant, 'env-1')),
      routes: await countRoutes(platform.store, { tenant, environmentId: 'env-1', urlForms: ['exact'] }),
      items: await sum((tag) => keys.items(tag, tenant, 'env-1', 'src-1', indexName.schema('pages'))),
    };
  };
  assert.deepEqual(await counted(), { views: 300, claims: 600, routes: 300, items: 300 });
  await platform.rebuilt(await platform.publish(siteFiles({ indexes: { pages: index } })));
  assert.deepEqual(await counted(), { views: 0, claims: 0, routes: 0, items: 300 });
  await platform.rebuilt(await platform.publish(siteFiles()));
  assert.deepEqual(await counted(), { views: 0, claims: 0, routes: 0, items: 0 });
});

test('rebuild job: the outputs of a removed environment and a removed source are removed', async (context) => {
  const platform = await Platform.start(context, redisUrl);
  const two = siteTenant({
    environments: [
      { id: 'env-1', alias: 'production' },
      { id: 'env-2', alias: 'preview' },
    ],
    sourceGroups: [
      {
        alias: 'cms',
        sources: [
          { id: 'src-1', name: 'CMS', environments: ['production', 'preview'], apiKeys: ['source-key'] },
        ],
      },
    ],
  });
  const schemas = { page: pageSchema('{p.name}') };
  await platform.publish(siteFiles({ schemas, tenant: two }));
  await platform.startWorker();
  await platform.startJobs();
  await platform.ingest(pages.slice(0, 40));
  await platform.settle();
  const views = async (environment: string) => {
    const { client, partitions } = platform.store;
    const counts = await Promise.all(
      partitions.tags.map((tag) => client.hlen(keys.views(tag, tenant, environment, 'src-1'))),
    );
    return counts.reduce((total, one) => total + one, 0);
  };
  assert.deepEqual([await views('env-1'), await views('env-2')], [40, 40]);
  await platform.rebuilt(await platform.publish(siteFiles({ schemas })));
  assert.deepEqual([await views('env-1'), await views('env-2')], [40, 0]);
  await platform.rebuilt(await platform.publish({}));
  assert.deepEqual([await views('env-1'), await views('env-2')], [0, 0]);
  await platform.rebuilt(await platform.publish(siteFiles({ schemas })));
  assert.deepEqual(await platform.view('page', 'p3'), { title: 'Page 3' });
});

test('rebuild job: a lookup in a source without an index finds everything once it is rebuilt', async (context) => {
  const platform = await Platform.start(context, redisUrl);
  const plain = { triggers: { cms: ['page'] }, properties: { title: '{p.name}' } };
  const withList = {
    triggers: { cms: ['list'] },
    properties: {
      names: {
        type: 'array',
        input: {
          $lookup: {
            operator: 'equals',
            sourceEntityProperty: 'group',
            matchValue: '{p.group}',
            orderBy: { property: 'name', sort: 'asc' },
          },
        },
        items: '{item.p.name}',
      },
    },
  };
  await platform.publish(siteFiles({ schemas: { plain } }));
  await platform.startWorker();
  await platform.startJobs();
  const members = Array.from({ length: 60 }, (_, index) =>
    page(`m${index}`, { name: `n${100 + index}`, group: index % 3 }),
  );
  await platform.ingest([...members, page('list', { group: 1 }, { type: 'list' })]);
  await platform.settle();
  await platform.rebuilt(await platform.publish(siteFiles({ schemas: { plain, list: withList } })));
  const names = members
    .filter((_, index) => index % 3 === 1)
    .map(({ properties }) => properties.name ?? null);
  assert.deepEqual(
    await platform.view('list', 'list'),
    { names: [...names, null] },
    'the entity that looks up is one of them',
  );
  const stored = async () => {
    const found: string[] = [];
    for (const tag of platform.store.partitions.tags)
      found.push(...(await platform.store.client.keys(`${tag}:lookup:*`)));
    return found.length;
  };
  assert.ok((await stored()) > 0);
  await platform.rebuilt(await platform.publish(siteFiles({ schemas: { plain } })));
  assert.equal(await stored(), 0, 'the index is removed with the last lookup that uses it');
});

test('rebuild job: a rebuild resumes where its process stopped, and a later one ends it', async (context) => {
  const platform = await Platform.start(context, redisUrl, 2);
  await platform.publish(siteFiles({ schemas: { page: pageSchema('{p.name}') } }));
  const worker = await platform.startWorker();
  await platform.ingest(pages);
  await platform.settle();
  const first = await platform.startJobs();
  await platform.rebuilt(1);
  await worker.stop();
  // Without a worker the job waits in the middle of its work.
  const generation = await platform.publish(siteFiles({ schemas: { page: pageSchema('again {p.name}') } }));
  await until('invalidations wait', async () =>
    (await readPartitionStates(platform.store)).some(({ end, checkpoint }) => end > checkpoint),
  );
  await first.stop();
  await platform.startJobs();
  await platform.startWorker();
  await platform.rebuilt(generation);
  for (const { originId } of pages) {
    assert.deepEqual(await platform.view('page', originId), { title: `again Page ${originId.slice(1)}` });
  }
});

test('rebuild job: as many jobs as there are partitions wait concurrently without a leak warning', async (context) => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on('warning', onWarning);
  context.after(() => process.off('warning', onWarning));
  const platform = await Platform.start(context, redisUrl, 32);
  await platform.publish(siteFiles({ schemas: { page: pageSchema('{p.name}') } }));
  const worker = await platform.startWorker();
  // Every partition has some of them, and so something to rebuild.
  await platform.ingest(pages);
  await platform.settle();
  await worker.stop();
  // Without a worker all jobs wait.
  const generation = await platform.publish(siteFiles({ schemas: { page: pageSchema('new {p.name}') } }));
  await platform.startJobs();
  const queue = rebuildJobs(platform.store);
  context.after(() => queue.close());
  await until('all jobs run', async () => (await queue.counts()).active === 32);
  await platform.startWorker();
  await platform.rebuilt(generation);
  assert.deepEqual(warnings, []);
});
