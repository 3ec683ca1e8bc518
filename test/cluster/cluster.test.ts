import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitUntilSettled } from '../../src/store/partitions/partition-state.ts';
import { until } from '../support/until.ts';
import { type Client, NoResponseError } from '../system/support/client.ts';
import { entityOf } from '../system/support/data/entities.ts';
import { Ledger, untilVisible } from '../system/support/ledger.ts';
import { System } from '../system/support/processes/system.ts';
import { Random } from '../system/support/random.ts';
import { clientKey, sourceId, sourceKey } from '../system/support/site.ts';
import { article, assertTrue, categories, files, keepWriting, sendAgain } from './support/articles.ts';
import { RedisCluster } from './support/cluster.ts';

const articleCount = 800;
/**
 * Maximum time between a failover and the next acknowledged write. docs/promises.md has 5 s, for an idle machine; tests run in
 * parallel. A client that waited forever, or for a timeout of the cluster itself, would take longer.
 */
const recoveryMs = 30_000;
const slot = 0;

/** Saves and reads a page continuously: a read must show what the responses promised, whatever fails. */
async function keepLooking(client: Client, signal: AbortSignal): Promise<void> {
  const ledger = new Ledger({ key: sourceKey, sourceId });
  for (let round = 0; !signal.aborted; round += 1) {
    const url = `/looked-at/${round}`;
    const isSaved = await ledger.save(client, [
      entityOf('looked-at', 'article', { title: `Round ${round}` }, { url }),
    ]);
    if (!isSaved) continue;
    const [version = ''] = ledger.takeVersions();
    const headers = { 'X-Service-Min-Version': version };
    for (let look = 0; look < 3; look += 1) {
      const answer = await client
        .get(`/v2?url=${url}`, { key: clientKey, headers })
        .catch((error: unknown) => {
          if (error instanceof NoResponseError) return null;
          throw error;
        });
      if (answer === null) continue;
      if (answer.status === 503) assert.ok(answer.headers['retry-after']);
      else assert.equal(answer.json.route?.title, `Round ${round} (new)`, answer.text);
    }
  }
  await ledger.save(client, [entityOf('looked-at', 'article', {})]);
  assert.ok(await ledger.delete(client, ['looked-at']));
}

test('cluster: the platform works, and recovers by itself after a master is killed', async (context) => {
  const random = Random.forTest('cluster');
  const cluster = await RedisCluster.start();
  const started = System.start({ web: 1, workers: 2, jobs: 1, partitions: 12, files: files(1), cluster });
  // In this order, because processes do not exit cleanly without their Redis.
  context.after(() => started.then((system) => system.stop()).finally(() => cluster.stop()));
  const system = await started;
  const store = await system.store();
  const client = system.client();
  const ledger = new Ledger({ key: sourceKey, sourceId });
  const startedMs = performance.now();
  const tell = (what: string) =>
    context.diagnostic(`${Math.round(performance.now() - startedMs)} ms: ${what}`);

  assert.ok(await ledger.save(client, categories));
  for (let at = 0; at < articleCount; at += 50) {
    const portion = Array.from({ length: 50 }, (_, n) => article(random, at + n));
    assert.ok(await ledger.save(client, portion), 'every write is acknowledged while all nodes are up');
  }
  await waitUntilSettled(store);
  tell('ingested');
  await system.apply(files(2));
  await assertTrue(system, client, ledger);
  tell('another configuration applied, all is true');

  const replica = await cluster.replicaOf(slot);
  await replica.process.signal('SIGSTOP');
  const refused = await client.post('/ingest/v2', categories as unknown as [], { key: sourceKey });
  assert.equal(refused.status, 503, 'no replica has it, so it is not acknowledged');
  assert.ok(refused.headers['retry-after']);
  await replica.process.signal('SIGCONT');
  await until('it is acknowledged again', () => ledger.save(client, categories));
  tell('a replica was away');

  const writing = keepWriting(client, ledger, random, articleCount);
  const lookingEnd = new AbortController();
  const looking = keepLooking(client, lookingEnd.signal);
  try {
    await until('writes continue', () => writing.answers.length >= 20);
    const victim = await cluster.ownerOf(slot);
    await victim.process.signal('SIGKILL');
    const killedMs = performance.now();
    const heir = await cluster.failedOver(slot, victim);
    const failedOverMs = performance.now();
    tell(`${heir.name} took over ${Math.round(failedOverMs - killedMs)} ms after ${victim.name} was killed`);
    await until(
      'writes are acknowledged again',
      () => writing.answers.some(({ isAcknowledged, atMs }) => isAcknowledged && atMs > failedOverMs),
      recoveryMs,
    );
    tell('a write is acknowledged');
    await system.ready(recoveryMs - (performance.now() - failedOverMs));
    tell('ready');
    const answered = writing.answers.length;
    await until('writes continue', () => writing.answers.length >= answered + 20);
  } finally {
    await writing.stop();
    lookingEnd.abort();
    await looking;
  }
  const acknowledged = writing.answers.filter(({ isAcknowledged }) => isAcknowledged).length;
  tell(`${acknowledged} of ${writing.answers.length} writes were acknowledged, the others answered 503`);

  await sendAgain(client, ledger);
  await untilVisible(client, clientKey, ledger.takeVersions().slice(-20));
  await waitUntilSettled(store);
  await assertTrue(system, client, ledger);
  tell('all is true');

  const publishAt = new Date(Date.now() + 2_000).toISOString();
  const scheduled = { ...entityOf('scheduled', 'article', {}, { url: '/scheduled' }), publishAt };
  const saved = await client.post('/ingest/v2', [scheduled] as unknown as [], { key: sourceKey });
  assert.equal(saved.status, 200, saved.text);
  const headers = { 'X-Service-Min-Version': String(saved.headers['x-service-version']) };
  const page = async () => (await client.get('/v2?url=/scheduled', { key: clientKey, headers })).json.route;
  assert.equal(await page(), null);
  await until('it is published at its moment', async () => (await page()) !== null);
  tell('a moment has come');
});
