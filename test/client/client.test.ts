import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import {
  type Change,
  type ChangesOptions,
  type Client,
  createClient,
  MillraceError,
  type QueryOf,
} from '../../src/client/client.ts';
import { parseVersion, type Version } from '../../src/store/visibility/version.ts';
import { openBrowser, servePage } from '../support/browser.ts';
import { sharedPlatform } from '../system/support/processes/shared-platform.ts';
import type { System } from '../system/support/processes/system.ts';
import { clientKey, environmentId, siteFiles, sourceId, sourceKey } from '../system/support/site.ts';

interface Site {
  readonly Views: {
    readonly page: { readonly title: string; readonly next: { readonly title: string } | null };
  };
  readonly Handle: string;
  readonly Indexes: { readonly pages: { readonly title: string } };
}

let system: System;
let client: Client<Site>;

before(async () => {
  system = await sharedPlatform(
    siteFiles({
      tenant: 'client',
      settings: {
        environmentClients: [
          {
            name: 'website',
            environment: 'production',
            domains: ['site'],
            apiKeys: [clientKey],
            cacheTags: 'Cache-Tag',
          },
        ],
      },
      schemas: {
        page: {
          triggers: { cms: ['page'] },
          route: { url: '{url}', handles: ['{originId}', 'also-{originId}'] },
          properties: {
            title: '{p.title}',
            next: { type: 'reference', alias: 'page', originId: '{p.next}' },
          },
        },
      },
      indexes: {
        pages: {
          triggers: { cms: ['page'] },
          index: { fields: { title: { type: 'keyword' } } },
          properties: { title: '{p.title}' },
        },
      },
    }),
  );
  client = createClient<Site>({ url: system.url('web.1'), key: clientKey, sourceKey, readYourWrites: true });
});

const viewId = (originId: string) =>
  `gid://Environment/${environmentId}/Source/${sourceId}/Entity/${originId}/View/page`;

function page(originId: string, next: string | null = null) {
  return { originId, type: 'page', url: `/${originId}`, properties: { title: `Title ${originId}`, next } };
}

async function all<T>(things: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const thing of things) list.push(thing);
  return list;
}

test('client: an originId that a URL cannot contain is saved like any other, or refused', async () => {
  for (const originId of ['.', '..']) {
    const { originId: _, ...entity } = { ...page(originId), url: null };
    assert.deepEqual((await client.save(originId, entity)).changed, [originId]);
    assert.deepEqual((await client.save(originId, entity)).unchanged, [originId]);
    assert.equal((await client.byId(viewId(originId)))?.title, `Title ${originId}`);
    assert.deepEqual((await client.remove(originId)).removed, [originId]);
  }
  await assert.rejects(client.save('\ud800', { type: 'page', properties: {} }), (error) => {
    assert.ok(error instanceof MillraceError);
    assert.equal(error.status, 422);
    assert.match(JSON.stringify(error.errors), /surrogate/);
    return true;
  });
});

test('client: a saved entity can be read immediately, by URL, handle and id', async () => {
  const { originId, ...entity } = page('one', 'two');
  const first = await client.save(originId, { ...entity, redirects: ['/old'] });
  assert.deepEqual([first.changed, first.unchanged, first.errors], [['one'], [], {}]);
  const again = await client.save(originId, { ...entity, redirects: ['/old'] });
  assert.deepEqual([again.changed, again.unchanged], [[], ['one']]);

  const { tags, etag, ...found } = await client.byUrl('/one');
  assert.deepEqual(found, {
    status: 200,
    redirect: null,
    view: { title: 'Title one', next: null },
    missing: [{ path: 'route.next', viewId: viewId('two') }],
  });
  assert.ok(tags.length > 1 && tags.every((tag) => /^[\w-]{1,24}$/.test(tag)), `${tags}`);
  assert.match(etag ?? '', /^(?:W\/)?"[^"]+"$/);
  const cut = await client.byUrl('/one', { depth: 0 });
  assert.deepEqual(cut.cut, [{ path: 'route.next', viewId: viewId('two') }]);
  assert.deepEqual(cut.missing, []);
  const moved = await client.byUrl('/old');
  assert.deepEqual([moved.status, moved.redirect, moved.view, moved.missing], [301, '/one', null, []]);
  assert.equal((await client.byUrl('/nowhere')).status, 404);
  assert.equal((await client.byHandle('one'))?.title, 'Title one');
  assert.equal((await client.byId(viewId('one')))?.title, 'Title one');
  const both = await client.views({ ids: [viewId('one')], handles: ['one', 'nobody'] }, { depth: 0 });
  assert.deepEqual(Object.keys(both.views), [viewId('one'), 'one']);
  assert.deepEqual([both.missing, both.cut?.map((cut) => cut.viewId)], [[], [viewId('two'), viewId('two')]]);
  assert.ok(both.tags.some((tag) => tags.includes(tag)) && both.etag !== null);
  assert.equal(await client.byHandle('nobody'), null);
  assert.equal(await client.byId(viewId('nobody')), null);
});

