import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../../src/contract/json.ts';
import type { QueryOutcome } from '../../../src/query/query-service.ts';
import { naiveQuery } from '../../search/support/naive.ts';
import { TestRedis } from '../../support/redis.ts';
import { runs } from '../../support/runs.ts';
import { itemsArbitrary, queryArbitrary, texts, things } from '../support/arbitraries.ts';
import { type Layout, readResult, schemaIndex, TestCluster, textOf } from '../support/cluster.ts';
import { sourceId, tenantOf } from '../support/site.ts';

const redis = await TestRedis.start();
const runCount = runs(25);
const layouts: Layout[] = [
  { partitions: 1, workers: 1 },
  { partitions: 4, workers: 1 },
  { partitions: 4, workers: 3 },
  { partitions: 16, workers: 2 },
  { partitions: 16, workers: 3 },
  { partitions: 4, workers: 1, way: 'tcp' },
  { partitions: 16, workers: 2, way: 'tcp' },
  { partitions: 4, workers: 2, copies: 2 },
  { partitions: 16, workers: 5, copies: 2, way: 'tcp' },
];
const wideFields = ['name', ...Array.from({ length: 100 }, (_, at) => `field${at}`)];
const wide = Object.fromEntries(wideFields.map((name) => [name, 'keyword' as const]));
const tenant = tenantOf({ wide, things }, 'acme', texts);
const clusters = await Promise.all(
  layouts.map((layout, database) => TestCluster.start(redis, tenant, layout, database)),
);
redis.onEnd(() => Promise.all(clusters.map((cluster) => cluster.stop())));

/** The expected answers, from a scan of every item. */
function expectedAnswers(
  items: Readonly<Record<string, JsonObject>>,
  queries: readonly JsonObject[],
): unknown[] {
  const all = Object.entries(items).map(([originId, fields]) => {
    return { partition: 0, sourceId, originId, updatedAtMs: 1000, fields };
  });
  return queries.map((query) => {
    const { total, page, facets } = naiveQuery(all, new Map(Object.entries(things)), query, texts);
    return {
      total,
      rows: page.map(({ item: { originId }, score }) => [originId, score]),
      facets: facets.map((facet) => {
        const { groups, isValid, stats = null } = facet;
        return facet.field in things ? [groups, isValid, stats] : [[], false, null];
      }),
    };
  });
}

function givenAnswer(outcome: QueryOutcome): unknown {
  assert.ok(outcome.ok, textOf(outcome));
  const { totalResults, rows, facets } = readResult(outcome);
  return {
    total: totalResults,
    rows: rows.map(({ originId, text }) => [originId, JSON.parse(text.toString())._score]),
    facets: facets.map(({ groups, isValid, stats = null }) => [groups, isValid, stats]),
  };
}

/** Changes that turn the content of a cluster into `wanted`. */
const present = new Set<string>();
function changesTo(wanted: Readonly<Record<string, JsonObject>>): Map<string, JsonObject | null> {
  const changes = new Map<string, JsonObject | null>(Object.entries(wanted));
  for (const originId of present) if (!changes.has(originId)) changes.set(originId, null);
  present.clear();
  for (const originId of Object.keys(wanted)) present.add(originId);
  return changes;
}

