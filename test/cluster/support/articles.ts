/** A site of articles and categories with many dependencies, and a check of all its outputs. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SourceEntity } from '../../../src/contract/entity.ts';
import type { Json } from '../../../src/contract/json.ts';
import { until } from '../../support/until.ts';
import type { Answer, Client } from '../../system/support/client.ts';
import { viewDifferences } from '../../system/support/compare.ts';
import { entityOf } from '../../system/support/data/entities.ts';
import type { Ledger } from '../../system/support/ledger.ts';
import type { ConfigFiles, System } from '../../system/support/processes/system.ts';
import type { Random } from '../../system/support/random.ts';
import { clientKey, environmentId, siteFiles, sourceId } from '../../system/support/site.ts';
import { FreshViews } from '../../system/support/tenant/fresh.ts';
import { differencesFoundByVerify } from '../../system/support/verify.ts';

const categoryCount = 20;
/** A rejected write adds a possible state, so immediate retries would add thousands. */
const pauseMs = 50;
/** Views with references and lookups, and an index. Version 2 changes the view of every article. */
export function files(version: 1 | 2): ConfigFiles {
  return siteFiles({
    schemas: {
      article: {
        triggers: { cms: ['article'] },
        route: { url: '{url}', handles: ['article-{originId}'] },
        properties: {
          title: version === 1 ? '{p.title}' : '{p.title} (new)',
          category: { type: 'reference', alias: 'category', originId: '{p.category}' },
        },
      },
      category: {
        triggers: { cms: ['category'] },
        route: { url: '/categories/{originId}' },
        properties: {
          name: '{p.name}',
          latest: {
            type: 'array',
            input: {
              $lookup: {
                operator: 'equals',
                sourceEntityProperty: 'category',
                matchValue: '{originId}',
                sourceEntityType: 'article',
                orderBy: { property: 'rank', sort: 'desc' },
                top: 5,
              },
            },
            items: '{item.p.title}',
          },
        },
      },
    },
    indexes: {
      articles: {
        triggers: { cms: ['article'] },
        properties: { title: '{p.title}', rank: { type: 'number', value: '{p.rank}' } },
        index: { fields: { title: { type: 'text' }, rank: { type: 'long' } } },
      },
    },
  });
}

export const categories = Array.from({ length: categoryCount }, (_, n) =>
  entityOf(`c${n}`, 'category', { name: `Category ${n}` }),
);

export function article(random: Random, n: number): SourceEntity {
  return entityOf(
    `a${n}`,
    'article',
    {
      title: `Title ${random.below(1_000_000)} of a${n}`,
      rank: random.below(1_000),
      category: `c${random.below(categoryCount)}`,
    },
    { url: `/articles/${random.below(4)}/${n}`, redirects: random.chance(0.2) ? [`/old/${n}`] : [] },
  );
}

/** Compares everything delivered, listed and found with the outputs of the acknowledged entities. */
export async function assertTrue(system: System, client: Client, ledger: Ledger): Promise<void> {
  const tenant = system.configuration.tenants.get('acme');
  assert.ok(tenant);
  const entities = ledger.entities();
  const fresh = new FreshViews(tenant, new Map([[sourceId, entities]]));
  const targets = ledger.originIds.map((originId) => ({
    environmentId,
    sourceId,
    originId,
    alias: originId.startsWith('a') ? 'article' : 'category',
  }));
  assert.deepEqual(await viewDifferences(client, clientKey, targets, fresh), []);
  const articles = [...entities.values()].filter(({ type }) => type === 'article');
  await until(
    'the index has all of its partitions again',
    async () => (await client.post('/v1/articles', {}, { key: clientKey })).status === 200,
    30_000,
  );
  const found: string[] = [];
  for (let pageToken: string | null = null, page = 0; page === 0 || pageToken !== null; page += 1) {
    const pagination: { [name: string]: Json } = { pageSize: 1000, nextPageToken: pageToken };
    const { json, text }: Answer = await client.post('/v1/articles', { pagination }, { key: clientKey });
    assert.equal(json.totalResults, articles.length, text);
    found.push(...json.results.map((item: { _originId: string }) => item._originId));
    pageToken = json.nextPageToken;
  }
  assert.deepEqual(found.sort(), articles.map(({ originId }) => originId).sort());
  const { json: routes } = await client.get('/routes/v1?first=100', { key: clientKey });
  const urls = [...entities.values()].flatMap(({ originId, type, url, redirects }) =>
    type === 'category' ? [`/categories/${originId}`] : [url ?? '', ...redirects],
  );
  assert.equal(routes.total, urls.length);
  for (const { originId, url, redirects } of articles.slice(0, 100)) {
    const { json } = await client.get(`/v2?url=${url}&handle=article-${originId}`, { key: clientKey });
    assert.equal(json.meta.status, 200, `${url} ${JSON.stringify(json.meta)}`);
    for (const redirect of redirects) {
      const { json: redirected } = await client.get(`/v2?url=${redirect}`, { key: clientKey });
      assert.equal(redirected.meta.redirect, url);
    }
  }
  assert.deepEqual(await differencesFoundByVerify(system), []);
}

export interface Writing {
  /** One for every request, in order. */
  readonly answers: readonly { readonly isAcknowledged: boolean; readonly atMs: number }[];
  stop(): Promise<void>;
}

/** Saves articles continuously. Each writer has its own articles, so that the order of their states is known. */
export function keepWriting(client: Client, ledger: Ledger, random: Random, articles: number): Writing {
  const writers = 4;
  const answers: { isAcknowledged: boolean; atMs: number }[] = [];
  let isOver = false;
  const write = async (writer: number): Promise<void> => {
    const own = Array.from({ length: articles / writers }, (_, n) => n * writers + writer);
    while (!isOver) {
      const portion = random.shuffled(own).slice(0, 20);
      const isAcknowledged = await ledger.save(
        client,
        portion.map((n) => article(random, n)),
      );
      answers.push({ isAcknowledged, atMs: performance.now() });
      await sleep(pauseMs);
    }
  };
  const work = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  return {
    answers,
    stop: async () => {
      isOver = true;
      await work;
    },
  };
}

/** A rejected write may have been applied or not. Repeating it, as a client does, makes it certain. */
export async function sendAgain(client: Client, ledger: Ledger): Promise<void> {
  for (const originId of ledger.originIds) {
    const states = ledger.possible(originId);
    const last = states.at(-1);
    if (states.length > 1 && last) assert.ok(await ledger.save(client, [last]));
  }
}
