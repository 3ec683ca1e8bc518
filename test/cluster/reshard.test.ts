import assert from 'node:assert/strict';
import { test } from 'node:test';
import calculateSlot from 'cluster-key-slot';
import { waitUntilSettled } from '../../src/store/partitions/partition-state.ts';
import { Ledger, untilVisible } from '../system/support/ledger.ts';
import { System } from '../system/support/processes/system.ts';
import { Random } from '../system/support/random.ts';
import { clientKey, sourceId, sourceKey } from '../system/support/site.ts';
import { article, assertTrue, categories, files, keepWriting, sendAgain } from './support/articles.ts';
import { RedisCluster } from './support/cluster.ts';

const articleCount = 400;

test('cluster resharding: a shard is added and slots move to it during normal operation', async (context) => {
  const random = Random.forTest('reshard');
  const cluster = await RedisCluster.start();
  const started = System.start({ web: 1, workers: 2, jobs: 1, partitions: 6, files: files(1), cluster });
  context.after(() => started.then((system) => system.stop()).finally(() => cluster.stop()));
  const system = await started;
  const store = await system.store();
  const client = system.client();
  const ledger = new Ledger({ key: sourceKey, sourceId });
  assert.ok(await ledger.save(client, categories));
  for (let at = 0; at < articleCount; at += 50) {
    const portion = Array.from({ length: 50 }, (_, n) => article(random, at + n));
    assert.ok(await ledger.save(client, portion));
  }

  const writing = keepWriting(client, ledger, random, articleCount);
  try {
    const master = await cluster.join();
    const replica = await cluster.join();
    await cluster.attach(replica, master.id);
    // One partition of every shard, and the keys that belong to no partition.
    const tags = store.partitions.tags.filter((_, partition) => partition % 2 === 0);
    for (const tag of [...tags, '{millrace}']) {
      const startMs = performance.now();
      await cluster.moveSlot(calculateSlot(tag), master);
      context.diagnostic(`${tag} moved in ${Math.round(performance.now() - startMs)} ms`);
    }
  } finally {
    await writing.stop();
  }
  const acknowledged = writing.answers.filter(({ isAcknowledged }) => isAcknowledged).length;
  context.diagnostic(
    `${acknowledged} of ${writing.answers.length} writes were acknowledged, the others answered 503`,
  );
  assert.ok(acknowledged > writing.answers.length / 2);

  await system.ready();
  await sendAgain(client, ledger);
  await untilVisible(client, clientKey, ledger.takeVersions().slice(-20));
  await waitUntilSettled(store);
  await assertTrue(system, client, ledger);
});
