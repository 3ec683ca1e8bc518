/**
 * The cities of the world, loaded over HTTP, and queries derived from their data: every answer is compared with a scan of the
 * file. MILLRACE_DATA=1 uses the whole file and more queries.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { SourceEntity } from '../../../src/contract/entity.ts';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import type { FieldType } from '../../../src/search/fields/field-type.ts';
import type { IndexItem } from '../../../src/search/shard/doc-table.ts';
import { waitUntilSettled } from '../../../src/store/partitions/partition-state.ts';
import { type NaiveAnswer, type NaiveRow, naiveQuery } from '../../search/support/naive.ts';
import type { Answer, Client } from '../support/client.ts';
import {
  cities,
  cityAutoFields,
  cityAutoTypes,
  cityIndex,
  cityIndexFields,
  cityIndexTypes,
  dataSetName,
  hasLargeFile,
} from '../support/data/cities.ts';
import { entityOf } from '../support/data/entities.ts';
import { dataQuery } from '../support/data/query.ts';
import { sharedPlatform } from '../support/processes/shared-platform.ts';
import type { System } from '../support/processes/system.ts';
import { Random } from '../support/random.ts';
import { clientKey, siteFiles, sourceId, sourceKey } from '../support/site.ts';

const queryCount = Number(process.env.MILLRACE_QUERIES ?? (hasLargeFile ? 500 : 30));
const guestCount = hasLargeFile ? 10_000 : 400;
const offsetWindow = 10_000;

interface Target {
  readonly path: string;
  readonly types: ReadonlyMap<string, FieldType>;
  readonly items: readonly IndexItem[];
  /** Items of the index endpoint carry a score. */
  readonly hasScore: boolean;
}

const random = Random.forTest('cities');
let system: System;
let client: Client;
let entities: SourceEntity[];
let targets: Target[];

before(async () => {
  entities = await cities(1_000);
  const files = siteFiles({ tenant: 'cities', indexes: { cities: cityIndex } });
  system = await sharedPlatform(files);
  client = system.client();
  await saveAll(entities);
  await waitUntilSettled(await system.store());
  const times = await changeTimes();
  const itemsOf = (fieldsOf: (entity: SourceEntity) => JsonObject): IndexItem[] =>
    entities.map((entity) => ({
      partition: 0,
      sourceId,
      originId: entity.originId,
      updatedAtMs: times.get(entity.originId) ?? 0,
      fields: fieldsOf(entity),
    }));
  targets = [
    { path: '/v1/cities', types: cityIndexTypes, items: itemsOf(cityIndexFields), hasScore: true },
    {
      path: '/v1/sourceGroupAlias/cms/type/city',
      types: cityAutoTypes(entities),
      items: itemsOf(cityAutoFields),
      hasScore: false,
    },
  ];
});

async function saveAll(all: readonly SourceEntity[]): Promise<void> {
  const portions = Array.from({ length: Math.ceil(all.length / 50) }, (_, at) => at * 50);
  const sending = Array.from({ length: 4 }, async () => {
    for (let from = portions.pop(); from !== undefined; from = portions.pop()) {
      const body = all.slice(from, from + 50) as unknown as Json;
      const { status, json, text } = await client.post('/ingest/v2', body, { key: sourceKey });
      assert.equal(status, 200, text);
      assert.deepEqual(json.errors, {});
    }
  });
  await Promise.all(sending);
}

/** Update times, the only property of an item that is taken from the answers. */
async function changeTimes(): Promise<Map<string, number>> {
  const times = new Map<string, number>();
  for await (const { results } of pagesByToken('/v1/cities', {}, 1_000)) {
    for (const { _originId, _updatedAt } of results) times.set(_originId, Date.parse(_updatedAt));
  }
  assert.deepEqual([...times.keys()].sort(), entities.map(({ originId }) => originId).sort());
  return times;
}

/** A client retries after a 503, which a busy machine returns for the largest of these queries. */
async function ask(path: string, body: JsonObject): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    const answer = await client.post(path, body, { key: clientKey });
    if (answer.status === 503 && tries < 5) continue;
    assert.equal(answer.status, 200, `${answer.text}: ${JSON.stringify(body)}`);
    return answer;
  }
}

async function* pagesByToken(
  path: string,
  body: JsonObject,
  pageSize: number,
): AsyncGenerator<Answer['json']> {
  let nextPageToken: Json = null;
  do {
    const { json } = await ask(path, { ...body, pagination: { pageSize, nextPageToken } });
    nextPageToken = json.nextPageToken;
    assert.equal(nextPageToken === null, json.results.length < pageSize);
    yield json;
  } while (nextPageToken !== null);
}

