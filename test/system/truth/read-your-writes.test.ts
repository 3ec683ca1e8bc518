import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { SourceEntity } from '../../../src/contract/entity.ts';
import { formatViewId } from '../../../src/contract/ids.ts';
import type { Json } from '../../../src/contract/json.ts';
import type { Answer, Client } from '../support/client.ts';
import { entityOf } from '../support/data/entities.ts';
import { sharedPlatform } from '../support/processes/shared-platform.ts';
import type { System } from '../support/processes/system.ts';
import { Random, testTurns } from '../support/random.ts';
import { clientKey, environmentId, siteFiles, sourceId, sourceKey } from '../support/site.ts';

const files = siteFiles({
  tenant: 'read-your-writes',
  schemas: {
    page: {
      triggers: { cms: ['page'] },
      route: { url: '{url}', handles: ['{p.handle}'] },
      properties: {
        title: '{p.title}',
        group: { type: 'reference', alias: 'group', originId: '{p.group}' },
      },
    },
    group: {
      triggers: { cms: ['group'] },
      route: { handles: ['{originId}'] },
      properties: {
        titles: {
          type: 'array',
          input: { $lookup: { filter: "type eq 'page' and properties.group eq {originId}" } },
          items: '{item.p.title}',
        },
      },
    },
  },
  indexes: {
    pages: {
      triggers: { cms: ['page'] },
      properties: {
        title: '{p.title}',
        siblings: {
          type: 'array',
          input: {
            $lookup: { operator: 'equals', sourceEntityProperty: 'group', matchValue: '{p.group}' },
          },
          items: '{item.p.title}',
        },
      },
      index: { fields: { title: { type: 'keyword' }, siblings: { type: 'keyword[]' } } },
    },
  },
});

const random = Random.forTest('read-your-writes');
let system: System;
let clients: Client[];
/** Writes that waited and were visible in time. */
let visibleWrites = 0;

before(async () => {
  system = await sharedPlatform(files);
  clients = system.fronts.map((name) => system.client(name, 32));
});

function viewId(originId: string, alias: string): string {
  return formatViewId({ environmentId, sourceId, originId, alias });
}

/** A disjoint set of entities with its own readers and writers, so it knows what each read must return. */
class IsolatedGroup {
  readonly #pages = new Map<string, SourceEntity>();
  #serial = 0;

  constructor(private readonly name: string) {}

