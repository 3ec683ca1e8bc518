/**
 * A webhook whose receiver is unavailable while its views keep changing, and slow after it returns:
 * `MILLRACE_SECONDS=60 npm test -- test/system/interfaces/webhooks-away.test.ts` makes 50,000 changes in a minute.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { SourceEntity } from '../../../src/contract/entity.ts';
import { waitUntilSettled } from '../../../src/store/partitions/partition-state.ts';
import { readWebhookStates } from '../../../src/store/webhooks/webhook-states.ts';
import { until } from '../../support/until.ts';
import type { Client } from '../support/client.ts';
import { entityOf } from '../support/data/entities.ts';
import { FeedCopy } from '../support/feed-copy.ts';
import { manage, managed } from '../support/manage.ts';
import { System } from '../support/processes/system.ts';
import { Random, testSeconds } from '../support/random.ts';
import { Receiver, receiverEnvironment, verified, webhookSecret, webhookTo } from '../support/receiver.ts';
import { clientKey, siteFiles, sourceKey } from '../support/site.ts';

const awaySeconds = testSeconds(4);
const isLong = awaySeconds >= 60;
const savesPerSecond = 17;
// A short run makes as many changes per entity and as many requests, with less than half of the work.
const entitiesPerSave = isLong ? 50 : 20;
const batchSize = entitiesPerSave * 2;
const entities = Math.min(5_000, awaySeconds * entitiesPerSave * 2);
const slowMs = 40;

const random = Random.forTest('webhooks-away');
const receiver = new Receiver();
let port = 0;
let system: System;
let client: Client;
let serial = 0;

before(async () => {
  port = await receiver.listen();
  system = await System.start({
    env: receiverEnvironment,
    files: siteFiles({
      schemas: {
        page: {
          triggers: { cms: ['page'] },
          route: { url: '{url}' },
          properties: { title: '{p.title}' },
        },
      },
      settings: {
        ...managed,
        webhooks: [webhookTo(port, 'copy', { batch: { size: batchSize, seconds: 0 } })],
      },
    }),
  });
  client = system.client('web.1', 8);
});
after(async () => {
  await system.stop();
  receiver.close();
});

/** The URL of a page contains the number of the change, which identifies it. */
function page(originId: string): SourceEntity {
  serial += 1;
  return entityOf(originId, 'page', { title: `T ${serial}` }, { url: `/${originId}/${serial}` });
}

const anyId = () => `p${random.below(entities)}`;

/** @returns the duration of the save, in ms */
async function save(): Promise<number> {
  const ids = new Set(Array.from({ length: entitiesPerSave }, anyId));
  const startMs = performance.now();
  const answer = await client.post('/ingest/v2', JSON.parse(JSON.stringify([...ids].map(page))), {
    key: sourceKey,
  });
  assert.equal(answer.status, 200, answer.text);
  return performance.now() - startMs;
}

/** @returns the median duration of the saves, in ms */
async function saveFor(seconds: number): Promise<number> {
  const took: number[] = [];
  const startMs = performance.now();
  for (let turn = 0; turn < seconds * savesPerSecond; turn += 1) {
    took.push(await save());
    const dueMs = startMs + (turn * 1000) / savesPerSecond;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())));
  }
  return took.sort((a, b) => a - b)[took.length >> 1] ?? 0;
}

interface Standing {
  readonly state: string;
  readonly behind: number;
}

async function standing(): Promise<Standing> {
  const { json } = await manage(client, '/webhooks');
  const [found] = json.webhooks;
  return found;
}

function residentMegabytes(): number {
  const status = readFileSync(`/proc/${system.process('jobs.1').pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

/** The state of the receiver, derived only from its requests. */
function received(): { readonly copy: FeedCopy; readonly ids: ReadonlySet<string>; readonly count: number } {
  const copy = new FeedCopy();
  const ids = new Set<string>();
  const last = new Map<string, number>();
  let count = 0;
  for (const one of receiver.at('/copy')) {
    ids.add(String(one.headers['webhook-id']));
    for (const change of verified(one, webhookSecret).data.changes) {
      count += 1;
      const number = Number(change.urls[0]?.split('/')[2] ?? 0);
      const before_ = last.get(change.id) ?? 0;
      if (change.action === 'set') {
        assert.ok(number >= before_, `${change.id}: ${number} behind ${before_}`);
        last.set(change.id, number);
      }
      copy.apply(change);
    }
  }
  return { copy, ids, count };
}

test('webhooks away: a receiver gets the latest state of everything, in order, even if the sender is killed', async (context) => {
  const usualMs = await saveFor(awaySeconds / 4);
  await until('nothing is waiting', async () => (await standing()).behind === 0);
  receiver.close();
  const beforeMb = residentMegabytes();
  const countBefore = serial;
  const awayMs = await saveFor(awaySeconds);
  const changes = serial - countBefore;
  const removed = Array.from({ length: 20 }, anyId);
  for (const originId of removed) await client.delete(`/ingest/v2/${originId}`, { key: sourceKey });
  const store = await system.store();
  await waitUntilSettled(store);
  const { state, behind } = await standing();
  assert.equal(state, 'retrying');
  assert.ok(behind <= entities + removed.length, `${behind} entries of ${entities} views`);
  const states = [...(await readWebhookStates(store)).values()];
  assert.ok(
    states.every(({ text }) => text.length < 1000),
    'nothing that waits is kept',
  );
  const afterMb = residentMegabytes();
  const requestsBefore = receiver.received.length;
  receiver.answer = (response) => setTimeout(() => response.writeHead(204).end(), slowMs);
  await receiver.listen(port);
  await receiver.count('/copy', requestsBefore + 3, 200_000);
  const slowlyMs = await saveFor(awaySeconds / 4);
  const slowMb = residentMegabytes();
  await system.kill('jobs.1');
  await system.restart('jobs.1');
  await waitUntilSettled(store);
  await until('nothing is waiting', async () => (await standing()).behind === 0, 200_000);
  assert.equal((await standing()).state, 'ok');
  const fresh = new FeedCopy();
  await fresh.catchUp(client, clientKey);
  const { copy, ids, count } = received();
  assert.deepEqual(copy.sorted(), fresh.sorted());
  const text = (ms: number) => ms.toFixed(1);
  context.diagnostic(
    `${changes} changes of ${fresh.views.size} views in ${awaySeconds} s away, ${behind} entries waited; ` +
      `${receiver.received.length} requests of ${ids.size} batches, ${count} changes sent in all`,
  );
  context.diagnostic(
    `a save took ${text(usualMs)} ms before, ${text(awayMs)} while it was away, ${text(slowlyMs)} while it was slow; ` +
      `jobs ${text(beforeMb)} MB before, ${text(afterMb)} away, ${text(slowMb)} slow`,
  );
});
