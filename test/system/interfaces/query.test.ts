import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import type { FieldType } from '../../../src/search/fields/field-type.ts';
import type { IndexItem } from '../../../src/search/shard/doc-table.ts';
import { waitUntilSettled } from '../../../src/store/partitions/partition-state.ts';
import { type NaiveAnswer, naiveQuery } from '../../search/support/naive.ts';
import { runs } from '../../support/runs.ts';
import { until } from '../../support/until.ts';
import type { Answer, Client } from '../support/client.ts';
import { entityOf } from '../support/data/entities.ts';
import { Ledger, untilVisible } from '../support/ledger.ts';
import { System } from '../support/processes/system.ts';
import { Random, testTurns } from '../support/random.ts';
import { autoTypes, indexTypes, randomQuery, randomThing } from '../support/random-query.ts';
import { clientKey, siteFiles, sourceId, sourceKey } from '../support/site.ts';

const thingCount = 900;
const otherCount = 300;
/** Pause of a reader, because a reader without pauses takes the processor time of what it watches. */
const restMs = 20;
const indexPath = '/v1/things';
const typePath = (type: string) => `/v1/sourceGroupAlias/cms/type/${type}`;

const files = siteFiles({
  indexes: {
    things: {
      triggers: { cms: ['thing', 'other'] },
      properties: Object.fromEntries([...indexTypes.keys()].map((name) => [name, { '*': `p.${name}` }])),
      index: { fields: Object.fromEntries([...indexTypes].map(([name, type]) => [name, { type }])) },
    },
  },
});

const random = Random.forTest('query');
let system: System;
let clients: Client[];
let ledger: Ledger;
/** The expected items of every index, by its path. */
const items = new Map<string, readonly IndexItem[]>();

before(async () => {
  system = await System.start({ web: 2, workers: 3, jobs: 0, partitions: 8, files });
  clients = system.fronts.map((name) => system.client(name));
  ledger = new Ledger({ key: sourceKey, sourceId });
  const entities = [
    ...Array.from({ length: thingCount }, (_, n) => entityOf(`t${n}`, 'thing', randomThing(random))),
    ...Array.from({ length: otherCount }, (_, n) => entityOf(`o${n}`, 'other', randomThing(random))),
  ];
  const mixed = random.shuffled(entities);
  for (let at = 0; at < mixed.length; at += 50) {
    assert.ok(await ledger.save(random.pick(clients), mixed.slice(at, at + 50)));
  }
  const versions = ledger.takeVersions();
  for (const client of clients) await untilVisible(client, clientKey, versions);
  for (const path of [indexPath, typePath('thing'), typePath('other')]) items.set(path, await itemsAt(path));
});
after(() => system.stop());

/** The expected items. Only their update times are taken from the answers. */
async function itemsAt(path: string): Promise<IndexItem[]> {
  const times = new Map<string, number>();
  for (let page = 0; page < 3; page += 1) {
    const { json } = await ask(path, { pagination: { page, pageSize: 1000 } });
    for (const { _originId, _updatedAt } of json.results) times.set(_originId, Date.parse(_updatedAt));
  }
  const type = path.split('/type/')[1];
  const entities = [...ledger.entities().values()].filter(
    (entity) => type === undefined || entity.type === type,
  );
  assert.deepEqual([...times.keys()].sort(), entities.map(({ originId }) => originId).sort());
  return entities.map(({ originId, properties }) => ({
    partition: 0,
    sourceId,
    originId,
    updatedAtMs: times.get(originId) ?? 0,
    fields: properties,
  }));
}

function typesAt(path: string): ReadonlyMap<string, FieldType> {
  return path === indexPath ? indexTypes : autoTypes;
}

async function ask(path: string, body: JsonObject, client = random.pick(clients)): Promise<Answer> {
  const answer = await client.post(path, body, { key: clientKey });
  assert.equal(answer.status, 200, `${answer.text}: ${JSON.stringify(body)}`);
  return answer;
}

