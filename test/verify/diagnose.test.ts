import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfiguration } from '../../src/config/documents/load.ts';
import { lookupResultsMax } from '../../src/contract/limits.ts';
import { readPublished } from '../../src/store/configuration/published-configuration.ts';
import { diagnose } from '../../src/verify/diagnostics/diagnose.ts';
import { DiagnosticGroups, type LocatedDiagnostic } from '../../src/verify/diagnostics/located-diagnostic.ts';
import { NullPaths } from '../../src/verify/diagnostics/type-counts.ts';
import { Platform, page, siteFiles } from '../jobs/support/platform.ts';
import { TestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { configurationFiles, groups, pageEntity } from './support/fixture.ts';

const redisUrl = (await TestRedis.start()).url;

test('diagnose: each kind of finding has its view id and its path, and is counted in the metrics', async (context) => {
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
  const found = await findings(platform);
  const viewId = (originId: string, alias: string) =>
    `gid://Environment/env-1/Source/src-1/Entity/${originId}/View/${alias}`;
  const others = new Set(['alwaysNull', 'viewMissing', 'urlMissing']);
  const reported = found.filter(({ kind }) => !others.has(kind));
  assert.deepEqual(
    reported.map(({ kind, viewId, entityId, place }) => [kind, viewId ?? entityId, place]).sort(),
    [
      ['lookupCut', viewId('g0', 'group'), '$.properties.members.input.$lookup'],
      ['partialUnknown', viewId('p1', 'page'), '$.properties.card'],
      ['urlClash', viewId('p1', 'page'), '$.route.url'],
      ['valueDoesNotFit', 'gid://Source/src-1/Entity/p2', '$.properties.name'],
    ],
  );
  await until('the metrics have them', async () => {
    const texts = (await platform.store.registry.metrics('test')).map(({ text }) => text).join('\n');
    return ['lookupCut', 'partialUnknown', 'valueDoesNotFit'].every((kind) =>
      new RegExp(`millrace_diagnostics_total\\{[^}]*kind="${kind}"[^}]*\\} [1-9]`).test(texts),
    );
  });
});

/** Every finding about what a platform has stored. */
async function findings(platform: Platform): Promise<LocatedDiagnostic[]> {
  const published = await readPublished(platform.store);
  const nullPaths = new NullPaths();
  const loaded = loadConfiguration(published?.documents ?? new Map(), 'stored', nullPaths.observe);
  assert.ok(loaded.ok);
  const found: LocatedDiagnostic[] = [];
  await diagnose({
    store: platform.store,
    configuration: loaded.configuration,
    tenant: null,
    nullPaths,
    onProgress: () => {},
    onDiagnostic: (diagnostic) => found.push(diagnostic),
  });
  return found;
}

test('diagnose: the most frequent findings are counted, and reported with an example', async (context) => {
  const platform = await Platform.start(context, redisUrl);
  await platform.publish(
    siteFiles({
      schemas: {
        page: {
          triggers: { cms: ['page'] },
          route: { url: '{p.slug}' },
          properties: {
            title: '{p.name} {p.titel}',
            size: { type: 'number', value: '{p.size}' },
            fallback: '{p.subtitle ?? p.name}',
            author: { type: 'reference', alias: 'autor', originId: '{p.author}' },
            related: {
              type: 'array',
              input: '{p.related}',
              items: { type: 'reference', alias: 'page', originId: '{item}' },
            },
            card: { type: 'partial', input: '{root}', alias: 'card' },
          },
        },
        author: { triggers: { cms: ['author'] }, properties: { name: '{p.name}' } },
      },
      partials: { card: { properties: { label: '{p.label}', name: '{p.name}' } } },
      indexes: {
        events: {
          triggers: { cms: ['event'] },
          properties: { name: '{p.name}' },
          index: { fields: { name: { type: 'text' } } },
        },
      },
    }),
  );
  await platform.startWorker();
  await platform.ingest([
    page('a', { name: 'A', slug: '/a', author: 'x', related: ['b', 'gone', 'gone too'], size: 'large' }),
    page('b', { name: 'B', slug: 'b', related: ['a'] }),
    page('c', { name: 'C', subtitle: 'S', related: [] }),
    page('n1', { name: 'N' }, { type: 'note' }),
    page('n2', { name: 'N' }, { type: 'note' }),
  ]);
  await platform.settle();
  const groups = new DiagnosticGroups();
  for (const finding of await findings(platform)) groups.add(finding);
  const view = (originId: string) => `gid://Environment/env-1/Source/src-1/Entity/${originId}/View/page`;
  const reported = groups.all.map(({ kind, schema, place, viewId, count, example }) =>
    // The order of two entries depends on Redis.
    [kind, schema, place, kind === 'urlMissing' ? 'b or c' : viewId, count, example].map(
      (part) => part ?? null,
    ),
  );
  const [withoutUrl] = groups.all.filter(({ kind }) => kind === 'urlMissing');
  assert.ok([view('b'), view('c')].includes(withoutUrl?.viewId ?? ''));
  assert.deepEqual(
    reported.sort((one, other) => (String(one) < String(other) ? -1 : 1)),
    [
      ['alwaysNull', null, 'partials/card $.properties.label', null, 3, null],
      ['alwaysNull', 'page', '$.properties.title', null, 3, null],
      ['schemaUnknown', 'page', '$.properties.author', view('a'), 1, null],
      ['schemaUnused', 'author', '$.triggers', null, 0, null],
      ['schemaUnused', 'events', '$.triggers', null, 0, null],
      ['typeUnused', null, null, null, 2, null],
      ['urlMissing', 'page', '$.route.url', 'b or c', 2, null],
      ['valueDoesNotFit', 'page', '$.properties.size', view('a'), 1, null],
      ['viewMissing', 'page', '$.properties.related', view('a'), 2, view('gone')],
    ].sort((one, other) => (String(one) < String(other) ? -1 : 1)),
  );
  const unused = groups.all.find(({ kind }) => kind === 'typeUnused');
  assert.match(unused?.entityId ?? '', /\/Entity\/n[12]$/);
  const message = (kind: string) => groups.all.find((one) => one.kind === kind)?.message ?? '';
  assert.match(message('schemaUnknown'), /"autor".*did you mean "author"/);
  assert.match(message('viewMissing'), /related\[\*\]/);
  assert.doesNotMatch(message('valueDoesNotFit'), /index/);
  assert.match(groups.all.find(({ place }) => place === '$.properties.title')?.message ?? '', /`p\.titel`/);
});
