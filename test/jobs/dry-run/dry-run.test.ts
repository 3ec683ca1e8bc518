import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashKeys } from '../../../src/config/documents/canonical.ts';
import type { SourceEntity } from '../../../src/contract/entity.ts';
import type { Json } from '../../../src/contract/json.ts';
import { beginDryRun, dryRunJobs, dryRunState } from '../../../src/jobs/dry-run/queue.ts';
import { activeGeneration } from '../../../src/store/configuration/published-configuration.ts';
import type { ConfigurationDiff } from '../../../src/trial/dry-run/diff.ts';
import { TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';
import { differencesIn } from '../support/differences.ts';
import { type Files, Platform, page, siteFiles, siteTenant } from '../support/platform.ts';
import { countsBetween, delivered } from './delivered.ts';

const redisUrl = (await TestRedis.start()).url;

/** Numbers that look random and are the same in every run. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

type Below = ReturnType<typeof numbersFrom>;

function oneOf<T>(below: Below, things: readonly T[]): T {
  const thing = things[below(things.length)];
  if (thing === undefined) throw new Error('there is one');
  return thing;
}

function randomEntity(below: Below, at: number): SourceEntity {
  const path = () => `/${oneOf(below, ['a', 'A', 'b', 'B'])}${below(40)}`;
  const host = () => oneOf(below, ['', '', '', 'https://www.example.com']);
  return page(
    `e${at}`,
    {
      name: `Name ${below(20)}`,
      group: `g${below(6)}`,
      level: below(4),
      ...(below(2) === 0 ? { tag: `t${below(3)}` } : {}),
    },
    {
      type: oneOf(below, ['page', 'page', 'post', 'group']),
      url: below(5) === 0 ? null : host() + path(),
      redirects: Array.from({ length: below(3) }, () => host() + path()),
    },
  );
}

function randomSchema(below: Below): Json {
  const property = oneOf(below, ['group', 'level', 'tag', 'name']);
  return {
    triggers: { cms: oneOf(below, [['page'], ['page', 'post'], ['post', 'group'], ['group']]) },
    ...(below(6) === 0
      ? {}
      : {
          route: {
            ...(below(5) === 0
              ? {}
              : { url: oneOf(below, ['{url}', '{url}', '/x{url}', '/of/{p.group}', '/Of/{p.tag}']) }),
            handles: [oneOf(below, ['{p.tag}', '{p.group}', '{originId}', 'all'])],
          },
        }),
    properties: {
      title: oneOf(below, ['{p.name}', '{p.name}', '{p.group}', 'v{p.level}']),
      ...(below(3) === 0 ? { card: { type: 'partial', input: '{root}', alias: 'card' } } : {}),
      ...(below(3) === 0 ? { first: { type: 'reference', alias: 'one', originId: 'e1' } } : {}),
      ...(below(2) === 0
        ? {}
        : {
            same: {
              type: 'array',
              input: {
                $lookup: {
                  operator: 'equals',
                  sourceEntityProperty: property,
                  matchValue: `{p.${property}}`,
                  orderBy: { property: oneOf(below, ['name', 'level']), sort: 'desc' },
                  top: 4,
                },
              },
              items: '{item.originId}',
            },
          }),
    },
  };
}

/** @param former whose schemas may stay */
function randomFiles(below: Below, former: Files | null): Files {
  const environments = below(3) === 0 ? ['production', 'preview'] : ['production'];
  const kept = (alias: string) => former?.[`tenants/acme/schemas/${alias}.json`];
  const schemas: Record<string, Json> = {};
  for (const alias of ['one', 'two', 'three']) {
    const known = kept(alias);
    if (alias !== 'one' && below(4) === 0) continue;
    schemas[alias] = known !== undefined && below(2) === 0 ? known : randomSchema(below);
  }
  return siteFiles({
    schemas,
    partials: {
      card: { properties: { label: oneOf(below, ['card of {name}', 'card {name}', '{item.p.group}']) } },
    },
    indexes:
      below(4) === 0
        ? {}
        : {
            things: {
              triggers: { cms: oneOf(below, [['page'], ['page', 'post']]) },
              properties: { name: oneOf(below, ['{p.name}', '{p.tag}']) },
              index: { fields: { name: { type: oneOf(below, ['text', 'keyword']) } } },
            },
          },
    tenant: siteTenant({
      environments: environments.map((alias) => ({ id: `env-${alias}`, alias })),
      urls: { caseInsensitive: below(3) === 0 },
      sourceGroups: [
        {
          alias: 'cms',
          autoIndex: below(2) === 0,
          sources: [{ id: 'src-1', name: 'CMS', environments, apiKeys: ['source-key'] }],
        },
      ],
    }),
  });
}

async function dryRun(
  platform: Platform,
  files: Files,
  restartJobs: (() => Promise<void>) | null,
): Promise<ConfigurationDiff> {
  const { store } = platform;
  const texts = Object.entries(files).map(([file, json]) => [file, JSON.stringify(json)] as const);
  const token = await beginDryRun(store, hashKeys(new Map(texts)), {
    tenant: 'acme',
    generation: await activeGeneration(store),
  });
  const queue = dryRunJobs(store);
  try {
    let diff: ConfigurationDiff | null = null;
    let restart = restartJobs;
    await until('the dry run is done', async () => {
      const state = await dryRunState(queue, token, 'acme');
      assert.equal(state?.failure ?? null, null);
      if (restart !== null && (state?.done ?? 0) > 0) {
        await restart();
        restart = null;
      }
      diff = state?.diff ?? null;
      return diff !== null;
    });
    assert.ok(diff !== null);
    return diff;
  } finally {
    await queue.close();
  }
}

test('dry run: applying a configuration changes exactly what its dry run predicted, whatever changes and whenever jobs are killed', async (context) => {
  for (const seed of [1, 2, 3]) {
    const below = numbersFrom(seed);
    const platform = await Platform.start(context, redisUrl);
    let files = randomFiles(below, null);
    const first = await platform.publish(files);
    await platform.startWorker();
    let jobs = await platform.startJobs();
    const restart = async () => {
      await jobs.stop();
      jobs = await platform.startJobs();
    };
    await platform.ingest(Array.from({ length: 90 }, (_, at) => randomEntity(below, at)));
    await platform.settle();
    await platform.rebuilt(first);
    for (let step = 0; step < 5; step += 1) {
      const changed = Array.from({ length: 10 }, () => randomEntity(below, below(90)));
      await platform.ingest(changed.map((entity) => ({ ...entity, type: 'page' })));
      await platform.settle();
      const before = await delivered(platform.store);
      files = randomFiles(below, files);
      const { samples, ...forecast } = await dryRun(platform, files, step % 2 === 0 ? restart : null);
      const unchanged = await delivered(platform.store);
      assert.deepEqual(unchanged, before, 'a dry run stores nothing');
      assert.deepEqual(await platform.store.client.keys('*:dry-run:????????????????????????????????'), []);
      await platform.rebuilt(await platform.publish(files));
      await platform.settle();
      const counted = countsBetween(before, await delivered(platform.store));
      assert.deepEqual(forecast, counted, `seed ${seed}, step ${step}`);
      for (const kind of ['added', 'changed', 'removed'] as const) {
        assert.equal(
          samples[kind].length,
          Math.min(20, counted.views[kind]),
          `${kind} of seed ${seed}, step ${step}`,
        );
      }
    }
    assert.deepEqual(await differencesIn(platform), []);
    await platform.stop();
  }
});
