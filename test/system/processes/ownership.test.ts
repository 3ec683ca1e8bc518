import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SourceEntity } from '../../../src/contract/entity.ts';
import { waitUntilSettled } from '../../../src/store/partitions/partition-state.ts';
import { until } from '../../support/until.ts';
import type { Answer } from '../support/client.ts';
import { viewDifferences } from '../support/compare.ts';
import { entityOf } from '../support/data/entities.ts';
import { Ledger, untilVisible } from '../support/ledger.ts';
import { announcedCommits, contentDigests, isSpreadOver, partitionsOf } from '../support/partitions.ts';
import { System } from '../support/processes/system.ts';
import { Random } from '../support/random.ts';
import { clientKey, environmentId, siteFiles, sourceId, sourceKey } from '../support/site.ts';
import { FreshViews } from '../support/tenant/fresh.ts';
import { differencesFoundByVerify } from '../support/verify.ts';

const pausedMs = 12_000;
const takeoverMs = 10_000;
const pageCount = 300;

const files = siteFiles({
  schemas: {
    page: {
      triggers: { cms: ['page', 'article'] },
      route: { url: '{url}', handles: ['page-{originId}'] },
      properties: {
        title: '{p.title}',
        kind: '{type}',
        count: { type: 'number', value: '{p.count}' },
        parent: { type: 'reference', alias: 'page', originId: '{originParentId}' },
        children: {
          type: 'array',
          input: {
            $lookup: {
              operator: 'equals',
              sourceEntityProperty: 'originParentId',
              matchValue: '{originId}',
              orderBy: { property: 'count', sort: 'desc' },
              top: 20,
            },
          },
          items: {
            type: 'object',
            properties: { id: '{item.originId}', title: '{item.p.title}' },
          },
        },
      },
    },
    topic: {
      triggers: { cms: ['topic'] },
      properties: {
        name: '{p.name}',
        tagged: {
          type: 'array',
          input: { $lookup: { filter: "properties.tags/any(t: t eq {p.name}) and type ne 'topic'" } },
          items: '{item.originId}',
        },
      },
    },
  },
  indexes: {
    pages: {
      triggers: { cms: ['page', 'article'] },
      properties: { title: '{p.title}', count: { type: 'number', value: '{p.count}' } },
      index: { fields: { title: { type: 'text' }, count: { type: 'long' } } },
    },
  },
});

const topics = ['river', 'mill', 'wheel', 'stone'];

function randomPage(random: Random, number: number): SourceEntity {
  const originId = `p${number}`;
  const parent = random.chance(0.6) ? `p${random.below(30)}` : null;
  return entityOf(
    originId,
    random.chance(0.8) ? 'page' : 'article',
    {
      title: `Title ${random.below(1000)} of ${originId}`,
      count: random.below(50),
      tags: random.some(topics, 0.3),
    },
    {
      url: random.chance(0.9) ? `/pages/${number}` : null,
      originParentId: parent,
      redirects: random.chance(0.3) ? [`/old/${number}`] : [],
    },
  );
}

