import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfiguration } from '../../src/config/load.ts';
import { lookupResultsMax } from '../../src/contract/limits.ts';
import { readPublished } from '../../src/store/configuration.ts';
import { liveProcesses } from '../../src/store/registry.ts';
import { diagnose, type LocatedDiagnostic } from '../../src/verify/diagnose.ts';
import { Platform, page } from '../jobs/support/platform.ts';
import { TestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { configurationFiles, groups, pageEntity } from './fixture.ts';

const redisUrl = (await TestRedis.start()).url;

test('each kind of finding comes with its view id and its place, and is counted in the metrics', async (context) => {
  const platform = await Platform.start(context, redisUrl);
  await platform.publish(configurationFiles);
  await platform.startWorker();
  await platform.startJobs();
  const many = Array.from({ length: lookupResultsMax + 1 }, (_, index) => page(`m${index}`, { group: 'g0' }));
  await platform.ingest([
    ...groups,
    ...many,
    pageEntity(1, { card: 'nothing' }),
    pageEntity(2, { name: [2] }),
  ]);
  await platform.ingest([page('late', {}, { url: '/pages/1' })]);
  await platform.settle();
  const published = await readPublished(platform.store);
  const loaded = loadConfiguration(published?.documents ?? new Map());
  assert.ok(loaded.ok);
  const found: LocatedDiagnostic[] = [];
  await diagnose({
    store: platform.store,
    configuration: loaded.configuration,
    tenant: null,
    onProgress: () => {},
    onDiagnostic: (diagnostic) => found.push(diagnostic),
  });
  const viewId = (originId: string, alias: string) =>
    `gid://Environment/env-1/Source/src-1/Entity/${originId}/View/${alias}`;
  assert.deepEqual(found.map(({ kind, subject, place }) => [kind, subject, place]).sort(), [
    ['lookupCut', viewId('g0', 'group'), '$.properties.members.input.$lookup'],
    ['partialUnknown', viewId('p1', 'page'), '$.properties.card'],
    ['urlClash', viewId('p1', 'page'), '$.route.url'],
    [
      'valueDoesNotFit',
      'gid://Source/src-1/Entity/p2 in index cms type page of environment env-1',
      '$.properties.name',
    ],
  ]);
  await until('the metrics have them', async () => {
    const texts = (await liveProcesses(platform.store)).map(({ metrics }) => metrics).join('\n');
    return ['lookupCut', 'partialUnknown', 'valueDoesNotFit'].every((kind) =>
      new RegExp(`millrace_diagnostics_total\\{[^}]*kind="${kind}"[^}]*\\} [1-9]`).test(texts),
    );
  });
});
