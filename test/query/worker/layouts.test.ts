import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { TestRedis } from '../../support/redis.ts';
import { type Layout, readResult, schemaIndex, TestCluster, textOf } from '../support/cluster.ts';
import { tenantOf } from '../support/site.ts';

const redis = await TestRedis.start();
const runs = 25 * Number(process.env.MILLRACE_RUNS ?? 1);
const layouts: Layout[] = [
  { partitions: 1, workers: 1 },
  { partitions: 4, workers: 1 },
  { partitions: 4, workers: 3 },
  { partitions: 16, workers: 2 },
  { partitions: 16, workers: 3 },
  { partitions: 4, workers: 1, hasSocket: true },
  { partitions: 16, workers: 2, hasSocket: true },
];
const wideFields = ['name', ...Array.from({ length: 100 }, (_, at) => `field${at}`)];
const tenant = tenantOf({
  wide: Object.fromEntries(wideFields.map((name) => [name, 'keyword' as const])),
  things: {
    name: 'keyword',
    title: 'text',
    intro: 'text',
    tags: 'keyword[]',
    size: 'double',
    count: 'long',
    isNew: 'boolean',
    at: 'date',
    span: 'integerRange',
    where: 'geoPoint',
    stops: 'geoPoint[]',
  },
});
const clusters = await Promise.all(
  layouts.map((layout, database) => TestCluster.start(redis, tenant, layout, database)),
);
redis.onEnd(() => Promise.all(clusters.map((cluster) => cluster.stop())));

const word = fc.constantFrom('river', 'rivers', 'revir', 'mill', 'mil', 'wheel', 'Rad', 'ünder', 'a');
const place: fc.Arbitrary<Json> = fc.constantFrom<Json>(
  [16, 48],
  { lat: -10, lon: 180 },
  { lat: 48, lon: 16.5 },
  [-180, 0],
);
const fieldsArbitrary: fc.Arbitrary<JsonObject> = fc.record(
  {
    name: word,
    title: fc.array(word, { maxLength: 4 }).map((words) => words.join(' ')),
    intro: fc.array(word, { maxLength: 2 }).map((words) => words.join(' ')),
    tags: fc.array(word, { maxLength: 3 }),
    size: fc.constantFrom(-1.5, 0, 0.5, 3, 1e9),
    count: fc.constantFrom<Json>(1, 2, '9223372036854775807', '9007199254740993'),
    isNew: fc.boolean(),
    at: fc.constantFrom('2024-01-01', '2024-01-01T00:00:00Z', '2025-05-05T05:05:05'),
    span: fc.constant({ gte: 1, lt: 5 }),
    where: place,
    stops: fc.array(place, { maxLength: 3 }),
  },
  { requiredKeys: [] },
);
const itemsArbitrary = fc.dictionary(
  fc.integer({ min: 0, max: 60 }).map((number) => `item-${number}`),
  fieldsArbitrary,
  { maxKeys: 40 },
);