/** Pages by number, up to the end of their window. */
async function* pagesByNumber(
  path: string,
  body: JsonObject,
  pageSize: number,
): AsyncGenerator<Answer['json']> {
  for (let page = 0; (page + 1) * pageSize <= offsetWindow; page += 1) {
    const { json } = await ask(path, { ...body, pagination: { page, pageSize } });
    yield json;
    if (json.results.length < pageSize) return;
  }
}

function assertPage(target: Target, answer: Answer['json'], rows: readonly NaiveRow[], about: string): void {
  const { results } = answer;
  assert.deepEqual(
    results.map(({ _originId }: JsonObject) => _originId),
    rows.map(({ item }) => item.originId),
    about,
  );
  for (const [at, { item, score }] of rows.entries()) {
    const { originId, updatedAtMs, fields } = item;
    const expected = {
      _originId: originId,
      _sourceGuid: sourceId,
      _updatedAt: new Date(updatedAtMs).toISOString(),
      ...(target.hasScore ? { _score: score } : {}),
      ...fields,
    };
    if (inOrder(results[at]) !== inOrder(expected)) assert.deepEqual(results[at], expected, about);
  }
}

function inOrder(value: object): string {
  return JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function assertWhole(answer: Answer['json'], expected: NaiveAnswer, about: string): void {
  assert.equal(answer.totalResults, expected.total, about);
  assert.deepEqual(answer.facets, expected.facets, about);
}

test(`cities: random queries over ${dataSetName}: total, order, facets and every page are those of a scan`, async (context) => {
  let pages = 0;
  for (let run = 0; run < queryCount; run += 1) {
    const target = targets[run % 2];
    assert.ok(target);
    const { path, types, items } = target;
    const body = dataQuery(random, target);
    const about = `seed ${random.seed}, query ${run}, ${path} ${JSON.stringify(body)}`;
    const expected = naiveQuery(items, types, body);
    const pageSize = random.pick(expected.total > 1_000 ? [1_000] : [50, 100, 333]);
    // Reading the largest results completely would take most of the time.
    const listing = random.chance(expected.total > 20_000 ? 0.1 : 0.5)
      ? pagesByToken(path, body, pageSize)
      : pagesByNumber(path, body, pageSize);
    let from = 0;
    for await (const answer of listing) {
      assertWhole(answer, expected, about);
      assertPage(target, answer, expected.rows.slice(from, from + pageSize), about);
      from += answer.results.length;
      pages += 1;
    }
    assert.ok(from === expected.total || (from <= offsetWindow && from > offsetWindow - pageSize), about);
  }
  context.diagnostic(`${queryCount} queries, ${pages} pages, seed ${random.seed}`);
});

/** Entities that are added, stay for a few turns, and are deleted. */
class Guests {
  saved = 0;
  #gone = 0;

  async turn(): Promise<void> {
    const coming = Array.from({ length: 50 }, (_, at) => {
      const { properties } = random.pick(entities);
      return entityOf(`guest${this.saved + at}`, 'city', properties);
    });
    await saveAll(coming);
    this.saved += coming.length;
    if (this.saved - this.#gone >= 250) await this.#go();
  }

  async allGo(): Promise<void> {
    while (this.#gone < this.saved) await this.#go();
  }

  async #go(): Promise<void> {
    const originIds = Array.from({ length: 50 }, (_, at) => `guest${this.#gone + at}`);
    const { json, text } = await client.delete('/ingest/v2', { key: sourceKey, body: { originIds } });
    assert.deepEqual(json.deletedSourceEntities, originIds, text);
    this.#gone += originIds.length;
  }
}

test(`cities: token paging through all of ${dataSetName} while ${guestCount} others are added and removed`, async (context) => {
  for (const { path, types, items } of targets) {
    const body = { sort: [{ field: 'timezone', order: 'desc' }, { field: 'population' }] };
    const guests = new Guests();
    const visited: string[] = [];
    let guestsSeen = 0;
    const pageSize = Math.ceil(entities.length / 150);
    for await (const { results } of pagesByToken(path, body, pageSize)) {
      for (const { _originId } of results) {
        if (_originId.startsWith('guest')) guestsSeen += 1;
        else visited.push(_originId);
      }
      // All of them are added gradually within the first 100 pages.
      const wanted = (guestCount * visited.length * 1.5) / entities.length;
      while (guests.saved < Math.min(wanted, guestCount)) await guests.turn();
    }
    assert.ok(guests.saved >= guestCount);
    await guests.allGo();
    const expected = naiveQuery(items, types, body).rows.map(({ item }) => item.originId);
    assert.deepEqual(visited, expected, `seed ${random.seed}`);
    context.diagnostic(`${path}: ${guests.saved} came and went, ${guestsSeen} of them were met`);
  }
});