  get #groups(): string[] {
    return [`${this.name}-g0`, `${this.name}-g1`];
  }

  async start(): Promise<void> {
    const groups = this.#groups.map((originId) => entityOf(originId, 'group', {}));
    const version = await send(random.pick(clients), groups);
    // Versions of later writes do not cover this write.
    for (const client of clients) await this.#checkGroups(client, version);
  }

  /** Writes at one front, then reads everything that the write can affect at both fronts. */
  async round(): Promise<void> {
    const originId = `${this.name}-p${random.below(4)}`;
    const former = this.#pages.get(originId);
    const writer = random.pick(clients);
    const headers: Record<string, string> = random.chance(0.5) ? { 'X-Service-Wait': '5000' } : {};
    let written: Answer;
    if (former !== undefined && random.chance(0.25)) {
      written = await writer.delete(`/ingest/v2/${originId}`, { key: sourceKey, headers });
      this.#pages.delete(originId);
    } else {
      const page = this.#randomPage(originId, former);
      written = await writer.post('/ingest/v2', [page] as unknown as Json, { key: sourceKey, headers });
      this.#pages.set(originId, page);
    }
    assert.equal(written.status, 200, written.text);
    const token = String(written.headers['x-service-version']);
    const isVisible = written.headers['x-service-visible'] === 'true';
    assert.equal(written.headers['x-service-visible'] !== undefined, 'X-Service-Wait' in headers);
    if (isVisible) visibleWrites += 1;
    const now = this.#pages.get(originId);
    // If the write is already visible, the first reads at its front go without its token.
    const others = random.shuffled(clients.filter((client) => client !== writer));
    for (const client of isVisible ? [writer, ...others] : random.shuffled(clients)) {
      const version = isVisible && client === writer ? null : token;
      const reads = random.shuffled([
        () => this.#checkViews(client, version, originId),
        () => this.#checkUrls(client, version, originId, former, now),
        () => this.#checkHandles(client, version, former, now),
        () => this.#checkGroups(client, version),
        () => this.#checkItems(client, version, former),
        () => this.#checkRoutes(client, version, former, now),
      ]);
      // Only the first read has to wait; the others must not find anything older.
      for (const read of reads) await read();
    }
  }

  #randomPage(originId: string, former: SourceEntity | undefined): SourceEntity {
    this.#serial += 1;
    const keep = former !== undefined && random.chance(0.5);
    const handle = keep ? former.properties.handle : `${this.name}-h${random.below(6)}`;
    const group = keep ? former.properties.group : random.pick(this.#groups);
    return entityOf(
      originId,
      'page',
      { title: `${originId} title ${this.#serial}`, handle: handle ?? null, group: group ?? null },
      { url: keep ? former.url : random.pick([null, `/${this.name}/${random.below(6)}`]) },
    );
  }

  async #checkViews(client: Client, version: string | null, originId: string): Promise<void> {
    const query = `/v2?id=${encodeURIComponent(viewId(originId, 'page'))}`;
    const { json } = await read(client, query, version);
    assert.deepEqual(Object.values(json.views), this.#viewsOf(originId), `${originId} by id`);
  }

  #viewsOf(originId: string): Json[] {
    const page = this.#pages.get(originId);
    return page === undefined ? [] : [this.#view(page)];
  }

  #view({ properties }: SourceEntity): Json {
    return { title: properties.title ?? null, group: { titles: this.#titles(properties.group) } };
  }

  #titles(group: Json | undefined): string[] {
    return [...this.#pages.values()]
      .filter(({ properties }) => properties.group === group)
      .sort((a, b) => (a.originId < b.originId ? -1 : 1))
      .map(({ properties }) => String(properties.title));
  }

  /** One claimant of a URL is served. Other tests check which. */
  async #checkUrls(
    client: Client,
    version: string | null,
    _originId: string,
    former: SourceEntity | undefined,
    now: SourceEntity | undefined,
  ): Promise<void> {
    for (const url of new Set([former?.url, now?.url])) {
      if (!url) continue;
      const { json } = await read(client, `/v2?url=${url}`, version);
      const claimants = [...this.#pages.values()].filter((page) => page.url === url);
      if (claimants.length === 0) assert.deepEqual([json.meta.status, json.route], [404, null], url);
      else
        assertOneOf(
          json.route,
          claimants.map((page) => this.#view(page)),
          url,
        );
    }
  }

  async #checkHandles(
    client: Client,
    version: string | null,
    former: SourceEntity | undefined,
    now: SourceEntity | undefined,
  ): Promise<void> {
    for (const handle of new Set([former?.properties.handle, now?.properties.handle])) {
      if (typeof handle !== 'string') continue;
      const { json } = await read(client, `/v2?handle=${handle}`, version);
      const claimants = [...this.#pages.values()].filter(({ properties }) => properties.handle === handle);
      if (claimants.length === 0) assert.deepEqual(json.views, {}, handle);
      else
        assertOneOf(
          json.views[handle],
          claimants.map((page) => this.#view(page)),
          handle,
        );
    }
  }

  async #checkGroups(client: Client, version: string | null): Promise<void> {
    const query = this.#groups.map((group) => `handle=${group}`).join('&');
    const { json } = await read(client, `/v2?${query}`, version);
    for (const group of this.#groups) {
      assert.deepEqual(json.views[group], { titles: this.#titles(group) }, group);
    }
  }

  async #checkItems(client: Client, version: string | null, former: SourceEntity | undefined): Promise<void> {
    const pages = [...this.#pages.values()];
    const titles = pages.map(({ properties }) => properties.title ?? null);
    const formerTitle = former?.properties.title ?? 'none';
    const { json } = await query(client, version, [...titles, formerTitle]);
    const found = new Map<string, { title: string; siblings: string[] }>();
    for (const item of json.results) found.set(item._originId, item);
    assert.deepEqual([...found.keys()].sort(), pages.map(({ originId }) => originId).sort());
    for (const { originId, properties } of pages) {
      const item = found.get(originId);
      assert.deepEqual([item?.title, item?.siblings], [properties.title, this.#titles(properties.group)]);
    }
  }

  async #checkRoutes(
    client: Client,
    version: string | null,
    former: SourceEntity | undefined,
    now: SourceEntity | undefined,
  ): Promise<void> {
    const { json } = await read(client, '/routes/v1?first=500', version);
    const listed = new Set(json.results.map(({ url }: { url: string }) => url));
    for (const url of new Set([former?.url, now?.url])) {
      if (!url) continue;
      assert.equal(
        listed.has(url),
        [...this.#pages.values()].some((page) => page.url === url),
        url,
      );
    }
  }
}

function assertOneOf(found: unknown, allowed: readonly Json[], about: string): void {
  const isOne = allowed.some((one) => JSON.stringify(one) === JSON.stringify(found));
  assert.ok(isOne, `${about}: ${JSON.stringify(found)} is none of ${JSON.stringify(allowed)}`);
}

async function send(client: Client, entities: readonly SourceEntity[]): Promise<string> {
  const { status, headers, text } = await client.post('/ingest/v2', entities as unknown as Json, {
    key: sourceKey,
  });
  assert.equal(status, 200, text);
  return String(headers['x-service-version']);
}

/** @param version null for a read without a version */
function minVersion(version: string | null): Record<string, string> {
  return version === null ? {} : { 'X-Service-Min-Version': version };
}

async function read(client: Client, path: string, version: string | null): Promise<Answer> {
  const headers = minVersion(version);
  const answer = await client.get(path, { key: clientKey, headers });
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

async function query(client: Client, version: string | null, titles: readonly Json[]): Promise<Answer> {
  const body = {
    filters: { and: [{ field: 'title', operator: 'in', value: [...titles] }] },
    pagination: { pageSize: 100 },
  };
  const headers = minVersion(version);
  const answer = await client.post('/v1/pages', body, { key: clientKey, headers });
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

test('read your writes: a read with the version of a write, or after a visible write, shows all its effects', async (context) => {
  const groups = Array.from({ length: 6 }, (_, number) => new IsolatedGroup(`c${number}`));
  await Promise.all(groups.map((group) => group.start()));
  const hasTurn = testTurns(60);
  let writes = 0;
  await Promise.all(
    groups.map(async (group) => {
      while (hasTurn()) {
        await group.round();
        writes += 1;
      }
    }),
  );
  assert.ok(visibleWrites > 0);
  context.diagnostic(`${writes} writes, ${visibleWrites} of them waited, seed ${random.seed}`);
});

test('read your writes: a cached response without a URL or handle is not used for the version that adds it', async (context) => {
  const [writer, reader] = clients;
  assert.ok(writer && reader);
  const hasTurn = testTurns(150);
  let claims = 0;
  const claim = async (): Promise<void> => {
    claims += 1;
    const name = `claim${claims}`;
    const paths = [`/v2?url=/${name}`, `/v2?handle=${name}`];
    for (const path of paths) {
      const { json } = await reader.get(path, { key: clientKey });
      assert.deepEqual([json.route ?? null, json.views], [null, {}]);
    }
    const page = entityOf(name, 'page', { title: name, handle: name }, { url: `/${name}` });
    const version = await send(writer, [page]);
    const [byUrl, byHandle] = await Promise.all(paths.map((path) => read(reader, path, version)));
    assert.equal(byUrl?.json.route?.title, name);
    assert.equal(byHandle?.json.views[name]?.title, name);
    const { headers } = await writer.delete(`/ingest/v2/${name}`, { key: sourceKey });
    const deleted = String(headers['x-service-version']);
    const [goneUrl, goneHandle] = await Promise.all(paths.map((path) => read(reader, path, deleted)));
    assert.deepEqual([goneUrl?.json.meta.status, goneHandle?.json.views], [404, {}]);
  };
  await Promise.all(
    Array.from({ length: 24 }, async () => {
      while (hasTurn()) await claim();
    }),
  );
  context.diagnostic(`${claims} claims`);
});

test('read your writes: on one connection, no response is older than the previous one', async (context) => {
  const pages = ['one', 'two'].map(
    (originId) => (count: number) =>
      entityOf(
        originId,
        'page',
        { title: `${count}`, handle: originId, group: 'both' },
        { url: `/${originId}` },
      ),
  );
  await send(random.pick(clients), [entityOf('both', 'group', {})]);
  let isRunning = true;
  let answers = 0;
  const readers = system.fronts.flatMap((front) =>
    ['/v2?url=/one', '/v2?handle=two&handle=one', '/v2?handle=both'].flatMap((path) =>
      [1, 2].map(async () => {
        const client = system.client(front, 1);
        let last: number[] = [];
        while (isRunning) {
          const { json } = await client.get(path, { key: clientKey });
          const seen = countsIn(path, json);
          answers += 1;
          assert.ok(
            last.every((count, index) => (seen[index] ?? 0) >= count),
            `${path}: ${seen} after ${last}`,
          );
          last = seen;
        }
      }),
    ),
  );
  let count = 0;
  const writing = (async () => {
    const hasTurn = testTurns(100);
    while (hasTurn()) {
      count += 1;
      await send(
        random.pick(clients),
        pages.map((page) => page(count)),
      );
    }
    isRunning = false;
  })();
  await Promise.all([writing, ...readers]).finally(() => {
    isRunning = false;
  });
  context.diagnostic(`${count} writes, ${answers} answers`);
});

interface CountedPage {
  readonly title: string;
}

/** A delivery response with the counted pages. */
interface CountedAnswer {
  readonly route?: CountedPage | null;
  readonly views: {
    readonly one?: CountedPage;
    readonly two?: CountedPage;
    readonly both?: { readonly titles: readonly string[] };
  };
}

/** The counts in a response, which must never decrease. Pages that do not exist yet are left out. */
function countsIn(path: string, { route, views }: CountedAnswer): number[] {
  if (path.includes('url=')) return route == null ? [] : [Number(route.title)];
  if (path.includes('both')) return (views.both?.titles ?? []).map(Number);
  const { one, two } = views;
  return one === undefined || two === undefined ? [] : [Number(one.title), Number(two.title)];
}