test('client: many entities are saved in order, listed, queried over all pages, and removed', async () => {
  const entities = Array.from({ length: 1_234 }, (_, index) => page(`many-${index}`));
  const saved = await client.saveMany([
    ...entities,
    { ...page('many-0'), properties: { title: 'The last state' } },
    { ...page('bad'), properties: { '9bad': 1 } },
  ]);
  assert.equal(new Set(saved.changed).size, entities.length);
  assert.deepEqual(Object.keys(saved.errors), ['bad']);
  assert.match(saved.errors.bad?.[0] ?? '', /9bad/);
  assert.equal((await client.byHandle('many-0'))?.title, 'The last state');

  const handles = entities.flatMap(({ originId }) => [originId, `also-${originId}`]);
  const views = await client.byHandles(handles);
  assert.equal(Object.keys(views).length, handles.length);
  const { views: same, tags, etag } = await client.views({ handles });
  assert.deepEqual(same, views);
  assert.deepEqual([new Set(tags).size, etag], [tags.length, null]);
  assert.equal(
    Object.keys(await client.byIds(entities.map(({ originId }) => viewId(originId)))).length,
    1_234,
  );

  const routes = await all(client.routes());
  assert.equal(routes.filter(({ url }) => url.startsWith('/many-')).length, 1_234);
  const query: QueryOf<Site, 'pages'> = {
    filters: { and: [{ field: 'title', operator: 'contains', value: 'Title many-*' }] },
  };
  const { totalResults, results } = await client.query('pages', query);
  assert.deepEqual([totalResults, results.length], [1_233, 10]);
  const items = await all(client.queryAll('pages', query));
  assert.equal(new Set(items.map(({ _originId }) => _originId)).size, 1_233);

  const removed = await client.remove([...entities.map(({ originId }) => originId), 'nobody']);
  assert.deepEqual([removed.removed.length, removed.notFound], [1_234, ['nobody']]);
  assert.equal(await client.byHandle('many-5'), null);
  const one = await client.remove('nobody');
  assert.deepEqual([one.removed, one.notFound, one.errors], [[], ['nobody'], {}]);
});

test('client: results and errors of several requests are merged', async () => {
  const states = [1, 2].flatMap((state) =>
    Array.from({ length: 50 }, (_, at) => ({
      ...page(`state-${at}`),
      properties: { state: at === 0 ? 0 : state },
    })),
  );
  const unnamed = (at: number) => ({ ...page(`state-${at}`), originId: '' });
  const wrong = { ...page('wrong'), properties: { '9bad': 1 } };
  const saved = await client.saveMany([
    ...states,
    unnamed(3),
    wrong,
    ...states.slice(0, 48),
    unnamed(4),
    wrong,
  ]);
  assert.equal(saved.changed.length, 50);
  assert.deepEqual(saved.unchanged, []);
  assert.deepEqual(Object.keys(saved.errors).sort(), ['entities[100]', 'entities[150]', 'wrong']);
  assert.equal(saved.errors.wrong?.length, 1);

  const ids = states.map(({ originId }) => originId);
  const removed = await client.remove([...ids, '']);
  assert.deepEqual([removed.removed.length, removed.notFound], [50, []]);
  assert.deepEqual(Object.keys(removed.errors), ['originIds[100]']);
});

