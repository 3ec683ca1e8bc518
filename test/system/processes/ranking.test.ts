/**
 * Searches over HTTP: three workers, with and without shard copies, answer byte for byte like one worker.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { waitUntilSettled } from '../../../src/store/partitions/partition-state.ts';
import { until } from '../../support/until.ts';
import { entityOf } from '../support/data/entities.ts';
import { System, type SystemOptions } from '../support/processes/system.ts';
import { Random } from '../support/random.ts';
import { clientKey, siteFiles, sourceKey } from '../support/site.ts';

const partitions = 12;
const words =
  'the of house houses housing hause garden gardens green grene red read brick city cities river'.split(' ');
const random = new Random(38);

function text(wordsMax: number): string {
  return Array.from({ length: 1 + random.below(wordsMax) }, () => random.pick(words)).join(' ');
}

const things = Array.from({ length: 300 }, (_, at) =>
  entityOf(`t${at}`, 'thing', { title: text(4), body: text(60), sold: random.below(5000) }),
);
const files = siteFiles({
  indexes: {
    things: {
      triggers: { cms: ['thing'] },
      properties: { title: '{p.title}', body: '{p.body}', sold: { '*': 'p.sold' } },
      index: {
        fields: {
          title: { type: 'text', language: 'en' },
          body: { type: 'text', language: 'en' },
          sold: { type: 'integer' },
        },
        synonyms: [['city', 'red brick']],
      },
    },
  },
});
const fields = [{ field: 'title', weight: 2.5 }, { field: 'body' }];
const searches: readonly JsonObject[] = [
  ...Array.from({ length: 12 }, () => ({ fields, value: text(5) })),
  { fields, value: 'hose gren' },
  { fields, value: 'red ho', prefix: true },
  { fields, value: 'house garden', mode: 'all' },
  { field: 'body', value: '"red brick" -river', operators: true },
  { fields, value: 'city', boost: [{ field: 'sold', weight: 0.3 }] },
];

const started: System[] = [];
after(async () => {
  for (const system of started) await system.stop();
});

/** The response bodies of all pages of each search. */
async function answersOf(options: Omit<SystemOptions, 'files'>): Promise<string[]> {
  const system = await System.start({ ...options, jobs: 0, partitions, files });
  started.push(system);
  const client = system.client();
  for (let at = 0; at < things.length; at += 50) {
    const some = things.slice(at, at + 50);
    const saved = await client.post('/ingest/v2', some as unknown as Json, { key: sourceKey });
    assert.equal(saved.status, 200, saved.text);
  }
  await waitUntilSettled(await system.store());
  const ask = (body: JsonObject) => client.post('/v1/things', body, { key: clientKey });
  // Copies of shards are loaded after the platform is ready.
  await until('all items are found', async () => (await ask({})).json?.totalResults === things.length);
  const answers: string[] = [];
  for (const search of searches) {
    let token: string | null = null;
    let isFirst = true;
    while (isFirst || token !== null) {
      const pagination: JsonObject = { pageSize: 40, nextPageToken: token };
      const body = { search, pagination, highlight: { length: 60 }, facets: [{ field: 'sold', size: 3 }] };
      let response = await ask(body);
      // On a busy machine the answer can be a 503, and clients retry.
      await until('the query is answered', async () => {
        if (response.status === 503) response = await ask(body);
        return response.status !== 503;
      });
      const { status, text: answer, json } = response;
      assert.equal(status, 200, answer);
      [token, isFirst] = [json.nextPageToken, false];
      // Tokens are signed with the secret of each store, and the entities were saved at other times.
      answers.push(answer.replace(/"nextPageToken":"[^"]+"/, '').replace(/"_updatedAt":"[^"]+"/g, ''));
    }
  }
  await system.stop();
  started.pop();
  return answers;
}

test('ranking: three workers, with and without copies, rank like one, on every page', async () => {
  const expected = await answersOf({ workers: 1 });
  assert.ok(expected.length > searches.length);
  assert.deepEqual(await answersOf({ workers: 3 }), expected);
  assert.deepEqual(await answersOf({ workers: 3, env: { SHARD_COPIES: '2' } }), expected);
});
