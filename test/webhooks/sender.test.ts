/** What a sender of a webhook logs while its receiver fails. A clock that the test moves simulates the hours. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { Feed } from '../../src/feed/feed.ts';
import { ActiveConfiguration } from '../../src/store/configuration/active-configuration.ts';
import { acceptEntities } from '../../src/store/entities/accept.ts';
import { encodeEntity } from '../../src/store/entities/entity-record.ts';
import { readWebhookState, webhookField } from '../../src/store/webhooks/webhook-states.ts';
import { AddressGuard } from '../../src/webhooks/allowed-addresses.ts';
import { LogWatch } from '../../src/webhooks/log-watch.ts';
import { Sender, type WebhookFailure } from '../../src/webhooks/sender.ts';
import { Fleet, publishDocuments } from '../actors/support/fleet.ts';
import { TestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { Receiver, webhookTo } from '../system/support/receiver.ts';

const redis = await TestRedis.start();
const hourMs = 3_600_000;
const tenant = 'acme';
const environmentId = 'env-1';

const answer = (status: number) => (response: ServerResponse) => void response.writeHead(status).end();

function documents(port: number): Map<string, string> {
  const file = {
    environments: [{ id: environmentId, alias: 'production' }],
    sourceGroups: [
      {
        alias: 'cms',
        sources: [{ id: 'src-cms', name: 'cms', environments: ['production'], apiKeys: ['source'] }],
      },
    ],
    webhooks: [webhookTo(port, 'hook')],
  };
  const page = { triggers: { cms: ['page'] }, properties: { title: '{p.title}' } };
  return new Map([
    [`tenants/${tenant}/tenant.json`, JSON.stringify(file)],
    [`tenants/${tenant}/schemas/page.json`, JSON.stringify(page)],
  ]);
}

test('sender: a failing webhook is reported at its first failure, once each hour, and when it works again', async (context) => {
  const receiver = new Receiver();
  const port = await receiver.listen();
  context.after(() => receiver.close());
  receiver.answer = answer(500);
  const store = await redis.openEmptyStore(1);
  await publishDocuments(store, documents(port));
  const fleet = new Fleet(redis, store);
  await fleet.add();
  const configuration = new ActiveConfiguration(store);
  await configuration.start();
  const [webhook] = configuration.current.tenants.get(tenant)?.webhooks ?? [];
  assert.ok(webhook !== undefined);
  const field = webhookField(tenant, webhook);
  const feed = new Feed(
    { store, configuration, retentionMs: 30 * 24 * hourMs },
    { tenant, environmentId: webhook.environment.id },
  );

  const stop = new AbortController();
  const watch = new LogWatch(store);
  const watching = watch.run(stop.signal);
  const failing: WebhookFailure[] = [];
  let worked = 0;
  let attempts = 0;
  let aheadMs = 0;
  const sender = new Sender(
    {
      store,
      guard: new AddressGuard(['127.0.0.1/32']),
      publicUrl: '',
      onAttempt: () => {
        attempts += 1;
      },
      onFailing: (_tenant, _alias, failure) => void failing.push(failure),
      onWorking: () => {
        worked += 1;
      },
      onError: (message, error) => assert.fail(`${message}: ${error}`),
      now: () => Date.now() + aheadMs,
    },
    watch,
    () => ({ tenant, webhook, feed }),
    field,
    'this run',
  );
  const running = sender.run(stop.signal).catch(() => {});
  context.after(async () => {
    stop.abort();
    await Promise.all([running, watching]);
    configuration.close();
    await fleet.stop();
  });
  const save = async (title: string) => {
    const entity = encodeEntity({
      originId: 'p1',
      type: 'page',
      url: null,
      originParentId: null,
      redirects: [],
      properties: { title },
    });
    await acceptEntities(store, { tenant, sourceId: 'src-cms', force: false, entities: [entity] });
  };
  /** Moves the clock until that many more attempts are over. */
  const tryAgain = async (times: number, stepMs: number) => {
    for (let time = 0; time < times; time += 1) {
      const before = (await readWebhookState(store, field))?.state.failures ?? 0;
      aheadMs += stepMs;
      await until('the attempt is over', async () => {
        const failures = (await readWebhookState(store, field))?.state.failures ?? 0;
        return failures > before;
      });
    }
  };

  await save('first');
  await until('the first failure is reported', () => failing.length === 1);
  assert.deepEqual(failing[0], { outcome: 'failed', status: 500, failures: 1 });
  // 10 to 12, 20 to 24, 40 to 48 and 80 to 96 s: all within the first hour.
  await tryAgain(4, 100_000);
  assert.equal(failing.length, 1, 'nothing is reported again within the hour');
  for (const hours of [1, 2, 3]) {
    await tryAgain(1, 1.25 * hourMs);
    await until(`hour ${hours} is reported`, () => failing.length === 1 + hours);
  }
  assert.deepEqual(
    failing.map(({ failures }) => failures),
    [1, 6, 7, 8],
  );
  assert.equal(worked, 0);

  receiver.answer = answer(204);
  aheadMs += 1.25 * hourMs;
  await until('it works again', () => worked === 1);
  const attemptsBefore = attempts;
  await save('second');
  await until('the next change is sent', () => attempts === attemptsBefore + 1);
  assert.equal(failing.length, 4);

  // Another outage is reported immediately, although less than an hour has passed.
  receiver.answer = answer(503);
  await save('third');
  await until('its first failure is reported', () => failing.length === 5);
  assert.deepEqual(failing[4], { outcome: 'failed', status: 503, failures: 1 });
  assert.equal(worked, 1);

  receiver.answer = answer(204);
  aheadMs -= hourMs;
  await until(
    'it is sent again after the clock was set back, without waiting for that hour',
    () => worked === 2,
  );
});