test('client: an entity that is null or undefined is listed by its index, as by the platform', async () => {
  const untyped: unknown[] = [page('beside-null'), null, undefined];
  const { changed, errors } = await client.saveMany(untyped as ReturnType<typeof page>[]);
  assert.deepEqual([changed, Object.keys(errors)], [['beside-null'], ['entities[1]', 'entities[2]']]);
});

test('client: several queries in one call return their results by name, and an invalid one is an error', async () => {
  const titles = ['Title a', 'Title b', 'Title c', 'Title d', 'Title e', 'Title f'] as const;
  const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
  await client.saveMany(ids.map((originId) => page(originId)));
  const queries = titles.map((title) => ({
    name: title,
    index: 'pages' as const,
    filters: { and: [{ field: 'title' as const, operator: 'equals' as const, value: title }] },
    aliases: ['page' as const],
  }));
  const results = await client.multiQuery(queries);
  assert.deepEqual(Object.keys(results), titles);
  assert.deepEqual(
    titles.map((title) => results[title]?.results.map(({ _originId }) => _originId)),
    ids.map((id) => [id]),
  );
  assert.deepEqual(await client.multiQuery([]), {});
  await assert.rejects(
    client.multiQuery([
      { name: 'good', index: 'pages' },
      // @ts-expect-error: there is no such index
      { name: 'bad', index: 'pagse' },
    ]),
    (error) =>
      error instanceof MillraceError &&
      error.status === 404 &&
      /^Query is not valid \(bad: /.test(error.message) &&
      'bad' in error.errors,
  );
  await assert.rejects(
    // @ts-expect-error: the index has no such field
    client.multiQuery([{ name: 'bad', index: 'pages', sort: [{ field: 'nothing' }] }]),
    { status: 400, code: 'queriesInvalid' },
  );
  await assert.rejects(
    client.multiQuery([
      { name: 'one', index: 'pages' },
      { name: 'one', index: 'pages' },
    ]),
    TypeError,
  );
  await client.remove(ids);
});

test('client: a source group can be queried by type', async () => {
  await client.save('in-group', { type: 'note', properties: { name: 'In a group', size: 5 } });
  const { totalResults, results } = await client.queryGroup('cms', 'note', {
    filters: { and: [{ field: 'size', operator: 'greaterThan', value: 4 }] },
  });
  assert.deepEqual([totalResults, results[0]?.name], [1, 'In a group']);
  await assert.rejects(client.queryGroup('nowhere', 'note'), { status: 404 });
  await client.remove('in-group');
});

test('client: a write through one front can be read through any other', async () => {
  const reported: Version[] = [];
  const asked: (Version | null)[] = [];
  const waits = new Set<string | null>();
  let requests = 0;
  const overBoth: typeof fetch = async (input, init) => {
    requests += 1;
    const url = String(input).replace(system.url('web.1'), system.url(`web.${1 + (requests % 2)}`));
    const minVersion = new Headers(init?.headers).get('X-Service-Min-Version');
    if (minVersion !== null) asked.push(parseVersion(minVersion));
    const response = await fetch(url, init);
    if (url.includes('/ingest/')) {
      waits.add(new Headers(init?.headers).get('X-Service-Wait'));
      assert.match(response.headers.get('X-Service-Visible') ?? '', /^(true|false)$/);
    }
    const version = parseVersion(response.headers.get('X-Service-Version') ?? '');
    if (version !== null) reported.push(version);
    return response;
  };
  const options = { url: system.url('web.1'), key: clientKey, sourceKey, fetch: overBoth };
  const both = createClient<Site>({ ...options, readYourWrites: true });
  const entities = Array.from({ length: 20 }, (_, index) => page(`both-${index}`));
  // Each version covers what one front has acknowledged.
  await Promise.all(entities.map(({ originId, ...entity }) => both.save(originId, entity)));
  const views = await both.byHandles(entities.map(({ originId }) => originId));
  assert.equal(Object.keys(views).length, entities.length);
  assert.equal(reported.length, entities.length);
  const [whole] = asked;
  for (const [partition, place] of reported.flatMap(({ writes }) => [...writes])) {
    assert.ok((whole?.writes.get(partition) ?? 0) >= place, `partition ${partition}`);
  }
  await both.remove(entities.map(({ originId }) => originId));
  assert.deepEqual([...waits], ['25']);
});

test('client: a read requests a version that covers all versions in a list', async () => {
  let asked: string | null = null;
  const keeping: typeof fetch = async (input, init) => {
    asked = new Headers(init?.headers).get('X-Service-Min-Version');
    return await fetch(input, init);
  };
  const reading = createClient<Site>({ url: system.url('web.1'), key: clientKey, fetch: keeping });
  const asking = async (minVersion: string | readonly string[]) => {
    await reading.byId('nothing', { minVersion });
    return asked;
  };
  const versions: string[] = [];
  for (const { originId, ...entity } of [page('first'), page('second'), page('third')]) {
    versions.push((await client.save(originId, entity)).version ?? '');
  }
  const both = parseVersion((await asking(versions)) ?? '');
  for (const version of versions) {
    for (const [partition, place] of parseVersion(version)?.writes ?? []) {
      assert.ok((both?.writes.get(partition) ?? 0) >= place, `partition ${partition}`);
    }
  }
  assert.equal(await asking([]), null);
  assert.equal(await asking(versions[0] ?? ''), versions[0]);
  await client.remove(['first', 'second', 'third']);
});

test('client: a rejection is a single error with status, code and errors', async () => {
  const stranger = createClient({ url: system.url('web.1'), key: 'unknown', sourceKey: 'unknown' });
  await assert.rejects(
    stranger.byUrl('/'),
    (error) => error instanceof MillraceError && error.status === 401,
  );
  await assert.rejects(
    client.save('one', { type: 'another', properties: {} }),
    (error) =>
      error instanceof MillraceError &&
      error.status === 422 &&
      error.code === 'entityInvalid' &&
      'type' in error.errors,
  );
  await assert.rejects(
    // @ts-expect-error: the index has no such field
    client.query('pages', { sort: [{ field: 'nothing' }] }),
    (error) => error instanceof MillraceError && error.status === 400 && Array.isArray(error.errors),
  );
});

test('client: a busy platform is retried after Retry-After; an unavailable one is reported', async () => {
  const times: number[] = [];
  const server = createServer((_, response) => {
    times.push(performance.now());
    if (times.length === 1) response.writeHead(503, { 'Retry-After': '1' }).end('{}');
    else response.end('{"meta":{"status":200,"missingViewReferences":[]},"route":{"title":"x"},"views":{}}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/`;
  assert.equal((await createClient({ url }).byUrl('/')).status, 200);
  assert.ok((times[1] ?? 0) - (times[0] ?? 0) >= 990);
  times.length = 0;
  await assert.rejects(createClient({ url, retries: 0 }).byUrl('/'), { status: 503 });
  await new Promise((resolve) => server.close(resolve));
  await assert.rejects(createClient({ url, retries: 1 }).byUrl('/'), { status: 0 });
});

test('client: a response that breaks off is retried, and one that is not JSON is an error', async (context) => {
  const good = '{"meta":{"status":200,"missingViewReferences":[]},"route":{"title":"x"},"views":{}}';
  let requests = 0;
  const server = createServer(({ url }, response) => {
    requests += 1;
    if (url?.includes('login')) response.end('<html>Log in</html>');
    else if (requests > 1) response.end(good);
    else {
      response.writeHead(200, { 'Content-Length': String(good.length) });
      response.write(good.slice(0, 10), () => response.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const broken = { name: 'MillraceError', status: 0 };
  await assert.rejects(createClient({ url, retries: 0 }).byUrl('/'), broken);
  requests = 0;
  assert.equal((await createClient({ url, retries: 1 }).byUrl('/')).status, 200);
  assert.equal(requests, 2);
  await assert.rejects(createClient({ url }).byUrl('/login'), { name: 'MillraceError', status: 200 });
});

/** A proxy to the front, whose connections can be cut. */
async function cuttable(context: test.TestContext, target: string) {
  const sockets = new Set<Socket>();
  const { hostname, port } = new URL(target);
  const server = createTcpServer((socket) => {
    const front = connect(Number(port), hostname);
    for (const [one, other] of [
      [socket, front],
      [front, socket],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  context.after(() => {
    cut();
    server.close();
  });
  const { port: own } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${own}`, cut };
}

test('client: a request that fails while the next entity is awaited fails the whole call', async (context) => {
  let requests = 0;
  const server = createServer((request, response) => {
    request.resume();
    requests += 1;
    response.writeHead(requests === 1 ? 401 : 200, { 'Content-Type': 'application/json' }).end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const refused = createClient<Site>({ url: `http://127.0.0.1:${port}`, key: 'any', sourceKey: 'any' });
  const entities = async function* () {
    for (let number = 0; number <= 50; number += 1) yield page(`never-${number}`);
    // The first request has usually failed by then; otherwise the test is only easier.
    await sleep(300);
  };
  await assert.rejects(refused.saveMany(entities()), { status: 401 });
});

test('client: changes start from the beginning, each once, also over broken connections', async (context) => {
  const { url, cut } = await cuttable(context, system.url('web.1'));
  const count = 300;
  await client.saveMany(Array.from({ length: count }, (_, index) => page(`copy-${index}`)));
  const follower = createClient<Site>({ url, key: clientKey });
  const stop = new AbortController();
  const seen: Change[] = [];
  const isCopy = ({ originId }: Change) => originId.startsWith('copy-');
  for await (const change of follower.changes({ signal: stop.signal })) {
    seen.push(change);
    if (seen.length === 10) cut();
    const copies = seen.filter(isCopy);
    if (copies.length === count) {
      // Disconnects it while something changes. It must still receive the changes.
      cut();
      await client.save('copy-7', { ...page('copy-7'), properties: { title: 'changed' } });
      await client.remove('copy-8');
    }
    if (copies.length === count + 2) stop.abort();
  }
  const copies = seen.filter(isCopy);
  const later = copies.slice(count);
  assert.equal(new Set(copies.slice(0, count).map(({ id }) => id)).size, count);
  assert.deepEqual(
    // Changes in different partitions become visible in any order.
    later.map(({ originId, action, urls, left }) => [originId, action, urls, left.urls]).sort(),
    [
      ['copy-7', 'set', ['/copy-7'], []],
      ['copy-8', 'removed', [], ['/copy-8']],
    ],
  );
  assert.equal(new Set(seen.map(({ offset }) => offset)).size, seen.length);

  const [first, last] = later;
  for await (const change of follower.changes({ since: first?.offset ?? '' })) {
    assert.deepEqual(change, last);
    break;
  }
  const refused = (options: ChangesOptions, key: string) =>
    createClient({ url, key }).changes(options).next();
  await assert.rejects(refused({ since: 'no offset' }, clientKey), { status: 410 });
  await assert.rejects(refused({}, 'unknown'), { status: 401 });
  await client.remove(Array.from({ length: count }, (_, index) => `copy-${index}`));
});

test('client: changes can be long-polled, from now on and with the pages that show a view', async () => {
  await client.saveMany([page('poll-1', 'poll-2'), page('poll-2')]);
  const stop = new AbortController();
  const options = { live: 'long-poll', expand: 'shown', since: 'now', signal: stop.signal } as const;
  const heard: Change[] = [];
  const following = (async () => {
    for await (const change of client.changes(options)) {
      heard.push(change);
      if (change.originId === 'poll-2') stop.abort();
    }
  })();
  // There is no signal that the feed is followed, so keep writing until it is.
  for (let saves = 0; !stop.signal.aborted; saves += 1) {
    const { originId, ...entity } = page('poll-2');
    await client.save(originId, { ...entity, properties: { title: `Title ${saves}` } });
    await sleep(20);
  }
  await following;
  const last = heard.at(-1);
  assert.deepEqual([last?.action, last?.shownOn], ['set', ['/poll-1', 'poll-1', 'also-poll-1']]);

  // From the beginning, and from each received offset: nothing is skipped.
  const all: Change[] = [];
  for await (const change of client.changes({ live: 'long-poll' })) {
    all.push(change);
    if (change.originId === 'poll-2') break;
  }
  for (const { offset } of all.slice(-3)) {
    for await (const change of client.changes({ live: 'long-poll', since: offset })) {
      if (change.originId === 'poll-2') break;
      // The offset of the last change of a page is after it, so a new change is needed.
      void client.save('poll-2', { type: 'page', properties: { title: `again ${Math.random()}` } });
    }
  }
  await assert.rejects(client.changes({ live: 'long-poll', since: 'no offset' }).next(), { status: 410 });
  await client.remove(['poll-1', 'poll-2']);
});

declare global {
  /** Saves outside the browser, because pages must not have source keys. @returns the version */
  var saveOutside: (title: string) => Promise<string>;
}

test('client: a page in a browser can read and follow changes, and reads include the requested version', async (context) => {
  const [browser, served] = await Promise.all([openBrowser(), servePage()]);
  context.after(() => Promise.all([browser.close(), served.close()]));
  const tab = await browser.newPage();
  await tab.goto(served.origin);
  await tab.exposeFunction('saveOutside', async (title: string) => {
    const { version } = await client.save('tab', { type: 'page', url: '/tab', properties: { title } });
    return version;
  });
  const module = `data:text/javascript;base64,${Buffer.from(await bundled()).toString('base64')}`;
  const asked = { module, url: system.url('web.1'), key: clientKey };
  const got = await tab.evaluate(async ({ module, url, key }) => {
    const { createClient, MillraceError }: typeof import('../../src/client/client.ts') = await import(module);
    const client = createClient({ url, key });
    const stop = new AbortController();
    let first: unknown = null;
    const heard = client.changes({ since: 'now', signal: stop.signal }).next();
    heard.then(({ value }) => {
      first = [value?.originId, value?.action];
    });
    // There is no signal that the feed is followed, so keep writing until it is.
    let saves = 0;
    const stale: number[] = [];
    while (first === null) {
      saves += 1;
      const title = `Title ${saves}`;
      const minVersion = await saveOutside(title);
      const { view } = await client.byUrl('/tab', { minVersion });
      if (view?.title !== title) stale.push(saves);
    }
    stop.abort();
    const { totalResults } = await client.query('pages', {
      filters: { and: [{ field: 'title', operator: 'equals', value: `Title ${saves}` }] },
    });
    const routes: string[] = [];
    for await (const { url } of client.routes()) routes.push(url);
    const refusal = await createClient({ url, key: 'unknown' })
      .byHandle('tab')
      .catch((error) => [error instanceof MillraceError, error.status]);
    return { first, stale, totalResults, isRouted: routes.includes('/tab'), refusal };
  }, asked);
  assert.deepEqual(got, {
    first: ['tab', 'set'],
    stale: [],
    totalResults: 1,
    isRouted: true,
    refusal: [true, 401],
  });
  await client.remove('tab');
});

/** The client, bundled for browsers. */
async function bundled(): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: ['src/client/client.ts'],
    bundle: true,
    format: 'esm',
    write: false,
    platform: 'browser',
  });
  return outputFiles[0]?.contents ?? new Uint8Array();
}

test('client: ids and handles can have names on Object.prototype', async () => {
  const answer =
    '{"meta":{"status":200,"missingViewReferences":[]},"views":{"__proto__":{"title":"A view"}}}';
  const savedErrors = '{"errors":{"__proto__":["is wrong"]}}';
  const named = createClient({
    url: 'http://example.test',
    key: clientKey,
    sourceKey,
    fetch: async (url) => Response.json(JSON.parse(String(url).includes('/ingest/') ? savedErrors : answer)),
  });
  assert.equal(await named.byHandle('constructor'), null);
  assert.equal(await named.byId('toString'), null);
  assert.deepEqual(await named.byHandle('__proto__'), { title: 'A view' });
  const { errors } = await named.saveMany([{ originId: '__proto__', type: 'page', properties: {} }]);
  assert.deepEqual(Object.entries(errors), [['__proto__', ['is wrong']]]);
  const removed = await named.remove('__proto__');
  assert.deepEqual(Object.entries(removed.errors), [['__proto__', ['is wrong']]]);
});

test('client: the bundle, including any dependency, is below 8 kB', async () => {
  const bytes = gzipSync(await bundled()).length;
  assert.ok(bytes > 0 && bytes < 8_000, `${bytes} bytes`);
});