function naiveAt(path: string, body: JsonObject): NaiveAnswer {
  return naiveQuery(items.get(path) ?? [], typesAt(path), body);
}

function assertAnswer(answer: Json, expected: NaiveAnswer, about: string): void {
  const { totalResults, results, facets } = answer as unknown as {
    totalResults: number;
    results: JsonObject[];
    facets: { isValid: boolean }[];
  };
  assert.equal(totalResults, expected.total, about);
  assert.deepEqual(
    results.map(({ _originId, _sourceGuid, _updatedAt, _score, ...fields }) => ({
      originId: _originId,
      sourceId: _sourceGuid,
      updatedAt: _updatedAt,
      fields,
    })),
    expected.page.map(({ item }) => ({
      originId: item.originId,
      sourceId: item.sourceId,
      updatedAt: new Date(item.updatedAtMs).toISOString(),
      fields: item.fields,
    })),
    about,
  );
  assert.deepEqual(facets, expected.facets, about);
  assert.ok(
    facets.every(({ isValid }) => isValid),
    about,
  );
}

test('query: random queries return what a scan of everything returns: total, order, facets, pages', async (context) => {
  const paths = [indexPath, typePath('thing'), indexPath, typePath('other')];
  const hasTurn = testTurns(50);
  let run = 0;
  for (; hasTurn(); run += 1) {
    const path = paths[run % paths.length] ?? indexPath;
    const body = randomQuery(random, typesAt(path));
    const { json } = await ask(path, body);
    assertAnswer(json, naiveAt(path, body), `seed ${random.seed}, ${path} ${JSON.stringify(body)}`);
  }
  context.diagnostic(`${run} queries, seed ${random.seed}`);
});

test('query: a multi-query answers each of its queries as if alone', async () => {
  for (let run = 0; run < runs(10); run += 1) {
    const queries = Array.from({ length: random.between(1, 5) }, (_, number) => {
      const type = random.pick(['thing', 'other']);
      return { type, name: `query ${number}`, body: randomQuery(random, autoTypes) };
    });
    const body = queries.map(({ type, name, body: query }) => ({
      sourceGroupAlias: 'cms',
      sourceEntityType: type,
      name,
      ...query,
    }));
    const answer = await random.pick(clients).post('/v1/source', body, { key: clientKey });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.json.length, queries.length);
    for (const [index, { type, name, body: query }] of queries.entries()) {
      const one = answer.json[index];
      assert.deepEqual([one.sourceGroupAlias, one.sourceEntityType, one.name], ['cms', type, name]);
      assertAnswer(one, naiveAt(typePath(type), query), JSON.stringify(query));
    }
  }
});

/** All matches of an index, read page by page with tokens. @param path of the index */
async function allByToken(
  path: string,
  body: JsonObject,
  onPage: () => Promise<void>,
): Promise<JsonObject[]> {
  const rows: JsonObject[] = [];
  let nextPageToken: Json = null;
  for (;;) {
    const { json } = await ask(path, { ...body, pagination: { pageSize: 100, nextPageToken } });
    rows.push(...json.results);
    nextPageToken = json.nextPageToken;
    if (nextPageToken === null) return rows;
    await onPage();
  }
}

test('query: token paging returns every stable item once and in order, while others are added and removed', async () => {
  const body = {
    filters: { or: [{ field: 'count', operator: 'notEquals', value: 3 }] },
    sort: [{ field: 'size', order: 'desc' }, { field: 'name' }],
  };
  for (const path of [indexPath, typePath('thing')]) {
    let guests = 0;
    const rows = await allByToken(path, body, async () => {
      const coming = Array.from({ length: 10 }, () => {
        guests += 1;
        return entityOf(`guest${guests}`, 'thing', { size: random.between(-20, 400) / 4 });
      });
      await ledger.save(random.pick(clients), coming);
      const going = Array.from({ length: 5 }, () => `guest${random.between(1, guests)}`);
      await ledger.delete(random.pick(clients), [...new Set(going)]);
    });
    const stayed = rows.map(({ _originId }) => String(_originId)).filter((id) => !id.startsWith('guest'));
    const expected = naiveAt(path, body).rows.map(({ item }) => item.originId);
    assert.deepEqual(stayed, expected, `${path}, seed ${random.seed}`);
    const ids = Array.from({ length: guests }, (_, number) => `guest${number + 1}`);
    for (let at = 0; at < ids.length; at += 50)
      await ledger.delete(random.pick(clients), ids.slice(at, at + 50));
    const versions = ledger.takeVersions();
    for (const client of clients) await untilVisible(client, clientKey, versions.slice(-20));
  }
});