const conditionArbitrary: fc.Arbitrary<Json> = fc.oneof(
  fc.record({
    field: fc.constantFrom('name', 'tags'),
    operator: fc.constantFrom('equals', 'notEquals', 'contains'),
    value: word,
  }),
  fc.record({
    field: fc.constantFrom('size', 'count'),
    operator: fc.constantFrom('greaterThan', 'lessThanOrEquals'),
    value: fc.constantFrom(0, 1, 3),
  }),
  fc.record({
    field: fc.constantFrom('where', 'stops'),
    operator: fc.constant('withinDistance'),
    value: fc.constantFrom<Json>({ lat: 48, lon: 16, meters: 50_000 }, { lat: 0, lon: 179, meters: 2e6 }),
  }),
  fc.record({
    field: fc.constant('isNew'),
    operator: fc.constant('equals'),
    value: fc.constantFrom<Json>(true, null),
  }),
);
const nearArbitrary: fc.Arbitrary<Json[]> = fc.array(
  fc.record({
    field: fc.constantFrom('where', 'stops'),
    near: fc.constantFrom<Json>({ lat: 48, lon: 16 }, { lat: 0, lon: -180 }),
    order: fc.constantFrom('asc', 'desc'),
  }),
  { maxLength: 1 },
);
const sortArbitrary: fc.Arbitrary<Json[]> = fc.array(
  fc.record({
    field: fc.constantFrom(
      'name',
      'title',
      'tags',
      'size',
      'count',
      'isNew',
      'at',
      '_updatedAt',
      '_originId',
    ),
    order: fc.constantFrom('asc', 'desc'),
  }),
  { maxLength: 3 },
);
const facetArbitrary: fc.Arbitrary<Json[]> = fc.array(
  fc.record({
    field: fc.constantFrom('name', 'title', 'tags', 'size', 'count', 'isNew', 'at', 'span', 'nowhere'),
    size: fc.integer({ min: 1, max: 5 }),
    stats: fc.boolean(),
    filter: fc.boolean(),
    ranges: fc.constantFrom<Json>(null, null, [{ to: 2 }, { from: 0, to: 1e17 }], [{}]),
  }),
  { maxLength: 3 },
);
const searchArbitrary: fc.Arbitrary<JsonObject> = fc.oneof<fc.Arbitrary<JsonObject>[]>(
  fc.record({ field: fc.constant('title'), value: word, literal: fc.boolean() }),
  fc.record({
    fields: fc.constant<Json>([
      { field: 'title', weight: 0.3 },
      { field: 'intro', weight: 0.1 },
    ]),
    value: fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(' ')),
    mode: fc.constantFrom('any', 'all'),
    prefix: fc.boolean(),
    fuzziness: fc.constantFrom(0, 1, 2, null),
  }),
);
const intervalArbitrary: fc.Arbitrary<Json> = fc.record({
  field: fc.constant('at'),
  interval: fc.constantFrom('day', 'week', 'month', 'year'),
  stats: fc.boolean(),
});
const queryArbitrary: fc.Arbitrary<JsonObject> = fc.record(
  {
    filters: fc.record({ and: fc.array(conditionArbitrary, { maxLength: 2 }) }),
    search: searchArbitrary,
    highlight: fc.constantFrom<Json>({}, { length: 9 }, { fields: ['title'], before: '*', after: '' }, null),
    facets: fc.tuple(facetArbitrary, intervalArbitrary).map(([some, one]): Json => [...some, one]),
    distinct: fc.constantFrom('name', 'title', 'size', 'count', 'isNew', 'at', '_updatedAt'),
    distinctFacets: fc.boolean(),
    sort: fc.tuple(sortArbitrary, nearArbitrary).map(([keys, near]): Json => [...keys, ...near]),
    pagination: fc.record({
      page: fc.integer({ min: 0, max: 3 }),
      pageSize: fc.integer({ min: 0, max: 20 }),
    }),
  },
  { requiredKeys: [] },
);

/** Changes that turn what a cluster has into `wanted`. */
const present = new Set<string>();
function changesTo(wanted: Readonly<Record<string, JsonObject>>): Map<string, JsonObject | null> {
  const changes = new Map<string, JsonObject | null>(Object.entries(wanted));
  for (const originId of present) if (!changes.has(originId)) changes.set(originId, null);
  present.clear();
  for (const originId of Object.keys(wanted)) present.add(originId);
  return changes;
}

test('answers are byte for byte the same whatever the number of partitions and workers', async () => {
  await fc.assert(
    fc.asyncProperty(
      itemsArbitrary,
      fc.array(queryArbitrary, { minLength: 1, maxLength: 5 }),
      async (items, queries) => {
        const changes = changesTo(items);
        await Promise.all(clusters.map((cluster) => cluster.write(schemaIndex('things'), changes)));
        const answers = await Promise.all(
          clusters.map(async (cluster) =>
            (await cluster.run({ kind: 'index', alias: 'things' }, ...queries)).map(textOf).join('\n'),
          ),
        );
        // Tokens are signed with each store's own secret.
        const texts = answers.map((answer) =>
          answer.replace(/"nextPageToken":"[^"]+"/g, '"nextPageToken":""'),
        );
        for (const [index, text] of texts.entries()) {
          assert.equal(text, texts[0], JSON.stringify(layouts[index]));
        }
        const ids = await clusters[4]?.allIds('things');
        assert.deepEqual(ids, Object.keys(items).sort());
      },
    ),
    { numRuns: runs },
  );
});

test('facets with more groups than workers send at once are exact', async () => {
  const items = new Map<string, JsonObject | null>();
  // Skewed by partition, so that what is frequent on one worker is rare on another.
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

test('of each value the first item is found among thousands, with any number of workers', async () => {
  const items = new Map<string, JsonObject | null>();
  for (let number = 0; number < 4000; number += 1) {
    const size = (number * 7919) % 4000;
    items.set(`many-${number}`, { name: `name-${number % 1500}`, size, count: number % 7 });
  }
  // Those of the test before.
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

test('values and sort values of any length are compared, with any number of workers', async () => {
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

test('more values than several workers compare are refused by one worker too', async () => {
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
    assert.match(bad?.ok === false ? (bad.errors[0] ?? '') : '', /^distinct: the values, each counted once/);
  }
});
