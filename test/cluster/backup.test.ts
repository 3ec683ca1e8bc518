/** Backup and restore with Redis Cluster: a backup of a system that writes, and a restore during which a master dies. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import type { Json } from '../../src/contract/json.ts';
import { keys } from '../../src/store/keys.ts';
import { waitUntilSettled } from '../../src/store/partitions/partition-state.ts';
import { type CommandResult, runCommand, temporaryFolder } from '../cli/support/command.ts';
import { until } from '../support/until.ts';
import { entityOf } from '../system/support/data/entities.ts';
import { Ledger } from '../system/support/ledger.ts';
import { System } from '../system/support/processes/system.ts';
import { Random } from '../system/support/random.ts';
import { sourceId, sourceKey } from '../system/support/site.ts';
import { article, assertTrue, categories, files } from './support/articles.ts';
import { RedisCluster } from './support/cluster.ts';

const articleCount = 1_000;
const passersBy = 50;
const attemptsMax = 5;
const slot = 0;

async function withSystem(cluster: RedisCluster, act: (system: System) => Promise<void>): Promise<void> {
  const system = await System.start({
    web: 1,
    workers: 1,
    jobs: 0,
    partitions: 6,
    files: files(1),
    cluster,
  });
  try {
    await act(system);
  } finally {
    await system.stop();
  }
}

function run(system: System, command: 'backup' | 'restore', file: string): Promise<CommandResult> {
  return runCommand(command, [file], { env: system.environment() as Record<string, string> });
}

/** Saves and deletes entities continuously. A backup may contain any of them. */
async function keepPassingBy(system: System, signal: AbortSignal): Promise<void> {
  const client = system.client();
  for (let round = 0; !signal.aborted; round += 1) {
    const originId = `passer-by-${round % passersBy}`;
    const entity = entityOf(originId, 'article', { title: `Round ${round}` }, { url: `/live/${originId}` });
    const saved = await client.post('/ingest/v2', [entity] as unknown as Json, { key: sourceKey });
    assert.equal(saved.status, 200, saved.text);
    if (round % 3 === 0) await client.delete(`/ingest/v2/${originId}`, { key: sourceKey });
  }
}

async function dismissPassersBy(system: System): Promise<void> {
  const originIds = Array.from({ length: passersBy }, (_, number) => `passer-by-${number}`);
  const answer = await system.client().delete('/ingest/v2', { key: sourceKey, body: { originIds } });
  assert.equal(answer.status, 200, answer.text);
}

test('cluster backup: a backup is complete, and a restore can be repeated after a master died during it', async (context) => {
  const random = Random.forTest('cluster-backup');
  const file = path.join(await temporaryFolder(context), 'backup.ndjson.gz');
  const ledger = new Ledger({ key: sourceKey, sourceId });
  const cluster = await RedisCluster.start();
  try {
    await withSystem(cluster, async (system) => {
      const client = system.client();
      assert.ok(await ledger.save(client, categories));
      for (let at = 0; at < articleCount; at += 50) {
        const portion = Array.from({ length: 50 }, (_, n) => article(random, at + n));
        assert.ok(await ledger.save(client, portion));
      }
      const end = new AbortController();
      const passing = keepPassingBy(system, end.signal);
      const { code, stderr, stdout } = await run(system, 'backup', file).finally(() => end.abort());
      await passing;
      assert.equal(code, 0, stderr);
      context.diagnostic(stdout.trim());
    });
    await cluster.flush();
    await withSystem(cluster, async (system) => {
      const store = await system.store();
      const victim = await cluster.ownerOf(slot);
      const holds = () =>
        Promise.all(store.partitions.tags.map((tag) => store.client.exists(keys.restore(tag))));
      const restoring = run(system, 'restore', file);
      await until('the restore has begun', async () => (await holds()).includes(1));
      await victim.process.signal('SIGKILL');
      let result = await restoring;
      for (let attempt = 1; result.code !== 0 && attempt < attemptsMax; attempt += 1) {
        context.diagnostic(`attempt ${attempt}: ${result.stderr.trim().split('\n').at(-1)}`);
        assert.doesNotMatch(result.stderr, /^\s+at /m, 'a message, not a stack');
        result = await run(system, 'restore', file);
      }
      assert.equal(result.code, 0, result.stderr);
      await system.ready();
      await dismissPassersBy(system);
      await waitUntilSettled(store);
      await assertTrue(system, system.client(), ledger);
    });
  } finally {
    await cluster.stop();
  }
});
