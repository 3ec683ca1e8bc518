/** The change log keeps history for a limited time. Every method of following rejects an older offset. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { keys } from '../../../src/store/keys.ts';
import { until } from '../../support/until.ts';
import type { Client } from '../support/client.ts';
import { EventSource } from '../support/event-source.ts';
import { FeedCopy, type ReportedChange, requireOk } from '../support/feed-copy.ts';
import { manage, managed } from '../support/manage.ts';
import { System } from '../support/processes/system.ts';
import { Receiver, receiverEnvironment, verified, webhookSecret, webhookTo } from '../support/receiver.ts';
import { clientKey, environmentId, siteFiles, sourceKey } from '../support/site.ts';

/** About four seconds. */
const retentionDays = '0.00005';

const receiver = new Receiver();
let port = 0;
let system: System;
let client: Client;

before(async () => {
  port = await receiver.listen();
  system = await System.start({
    env: { ...receiverEnvironment, CHANGES_RETENTION_DAYS: retentionDays },
    files: siteFiles({
      schemas: {
        page: { triggers: { cms: ['page'] }, route: { url: '{url}' }, properties: { title: '{p.title}' } },
      },
      settings: {
        ...managed,
        webhooks: [webhookTo(port, 'copy')],
      },
    }),
  });
  client = system.client();
});
after(async () => {
  await system.stop();
  receiver.close();
});

async function save(originId: string, url: string): Promise<string> {
  const entity = { type: 'page', url, properties: { title: originId } };
  const answer = requireOk(await client.post(`/ingest/v2/${originId}`, entity, { key: sourceKey }));
  return String(answer.headers['x-service-version']);
}

async function offsetAt(version: string): Promise<string> {
  return requireOk(await client.get('/changes/v1?since=now', { key: clientKey, version })).json.offset;
}

/** Number of log entries besides those of existing views. */
async function remembered(): Promise<number> {
  const store = await system.store();
  const counts = await Promise.all(
    store.partitions.tags.flatMap((tag) => [
      store.client.zcard(keys.traces(tag, 'acme', environmentId)),
      store.client.hlen(keys.removed(tag, 'acme', environmentId)),
      store.client.zcard(keys.left(tag, 'acme', environmentId)),
    ]),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

test('changes horizon: an offset before the horizon is rejected, and a newer one is accepted', async () => {
  await save('stays', '/one');
  const old = await offsetAt(await save('goes', '/goes'));
  const live = new EventSource(`${system.url()}/changes/v1?since=${old}&live=sse`, {
    'X-Api-Key': clientKey,
  });
  await live.until(() => live.events.length > 0, 'the beginning');
  await receiver.count('/copy', 1);
  receiver.close();
  const moved = await save('stays', '/two');
  const removed = requireOk(await client.delete('/ingest/v2/goes', { key: sourceKey }));
  const behind = await offsetAt(String(removed.headers['x-service-version']));
  const reported = requireOk(await client.get(`/changes/v1?since=${old}`, { key: clientKey })).json.changes;
  assert.deepEqual(
    reported.map(({ originId, action, left }: ReportedChange) => [originId, action, ...left.urls]).sort(),
    [
      ['goes', 'removed', '/goes'],
      ['stays', 'set', '/one'],
    ],
  );
  assert.ok((await remembered()) > 0 && moved !== '');
  await until('nothing is held any longer', async () => (await remembered()) === 0);
  const lastId = { 'Last-Event-ID': old };
  const refusals = await Promise.all([
    client.get(`/changes/v1?since=${old}`, { key: clientKey }),
    client.get(`/changes/v1?since=${old}&live=long-poll`, { key: clientKey }),
    client.get(`/changes/v1?since=${old}&expand=shown`, { key: clientKey }),
    client.get(`/changes/v1?since=${old}&live=sse`, { key: clientKey }),
    client.get(`/changes/v1?since=${behind}&live=sse`, { key: clientKey, headers: lastId }),
    manage(client, `/changes?environment=production&since=${old}`),
    manage(client, '/webhooks/copy/replay', { body: { since: old } }),
  ]);
  for (const { status, text } of refusals) {
    assert.equal(status, 410, text);
    assert.match(text, /Read again without since/);
  }
  const after_ = requireOk(await client.get(`/changes/v1?since=${behind}`, { key: clientKey })).json;
  assert.deepEqual([after_.changes, after_.upToDate], [[], true]);
  await save('stays', '/three');
  await live.until(
    () => live.events.some(({ data }) => JSON.parse(data).urls?.[0] === '/three'),
    'a connected follower keeps receiving changes',
  );
  live.close();
});

test('changes horizon: a new copy contains no expired history', async () => {
  await until('nothing is held any longer', async () => (await remembered()) === 0);
  const [only, ...more] = await new FeedCopy().catchUp(client, clientKey);
  assert.deepEqual([only.urls, only.left.urls, more.length], [['/three'], [], 0]);
});

test('changes horizon: a receiver that was unavailable for longer receives all existing views', async () => {
  const count = receiver.received.length;
  await receiver.listen(port);
  requireOk(await manage(client, '/webhooks/copy/enable', { body: {} }));
  const received = await receiver.count('/copy', count + 1);
  const { changes } = verified(
    received[count] ?? { path: '', headers: {}, text: '', atMs: 0 },
    webhookSecret,
  ).data;
  assert.deepEqual(
    changes.map(({ originId, action, urls }) => [originId, action, ...urls]),
    [['stays', 'set', '/three']],
  );
  assert.match(system.outputs(), /a webhook begins again with everything/);
});
