import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { runCommand } from '../../cli/support/command.ts';
import { until } from '../../support/until.ts';
import type { Client } from '../support/client.ts';
import { EventSource } from '../support/event-source.ts';
import { sharedPlatform } from '../support/processes/shared-platform.ts';
import type { System } from '../support/processes/system.ts';
import { clientKey, environmentId, siteFiles, sourceId, sourceKey } from '../support/site.ts';

const removed = { client: 'client-key-that-goes', source: 'source-key-that-goes' };
const schemas = { page: { triggers: { cms: ['page'] }, properties: { title: '{p.title}' } } };

/** The site with the given keys in addition to the permanent ones. */
function filesWith(keys: { client: readonly string[]; source: readonly string[] }) {
  return siteFiles({
    tenant: 'removed-key',
    schemas,
    settings: {
      sourceGroups: [
        {
          alias: 'cms',
          sources: [
            { id: sourceId, name: 'CMS', environments: ['production'], apiKeys: [sourceKey, ...keys.source] },
          ],
        },
      ],
      environmentClients: [
        {
          name: 'website',
          environment: 'production',
          domains: ['site'],
          apiKeys: [clientKey, ...keys.client],
        },
      ],
    },
  });
}

let system: System;
let fronts: Client[];
before(async () => {
  const files = filesWith({ client: [removed.client], source: [removed.source] });
  system = await sharedPlatform(files);
  fronts = system.fronts.map((name) => system.client(name, 4));
});

/** Statuses of a write and three reads at every front, over keep-alive connections. */
async function statuses(keys: { client: string; source: string }): Promise<number[][]> {
  const viewId = `gid://Environment/${environmentId}/Source/${sourceId}/Entity/p/View/page`;
  const entity: Json = [{ originId: 'p', type: 'page', properties: { title: 'P' } }];
  return await Promise.all(
    fronts.map(async (front) => {
      const write = await front.post('/ingest/v2', entity, { key: keys.source });
      const cached = `/v2?id=${encodeURIComponent(viewId)}`;
      // Reads at the version of the write, because otherwise a later follower could still receive the write.
      const version = write.headers['x-service-version'];
      const headers = typeof version === 'string' ? { 'X-Service-Min-Version': version } : {};
      const reads = [cached, cached, '/routes/v2'].map((one) =>
        front.get(one, { key: keys.client, headers }),
      );
      return [write.status, ...(await Promise.all(reads)).map(({ status }) => status)];
    }),
  );
}

test('removed key: once apply has ended, no front accepts a key that it removed', async () => {
  const good = [200, 200, 200, 200];
  assert.deepEqual(await statuses(removed), [good, good]);
  const headers = { 'X-Api-Key': removed.client, Accept: 'text/event-stream' };
  const followed = system.fronts.flatMap((front) =>
    ['/changes/v1?since=now', '/v2?handle=none'].map(
      (asked) => new EventSource(system.url(front) + asked, headers),
    ),
  );
  for (const events of followed) await events.until(() => events.events.length > 0, 'the beginning');
  const polls = fronts.map((front) =>
    front.get('/changes/v1?since=now&live=long-poll', { key: removed.client }),
  );
  await until('the long polls are waiting', async () => {
    const metrics = await Promise.all(fronts.map((front) => front.get('/metrics')));
    return metrics.every(({ text }) => /millrace_feed_followers[^\n]* 2\n/.test(text));
  });
  for (const [file, json] of Object.entries(filesWith({ client: [], source: [] }))) {
    const place = path.join(system.configDir, file);
    mkdirSync(path.dirname(place), { recursive: true });
    writeFileSync(place, JSON.stringify(json));
  }
  const { REDIS_URL = '', REDIS_CLUSTER = '', PARTITIONS = '' } = system.environment();
  const env = { REDIS_URL, REDIS_CLUSTER, PARTITIONS, CONFIG_DIR: system.configDir };
  const applied = await runCommand('apply', [], { env });
  const [former, kept] = [await statuses(removed), await statuses({ client: clientKey, source: sourceKey })];
  assert.equal(applied.code, 0, applied.stderr);
  assert.deepEqual(former, [
    [401, 401, 401, 401],
    [401, 401, 401, 401],
  ]);
  assert.deepEqual(kept, [good, good]);
  for (const events of followed) {
    await until('it ends', () => events.isEnded);
    assert.equal(events.events.length, 1, 'nothing more was reported');
  }
  for (const { status, json } of await Promise.all(polls)) {
    assert.deepEqual([status, json.changes], [200, []]);
  }
});