test('query: the last full page has a token, the page after it is empty and ends; a token is valid only for its own query', async () => {
  const body = { filters: { and: [{ field: 'name', operator: 'notEquals', value: null }] } };
  const path = typePath('other');
  const total = naiveAt(path, body).total;
  const pageSize = Array.from({ length: 200 }, (_, n) => 200 - n).find((size) => total % size === 0) ?? 1;
  let token: Json = null;
  for (let page = 0; page < total / pageSize; page += 1) {
    // `page` is ignored if there is a token.
    const pagination = { pageSize, nextPageToken: token, page: token === null ? 0 : 7 };
    const { json } = await ask(path, { ...body, pagination });
    assert.equal(json.results.length, pageSize);
    assert.equal(typeof json.nextPageToken, 'string');
    token = json.nextPageToken;
  }
  const { json: last } = await ask(path, { ...body, pagination: { pageSize, nextPageToken: token } });
  assert.deepEqual([last.results, last.nextPageToken, last.totalResults], [[], null, total]);

  const misuses: [string, JsonObject][] = [
    [typePath('thing'), body],
    [indexPath, body],
    [path, {}],
    [path, { ...body, sort: [{ field: 'name' }] }],
    [path, { ...body, search: { field: 'title', value: 'mill' } }],
  ];
  for (const [other, query] of misuses) {
    const answer = await random
      .pick(clients)
      .post(other, { ...query, pagination: { nextPageToken: token } }, { key: clientKey });
    assert.equal(answer.status, 400, answer.text);
    assert.ok(
      answer.json.errors.some((text: string) => text.includes('Invalid nextPageToken')),
      answer.text,
    );
  }
});

test('query: while a worker is killed every answer is complete or 503, and soon complete again', async (context) => {
  await waitUntilSettled(await system.store());
  const counts = { complete: 0, unavailable: 0 };
  const questions = Array.from({ length: 24 }, (_, index) => {
    const path = [indexPath, typePath('thing')][index % 2] ?? indexPath;
    const body = randomQuery(random, typesAt(path));
    return { path, body, expected: naiveAt(path, body) };
  });
  let isRunning = true;
  const asking = [...clients, ...clients].map(async (client) => {
    while (isRunning) {
      await sleep(restMs);
      const { path, body, expected } = random.pick(questions);
      const answer = await client.post(path, body, { key: clientKey });
      if (answer.status === 503) {
        assert.ok(answer.headers['retry-after'], 'a 503 says when to retry');
        counts.unavailable += 1;
        continue;
      }
      assert.equal(answer.status, 200, answer.text);
      assertAnswer(answer.json, expected, `seed ${random.seed}, ${JSON.stringify(body)}`);
      counts.complete += 1;
    }
  });
  const killing = (async () => {
    for (const name of ['worker.1', 'worker.2']) {
      await until('queries are answered', () => counts.complete > 20);
      await system.kill(name);
      await sleep(random.below(300));
      await system.restart(name);
      const { complete } = counts;
      await until('queries are answered again', () => counts.complete > complete + 20);
      await system.ready();
    }
    isRunning = false;
  })();
  await Promise.all([killing, ...asking]).finally(() => {
    isRunning = false;
  });
  context.diagnostic(`${counts.complete} complete answers, ${counts.unavailable} times 503`);
});
