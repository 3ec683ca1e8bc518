/** Nothing that has data is removed from the configuration without consent. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { readGenerations } from '../../../src/store/configuration/published-configuration.ts';
import {
  type Files,
  Platform,
  page,
  siteFiles,
  siteTenant,
  writeFiles,
} from '../../jobs/support/platform.ts';
import { TestRedis } from '../../support/redis.ts';
import { runCommand, temporaryFolder } from '../support/command.ts';

const redisUrl = (await TestRedis.start()).url;

const titleOf = { triggers: { cms: ['page'] }, properties: { title: '{p.name}' } };
const indexOf = { ...titleOf, index: { fields: { title: { type: 'text' } } } };
const both = siteFiles({ schemas: { page: titleOf, card: titleOf }, indexes: { pages: indexOf } });

/** A platform with twelve pages, and a folder that was applied to it. */
async function applied(
  context: TestContext,
  files: Files = both,
): Promise<{ platform: Platform; folder: string }> {
  const platform = await Platform.start(context, redisUrl);
  const folder = await temporaryFolder(context);
  writeFiles(folder, files);
  await platform.publish(files);
  await platform.startWorker();
  await platform.startJobs();
  await platform.ingest(
    Array.from({ length: 12 }, (_, index) => page(`p${index}`, { name: `Page ${index}` })),
  );
  await platform.settle();
  return { platform, folder };
}

function apply(platform: Platform, folder: string, ...words: string[]) {
  return runCommand('apply', words, { env: platform.environment(folder) });
}

function replace(folder: string, files: Files): void {
  rmSync(path.join(folder, 'tenants'), { recursive: true });
  writeFiles(folder, files);
}

test('removals: a schema and an index with data are removed only with --yes if there is no terminal', async (context) => {
  const { platform, folder } = await applied(context);
  replace(folder, siteFiles({ schemas: { page: titleOf } }));
  const refused = await apply(platform, folder);
  assert.equal(refused.code, 1);
  assert.match(
    refused.stdout,
    /schema card of tenant acme: 12 views\n {2}index pages of tenant acme: 12 index items\n/,
  );
  assert.match(refused.stderr, /Nothing was changed\. To confirm, run this again with --yes/);
  assert.equal((await readGenerations(platform.store)).active, 1);
  assert.deepEqual(await platform.view('card', 'p3'), { title: 'Page 3' });
  const meant = await apply(platform, folder, '--yes');
  assert.equal(meant.code, 0, meant.stderr);
  assert.match(meant.stdout, /schema card of tenant acme: 12 views/);
  assert.equal(await platform.view('card', 'p3'), null);
  assert.deepEqual(await platform.view('page', 'p3'), { title: 'Page 3' });
});

test('removals: a tenant is listed with its entities, and not again as its sources and schemas', async (context) => {
  const { platform, folder } = await applied(context);
  const renamed = Object.fromEntries(
    Object.entries(both).map(([file, json]) => [file.replace('acme', 'acne'), json]),
  );
  replace(folder, renamed);
  const refused = await apply(platform, folder);
  assert.equal(refused.code, 1);
  assert.match(
    refused.stdout,
    /no longer has:\n {2}tenant acme: 12 entities, 24 views, 12 index items\nTheir views/,
  );
  assert.match(refused.stdout, /Their entities stay stored but inaccessible until npm run purge/);
});

test('removals: a source, its group and an environment are listed by name', async (context) => {
  const { platform, folder } = await applied(context);
  const other = { id: 'src-2', name: 'Other', environments: ['production'], apiKeys: ['other-key'] };
  replace(folder, siteFiles({ tenant: siteTenant({ sourceGroups: [{ alias: 'pim', sources: [other] }] }) }));
  const group = await apply(platform, folder);
  assert.match(group.stdout, /source group cms of tenant acme: 12 entities, 24 views, 12 index items\n/);
  replace(folder, siteFiles({ tenant: siteTenant({ sourceGroups: [{ alias: 'cms', sources: [other] }] }) }));
  const source = await apply(platform, folder);
  assert.match(source.stdout, /source CMS of tenant acme: 12 entities, 24 views/);
  const moved = { environments: [{ id: 'env-2', alias: 'production' }] };
  replace(folder, siteFiles({ tenant: siteTenant(moved) }));
  const environment = await apply(platform, folder);
  assert.match(environment.stdout, /environment production of tenant acme: 24 views, 12 index items\n/);
  assert.deepEqual([group.code, source.code, environment.code], [1, 1, 1]);
  assert.equal((await readGenerations(platform.store)).active, 1);
});

test('removals: the auto-index of a group is removed with its name, though its sources stay in another group', async (context) => {
  const grouped = (alias: string) =>
    siteFiles({
      tenant: siteTenant({
        sourceGroups: [
          {
            alias,
            autoIndex: true,
            sources: [{ id: 'src-1', name: 'CMS', environments: ['production'], apiKeys: ['source-key'] }],
          },
        ],
      }),
    });
  const { platform, folder } = await applied(context, grouped('cms'));
  replace(folder, grouped('web'));
  const renamed = await apply(platform, folder);
  assert.match(renamed.stdout, /no longer has:\n {2}auto-index cms of tenant acme: 12 index items\nTheir/);
  assert.equal(renamed.code, 1);
  assert.equal((await readGenerations(platform.store)).active, 1);
});

test('removals: additions, changes, and removals without data need no --yes; warnings are printed', async (context) => {
  const { platform, folder } = await applied(context);
  const idle = { ...titleOf, triggers: { cms: ['event'] } };
  const typo = { type: 'reference', alias: 'pge', originId: '{originId}' };
  const changed = { ...titleOf, properties: { title: 'new {p.name}', self: typo } };
  const files = siteFiles({ schemas: { page: changed, card: titleOf, idle }, indexes: { pages: indexOf } });
  writeFiles(folder, files);
  const added = await apply(platform, folder);
  assert.equal(added.code, 0, added.stderr);
  assert.match(
    added.stdout,
    /^tenants\/acme\/schemas\/page\.json: \$\.properties\.self\.alias: warning: there is no schema "pge"\n {4}Did you mean "page"/,
  );
  replace(folder, both);
  const without = await apply(platform, folder);
  assert.equal(without.code, 0, without.stderr);
  assert.doesNotMatch(without.stdout, /no longer has/);
});
