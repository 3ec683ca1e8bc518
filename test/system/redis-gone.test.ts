import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entityOf } from './support/entities.ts';
import { Ledger } from './support/ledger.ts';
import { siteFiles, sourceId, sourceKey } from './support/site.ts';
import { System } from './support/system.ts';

test('processes end by themselves when told to while Redis is gone', async (context) => {
  const files = siteFiles({
    schemas: { page: { triggers: { cms: ['page'] }, properties: { title: '{p.title}' } } },
  });
  const started = System.start({ web: 1, workers: 1, jobs: 1, partitions: 4, files });
  context.after(() => started.then((system) => system.stop()));
  const system = await started;
  const ledger = new Ledger({ key: sourceKey, sourceId });
  assert.ok(await ledger.save(system.client(), [entityOf('a', 'page', { title: 'A' })]));

  await system.kill('redis');
  const names = ['web.1', 'worker.1', 'jobs.1'];
  const ends = await Promise.all(names.map((name) => system.process(name).stop()));
  for (const [index, end] of ends.entries()) {
    assert.notEqual(end.signal, 'SIGKILL', `${names[index]} had to be killed`);
  }
});