test('ownership: views stay correct and complete while one worker is killed and another is paused past its lease', async (context) => {
  const random = Random.forTest('ownership');
  const system = await System.start({ web: 2, workers: 3, jobs: 0, partitions: 16, files });
  context.after(() => system.stop());
  const store = await system.store();
  const ledger = new Ledger({ key: sourceKey, sourceId });
  const clients = system.fronts.map((name) => system.client(name));
  const [client] = clients;
  assert.ok(client);
  await ledger.save(
    client,
    topics.map((name) => entityOf(`topic-${name}`, 'topic', { name })),
  );

  let isWriting = true;
  /** Each writer has entities of its own, so that the order of their states is known. */
  const write = async (writer: number, writers: number): Promise<void> => {
    const own = Array.from({ length: pageCount }, (_, number) => number).filter(
      (n) => n % writers === writer,
    );
    const front = clients[writer % clients.length];
    while (isWriting && front !== undefined) {
      const numbers = random.shuffled(own).slice(0, random.between(1, 12));
      const isAccepted = random.chance(0.85)
        ? await ledger.save(
            front,
            numbers.map((number) => randomPage(random, number)),
          )
        : await ledger.delete(
            front,
            numbers.slice(0, 3).map((number) => `p${number}`),
          );
      assert.ok(isAccepted, 'fronts and Redis are up, so every write gets a 200');
      await sleep(100);
    }
  };
  const writing = Promise.all(Array.from({ length: 4 }, (_, writer) => write(writer, 4)));
  const pids = () => system.workers.map((name) => system.process(name).pid);
  try {
    await until('every worker has its share', async () => {
      const owned = await Promise.all(pids().map((pid) => partitionsOf(store, pid)));
      return owned.every(({ length }) => length >= 5);
    });

    const [killedPid = 0, pausedPid = 0, otherPid = 0] = pids();
    for (const pid of [killedPid, pausedPid]) assert.ok((await partitionsOf(store, pid)).length > 0);
    const pausedAtMs = performance.now();
    await system.kill('worker.2', 'SIGSTOP');
    await system.kill('worker.1');
    await until(
      'the partitions of the killed and of the paused worker have another owner',
      () => isSpreadOver(store, [otherPid]),
      takeoverMs,
    );
    context.diagnostic(`partitions moved within ${Math.round(performance.now() - pausedAtMs)} ms`);
    await system.restart('worker.1');
    await until('it runs', () => system.process('worker.1').outputOfThisLife.includes('worker is running'));
    const revivedPid = system.process('worker.1').pid;
    await until(
      'the worker that came back takes its share',
      async () => (await partitionsOf(store, revivedPid)).length >= 8,
    );
    await sleep(Math.max(0, pausedAtMs + pausedMs - performance.now()));
  } finally {
    isWriting = false;
    await writing;
  }

  // Nothing else changes now, so that a write of the resumed worker under its old leases would be detected.
  await waitUntilSettled(store);
  const before = await contentDigests(store);
  await system.kill('worker.2', 'SIGCONT');
  const { pid } = system.process('worker.2');
  await until(
    'it has noticed, and owns partitions again',
    async () => (await partitionsOf(store, pid)).length >= 5,
  );
  assert.deepEqual(await contentDigests(store), before, 'it wrote nothing');

  await ledger.save(client, [randomPage(random, 0), randomPage(random, 1)]);
  const versions = ledger.takeVersions();
  context.diagnostic(`${ledger.answered} writes; fenced: ${await system.metric('millrace_fenced_total')}`);
  for (const front of clients) await untilVisible(front, clientKey, versions.slice(-10));
  const tenant = system.configuration.tenants.get('acme');
  assert.ok(tenant);
  const entities = ledger.entities();
  const fresh = new FreshViews(tenant, new Map([[sourceId, entities]]));
  const targets = ledger.originIds.flatMap((originId) =>
    ['page', 'topic'].map((alias) => ({ environmentId, sourceId, originId, alias })),
  );
  for (const front of clients) assert.deepEqual(await viewDifferences(front, clientKey, targets, fresh), []);

  // Checks again without evaluating schemas.
  for (const [originId, { type, url, properties }] of entities) {
    if (type === 'topic') continue;
    const asked = `/v2?handle=page-${originId}${url === null ? '' : `&url=${url}`}`;
    const answer: Answer = await client.get(asked, { key: clientKey });
    const view = url === null ? answer.json.views[`page-${originId}`] : answer.json.route;
    assert.deepEqual([view.title, view.kind, view.count], [properties.title, type, properties.count]);
  }
  for (const name of topics) {
    const tagged = [...entities.values()].filter(
      ({ properties }) => Array.isArray(properties.tags) && properties.tags.includes(name),
    );
    const { json } = await client.post(
      '/v2',
      { ids: [`gid://Environment/${environmentId}/Source/${sourceId}/Entity/topic-${name}/View/topic`] },
      { key: clientKey },
    );
    const [view] = Object.values(json.views) as { tagged: string[] }[];
    assert.deepEqual(view?.tagged, tagged.map(({ originId }) => originId).sort());
  }

  const pages = [...entities.values()].filter(({ type }) => type !== 'topic');
  const { json: indexed } = await client.post(
    '/v1/pages',
    { pagination: { pageSize: 1000 } },
    { key: clientKey },
  );
  assert.equal(indexed.totalResults, pages.length);
  assert.deepEqual(
    indexed.results.map((item: { _originId: string }) => item._originId).sort(),
    pages.map(({ originId }) => originId).sort(),
  );
  for (const [partition] of store.partitions.tags.entries()) {
    const commits = await announcedCommits(store, partition);
    const [first = 0] = commits;
    assert.deepEqual(
      commits,
      commits.map((_, index) => first + index),
      'each commit is announced once',
    );
  }
  assert.deepEqual(await differencesFoundByVerify(system), []);
});
