import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../support/until.ts';
import { entityOf } from '../support/data/entities.ts';
import { Ledger } from '../support/ledger.ts';
import { oneRedisOnly, System } from '../support/processes/system.ts';
import { siteFiles, sourceId, sourceKey } from '../support/site.ts';

const outageMs = 4_000;

const files = siteFiles({
  schemas: { page: { triggers: { cms: ['page'] }, properties: { title: '{p.title}' } } },
});
const names = ['web.1', 'worker.1', 'jobs.1'];

let system: System;
before(async () => {
  system = await System.start({ partitions: 16, files, env: { NODE_OPTIONS: '--trace-warnings' } });
});
after(() => system.stop());

/** Number of log lines with this message. */
function countOf(output: string, message: string): number {
  return output.split('\n').filter((line) => line.includes(`"msg":"${message}"`)).length;
}

/** Number of partitions that a worker has reported as taken. */
function takenIn(output: string): number {
  const lines = output.split('\n').filter((line) => line.includes('"msg":"partitions were taken"'));
  return lines.flatMap((line) => (JSON.parse(line) as { partitions: number[] }).partitions).length;
}

test('Redis gone: every process reports the outage once, and the recovery once', oneRedisOnly, async () => {
  const outputOf = (name: string) => system.process(name).output;
  await until('every process uses the configuration', () =>
    names.every((name) => countOf(outputOf(name), 'the configuration is in use') === 1),
  );
  await until(
    'the worker has reported the partitions that it has taken',
    () => takenIn(outputOf('worker.1')) === 16,
  );
  const client = system.client();

  await system.kill('redis');
  const killedMs = performance.now();
  const refused: number[] = [];
  const writing = async () => {
    while (performance.now() < killedMs + outageMs) {
      const save = client.post('/ingest/v2', [{ originId: 'a', type: 'page', properties: {} }], {
        key: sourceKey,
      });
      refused.push((await save).status);
    }
  };
  await Promise.all(Array.from({ length: 16 }, writing));
  assert.ok(refused.length >= 16 && refused.every((status) => status === 503));
  await system.restart('redis');
  await until('each process has reported it', () =>
    names.every((name) => countOf(outputOf(name), 'Redis responds again') > 0),
  );
  await system.ready();
  const ledger = new Ledger({ key: sourceKey, sourceId });
  assert.ok(await ledger.save(system.client(), [entityOf('a', 'page', { title: 'A' })]));
  for (const name of names) {
    const output = outputOf(name);
    assert.equal(countOf(output, 'Redis does not respond'), 1, output);
    assert.equal(countOf(output, 'Redis responds again'), 1, output);
    // No message is logged per request, partition or retry.
    assert.ok(output.trim().split('\n').length <= 12, output);
    assert.doesNotMatch(output, /Warning/);
  }
});

test('Redis gone: processes exit on SIGTERM while Redis is unavailable', async () => {
  await system.kill('redis');
  const ends = await Promise.all(names.map((name) => system.process(name).stop()));
  for (const [index, end] of ends.entries()) {
    assert.notEqual(end.signal, 'SIGKILL', `${names[index]} had to be killed`);
  }
});