/** As in an answer: JSON has only one zero. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

test('layouts: answers equal those of a scan of all items, byte for byte, for any number of partitions and workers', async () => {
  await fc.assert(
    fc.asyncProperty(
      itemsArbitrary,
      fc.array(queryArbitrary, { minLength: 1, maxLength: 5 }),
      async (items, queries) => {
        const changes = changesTo(items);
        await Promise.all(clusters.map((cluster) => cluster.write(schemaIndex('things'), changes)));
        const outcomes = await Promise.all(
          clusters.map((cluster) => cluster.run({ kind: 'index', alias: 'things' }, ...queries)),
        );
        assert.deepEqual(
          asJson((outcomes[0] ?? []).map(givenAnswer)),
          asJson(expectedAnswers(items, queries)),
        );
        const answers = outcomes.map((each) => each.map(textOf).join('\n'));
        // Tokens are signed with each store's own secret.
        const bytes = answers.map((answer) =>
          answer.replace(/"nextPageToken":"[^"]+"/g, '"nextPageToken":""'),
        );
        for (const [index, text] of bytes.entries()) {
          assert.equal(text, bytes[0], JSON.stringify(layouts[index]));
        }
        const ids = await clusters[4]?.allIds('things');
        assert.deepEqual(ids, Object.keys(items).sort());
      },
    ),
    { numRuns: runCount },
  );
});

test('layouts: facets with more groups than workers send together are exact', async () => {
  const items = new Map<string, JsonObject | null>();
  // Skewed by partition, so that groups that are frequent on one worker are rare on another.
  for (let number = 0; number < 6000; number += 1) {
    const name = number % 3 === 0 ? `common-${number % 50}` : `rare-${number}`;
    items.set(`many-${number}`, { name });
  }
  for (const originId of present) items.set(originId, null);
  present.clear();
  const facets = [{ field: 'name', size: 100 }];
  const counts = new Map<string, number>();
  for (const fields of items.values()) {
    const name = fields?.name;
    if (typeof name === 'string') counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const expected = [...counts]
    .sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1))
    .slice(0, 100)
    .map(([value, count]) => ({ value, count }));
  for (const cluster of clusters.slice(2)) {
    await cluster.write(schemaIndex('things'), items);
    const answer = await cluster.query('things', { facets, pagination: { pageSize: 0 } });
    assert.deepEqual(answer.facets[0]?.groups, expected);
    assert.equal(answer.totalResults, 6000);
  }
});

test('layouts: the first item of each value is found among thousands, with any number of workers', async () => {
  const items = new Map<string, JsonObject | null>();
  for (let number = 0; number < 4000; number += 1) {
    const size = (number * 7919) % 4000;
    items.set(`many-${number}`, { name: `name-${number % 1500}`, size, count: number % 7 });
  }
  // The items of the previous test.
  for (let number = 4000; number < 6000; number += 1) items.set(`many-${number}`, null);
  const first = new Map<string, JsonObject>();
  for (const fields of items.values()) {
    const known = first.get(String(fields?.name));
    if (fields !== null && (known === undefined || Number(fields.size) < Number(known.size)))
      first.set(String(fields.name), fields);
  }
  const inOrder = [...first.values()].sort((a, b) => Number(a.size) - Number(b.size));
  const counts = [0, 1, 2, 3, 4, 5, 6].map(
    (count) => inOrder.filter((fields) => fields.count === count).length,
  );
  const query: JsonObject = { distinct: 'name', sort: [{ field: 'size' }], facets: [{ field: 'count' }] };
  for (const cluster of clusters.slice(2)) {
    await cluster.write(schemaIndex('things'), items);
    const found: number[] = [];
    let nextPageToken: string | null = null;
    do {
      const answer = await cluster.query('things', {
        ...query,
        pagination: { pageSize: 700, nextPageToken },
      });
      assert.equal(answer.totalResults, 1500);
      const groups = new Map(answer.facets[0]?.groups.map(({ value, count }) => [value, count]));
      assert.deepEqual(
        [0, 1, 2, 3, 4, 5, 6].map((count) => groups.get(count)),
        counts,
      );
      found.push(...answer.rows.map(({ text }) => JSON.parse(text.toString()).size));
      nextPageToken = answer.nextPageToken;
    } while (nextPageToken !== null);
    assert.deepEqual(
      found,
      inOrder.map(({ size }) => size),
    );
  }
});

test('layouts: values and sort values of any length are compared, with any number of workers', async () => {
  const items = new Map<string, JsonObject | null>();
  const long = 'x'.repeat(60_000);
  for (let number = 0; number < 60; number += 1)
    items.set(`many-${number}`, { name: `${long}${number % 20}`, title: `${long}${(number * 7) % 60}` });
  for (let number = 60; number < 4000; number += 1) items.set(`many-${number}`, null);
  const expected = Array.from({ length: 20 }, (_, name) => {
    const titles = [name, name + 20, name + 40].map((number) => `${(number * 7) % 60}`).sort();
    return `${long}${titles[0]}`;
  });
  const query: JsonObject = { distinct: 'name', sort: [{ field: 'isNew' }, { field: 'title' }] };
  for (const cluster of clusters.slice(2, 4)) {
    await cluster.write(schemaIndex('things'), items);
    const { rows, totalResults } = await cluster.query('things', { ...query, pagination: { pageSize: 100 } });
    assert.equal(totalResults, 20);
    assert.ok(
      rows.every(({ text }, at) => JSON.parse(text.toString()).title === expected.toSorted()[at]),
      'the first title of each name',
    );
  }
});

test('layouts: more values than several workers compare are refused by a single worker too', async () => {
  const names = wideFields.filter((name) => name !== 'name');
  const query: JsonObject = {
    distinct: 'name',
    filters: { and: names.map((field) => ({ field, operator: 'equals', value: null })) },
    facets: names.map((field) => ({ field, filter: false })),
    sort: ['_updatedAt', '_sourceGuid', '_originId', 'name'].map((field) => ({ field })),
  };
  // 101 times as many values are compared, each with four sort values.
  const most = Math.floor(2 ** 21 / 5 / 101);
  for (const cluster of clusters.slice(0, 3).filter((_, at) => at !== 1)) {
    const items = new Map<string, JsonObject | null>();
    for (let number = 0; number < most; number += 1) items.set(`wide-${number}`, { name: `name-${number}` });
    await cluster.write(schemaIndex('wide'), items);
    const target = { kind: 'index', alias: 'wide' } as const;
    const [good] = await cluster.run(target, query);
    assert.equal(good?.ok && readResult(good).totalResults, most);
    await cluster.write(schemaIndex('wide'), new Map([['one-more', { name: 'one more' }]]));
    const [bad] = await cluster.run(target, query);
    assert.match(
      bad?.ok === false ? (bad.errors[0] ?? '') : '',
      /^distinct: there are more than .* values, each counted once/,
    );
  }
});
