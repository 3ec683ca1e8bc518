/**
 * Racing reads and writes: each read is checked against everything that the reader may rely on. For a long run:
 * `MILLRACE_RACES=100000 npm test -- test/system/truth/never-stale.test.ts`.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { formatViewId } from '../../../src/contract/ids.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../src/contract/json.ts';
import type { Answer, Client } from '../support/client.ts';
import { entityOf } from '../support/data/entities.ts';
import { sharedPlatform } from '../support/processes/shared-platform.ts';
import type { System } from '../support/processes/system.ts';
import { Random } from '../support/random.ts';
import { clientKey, environmentId, siteFiles, sourceId, sourceKey } from '../support/site.ts';

/** Total number of reads and writes. */
const races = Number(process.env.MILLRACE_RACES ?? 4_000);
const pageCount = 12;
const writers = 3;
const readersPerFront = 8;

/** A page shows its own count and that of the page it refers to. */
const files = siteFiles({
  tenant: 'never-stale',
  schemas: {
    page: {
      triggers: { cms: ['page'] },
      route: { url: '{url}', handles: ['{originId}'] },
      properties: {
        name: '{originId}',
        count: { type: 'number', value: '{p.count}' },
        next: { type: 'reference', alias: 'teaser', originId: '{p.next}' },
      },
    },
    teaser: {
      triggers: { cms: ['page'] },
      properties: { name: '{originId}', count: { type: 'number', value: '{p.count}' } },
    },
  },
  indexes: {
    pages: {
      triggers: { cms: ['page'] },
      properties: { next: '{p.next}' },
      index: { fields: { next: { type: 'keyword' } } },
    },
  },
});

const random = Random.forTest('never-stale');
const names = Array.from({ length: pageCount }, (_, number) => `p${number}`);
let system: System;
before(async () => {
  system = await sharedPlatform(files);
});

/** Counts by page. */
type Counts = Map<string, number>;

/** What was acknowledged, and what each front has shown. Counts only rise, so the minimum of a read is one of these. */
const acknowledged: Counts = new Map(names.map((name) => [name, 0]));
const shown = new Map<string, Counts>();

function raise(counts: Counts, name: string, count: number): void {
  counts.set(name, Math.max(count, counts.get(name) ?? 0));
}

async function write(client: Client, name: string): Promise<{ version: string; count: number }> {
  const number = names.indexOf(name);
  const count = (acknowledged.get(name) ?? 0) + 1;
  const next = names[(number + 1) % pageCount] ?? '';
  const entity = entityOf(name, 'page', { count, next }, { url: `/${name}` });
  const body = [entity] as unknown as Json;
  const { status, headers, text } = await client.post('/ingest/v2', body, { key: sourceKey });
  assert.equal(status, 200, text);
  acknowledged.set(name, count);
  return { version: String(headers['x-service-version']), count };
}

/** A query for the page that refers to this one, with its view. */
function listAround(name: string): JsonObject {
  const filters = { and: [{ field: 'next', operator: 'equals', value: name }] };
  return { filters, aliases: random.pick([['page'], ['teaser', 'page']]) };
}

/** Requests a page in a random way. Each way has its own entry in the front's cache, or none. */
function ask(client: Client, name: string, headers: Record<string, string>): Promise<Answer> {
  const viewId = formatViewId({ environmentId, sourceId, originId: name, alias: 'page' });
  const options = { key: clientKey, headers };
  const ways = [
    () => client.get(`/v2?url=/${name}`, options),
    () => client.get(`/v2?handle=${name}`, options),
    () => client.get(`/v2?id=${encodeURIComponent(viewId)}`, options),
    () => client.get(`/v2?url=/${name}/&handle=${random.pick(names)}`, options),
    () => client.post('/v2', { ids: [viewId], handles: [random.pick(names)] }, options),
    () => client.post('/v1/pages', listAround(name), options),
  ];
  return random.pick(ways)();
}

/** Every count that an answer shows, at any depth. */
function countsIn(json: Json): [name: string, count: number][] {
  if (Array.isArray(json)) return json.flatMap(countsIn);
  if (!isJsonObject(json)) return [];
  const inner = Object.values(json).flatMap(countsIn);
  const { name, count } = json;
  return typeof name === 'string' && typeof count === 'number' ? [[name, count], ...inner] : inner;
}

let done = 0;

interface Written {
  readonly name: string;
  readonly version: string;
  readonly count: number;
}

/** Reads a page at a front. It must show at least what the front has shown before, and what the version covers. */
async function readAndCheck(front: string, client: Client, name: string, written?: Written): Promise<void> {
  const ofFront = shown.get(front) ?? new Map<string, number>();
  shown.set(front, ofFront);
  const floor: Counts = new Map(ofFront);
  if (written !== undefined) raise(floor, written.name, written.count);
  const { status, text, json } = await ask(
    client,
    name,
    written === undefined ? {} : { 'X-Service-Min-Version': written.version },
  );
  assert.equal(status, 200, text);
  done += 1;
  const counts = countsIn(json);
  assert.ok(written === undefined || counts.some(([one]) => one === written.name), text);
  for (const [one, count] of counts) {
    const least = floor.get(one) ?? 0;
    assert.ok(count >= least, `${front} shows ${one} at ${count} after ${least}: ${text}`);
    raise(ofFront, one, count);
  }
}

test('never stale: no read is older than its requested version, or than an earlier response of its front', async (context) => {
  const writer = system.client('web.1', writers);
  for (const name of names) await write(writer, name);
  let isOver = false;
  const latest: Written[] = [];
  const writing = Array.from({ length: writers }, async (_, at) => {
    const own = names.filter((_name, number) => number % writers === at);
    const client = system.client(random.pick(system.fronts), 1);
    while (!isOver) {
      const name = random.pick(own);
      const { version, count } = await write(client, name);
      done += 1;
      latest[at] = { name, version, count };
    }
  });
  const reading = system.fronts.flatMap((front) =>
    Array.from({ length: readersPerFront }, async () => {
      const client = system.client(front, 1);
      while (!isOver) {
        const written = random.chance(0.3) ? latest[random.below(writers)] : undefined;
        await readAndCheck(front, client, written?.name ?? random.pick(names), written);
        isOver ||= done >= races;
      }
    }),
  );
  await Promise.all([...writing, ...reading]).finally(() => {
    isOver = true;
  });
  context.diagnostic(
    `${done} reads and writes, ${[...acknowledged.values()].reduce((sum, count) => sum + count, 0)} of them writes`,
  );
});
