import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Json } from '../../src/contract/json.ts';
import { runCommand } from '../cli/support/command.ts';
import { writeFiles } from '../jobs/support/platform.ts';
import { until } from '../support/until.ts';
import type { Answer, Client } from '../system/support/client.ts';
import { configure, manage, managed } from '../system/support/manage.ts';
import { sharedPlatform } from '../system/support/processes/shared-platform.ts';
import type { System } from '../system/support/processes/system.ts';
import { clientKey, siteFiles, sourceKey, viewIdOf } from '../system/support/site.ts';

const page = (title: string): Json => ({
  triggers: { cms: ['page'] },
  route: { url: '{url}', handles: ['{p.handle}'] },
  properties: { title },
});
const files = (schemas: Readonly<Record<string, Json>>) =>
  siteFiles({
    tenant: 'trial',
    schemas,
    settings: managed,
  });

let system: System;
let client: Client;

before(async () => {
  system = await sharedPlatform(files({ page: page('{p.title}') }));
  client = system.client('web.1');
  const entities = Array.from({ length: 30 }, (_, at) => ({
    originId: `p${at}`,
    type: 'page',
    url: `/p${at}`,
    properties: { title: at < 25 ? `Page ${at}` : 'same', handle: `h${at}` },
  }));
  const saved = await client.post('/ingest/v2', entities, { key: sourceKey });
  const headers = { 'X-Service-Min-Version': String(saved.headers['x-service-version']) };
  assert.equal((await client.get('/v2?handle=h29', { key: clientKey, headers })).status, 200);
});

async function documents(): Promise<Record<string, string>> {
  return (await manage(client, '/configuration')).json.documents;
}

const put = (body: Json, query: string): Promise<Answer> => configure(client, body, `?${query}`);

// biome-ignore lint/suspicious/noExplicitAny: the answer is compared member by member.
async function completed(job: string): Promise<any> {
  let answer: Answer | null = null;
  await until(`${job} is completed`, async () => {
    answer = await manage(client, `/jobs/${job}`);
    assert.notEqual(answer.json.state, 'failed', answer.text);
    return answer.json.state === 'completed';
  });
  return (answer as Answer | null)?.json;
}

test('dry run: counts exactly what would change, and stores nothing', async () => {
  const before = await manage(client, '/configuration');
  const own = await documents();
  own['schemas/page.json'] = JSON.stringify(page('{p.title}!'));
  own['schemas/card.json'] = JSON.stringify({ triggers: { cms: ['page'] }, properties: { of: '{p.title}' } });
  const asked = await put({ documents: own }, 'dryRun=true');
  assert.equal(asked.status, 200, asked.text);
  const job = await completed(asked.json.job);
  assert.deepEqual([job.done, job.total], [30, 30]);
  const { samples, ...counts } = job.diff;
  assert.deepEqual(counts, {
    views: { added: 30, changed: 30, removed: 0, same: 0 },
    routes: { added: 0, changed: 0, removed: 0, same: 30 },
    handles: { added: 0, changed: 0, removed: 0, same: 30 },
    items: { added: 0, changed: 0, removed: 0, same: 30 },
  });
  assert.deepEqual([samples.added.length, samples.changed.length, samples.removed.length], [20, 20, 0]);
  for (const { id, before: was, after: is } of samples.changed) {
    assert.match(id, /\/View\/page$/);
    assert.deepEqual(is, { title: `${was.title}!` });
  }
  assert.deepEqual((await manage(client, '/configuration')).json, before.json);
  assert.equal(
    (await client.get(`/v2?id=${encodeURIComponent(viewIdOf('p1', 'card'))}`, { key: clientKey })).status,
    200,
  );
  const keys = await (await system.store()).client.keys('*');
  assert.deepEqual(
    keys.filter((key) => key.includes('dry-run') && !key.includes(':jobs:')),
    [],
  );
});

test('dry run: removals need no consent; errors and another digest are refused as always', async () => {
  const own = await documents();
  delete own['schemas/page.json'];
  const asked = await put({ documents: own }, 'dryRun=true');
  assert.equal(asked.status, 200, asked.text);
  const { diff } = await completed(asked.json.job);
  assert.deepEqual(diff.views, { added: 0, changed: 0, removed: 30, same: 0 });
  assert.deepEqual(diff.routes, { added: 0, changed: 0, removed: 30, same: 0 });
  assert.deepEqual(diff.handles, { added: 0, changed: 0, removed: 30, same: 0 });
  assert.deepEqual(diff.samples.removed[0].before.title !== undefined, true);
  assert.equal((await put({ documents: own }, 'dryRun=true&expected=other')).status, 409);
  assert.equal((await put({ documents: {} }, 'dryRun=true')).status, 422);
  assert.equal((await put({ documents: own }, 'dryRun=perhaps')).status, 422);
  assert.equal((await manage(client, '/jobs/dry-run-00000000000000000000000000000000')).status, 404);
});

test('dry run: apply --dry-run prints a table and samples, and with --json only the object', async () => {
  const env = {
    REDIS_URL: system.redis.url,
    PARTITIONS: String(system.partitions),
    CONFIG_DIR: system.configDir,
  };
  writeFiles(system.configDir, files({ page: page('now {p.title}') }));
  const shown = await runCommand('apply', ['--dry-run'], { env });
  assert.equal(shown.code, 0, shown.stderr);
  assert.match(shown.stdout, /^ +added +changed +removed +same\nviews +0 +30 +0 +0\nroutes +0 +0 +0 +30\n/);
  assert.match(shown.stdout, /^~ gid:.*\n {4}- title: ".*"\n {4}\+ title: "now /m);
  const json = await runCommand('apply', ['--dry-run', '--json'], { env });
  assert.equal(json.code, 0, json.stderr);
  const diff = JSON.parse(json.stdout);
  assert.deepEqual(Object.keys(diff), ['views', 'routes', 'handles', 'items', 'samples']);
  assert.deepEqual(diff.views, { added: 0, changed: 30, removed: 0, same: 0 });
  assert.equal((await runCommand('apply', ['--json'], { env })).code, 1);
  assert.equal(
    (await client.get(`/v2?id=${encodeURIComponent(viewIdOf('p1'))}`, { key: clientKey })).status,
    200,
  );
});
