import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { SourceEntity } from '../../../src/contract/entity.ts';
import { formatViewId } from '../../../src/contract/ids.ts';
import { shownReferencesMax } from '../../../src/contract/limits.ts';
import { portions } from '../../../src/lib/lists.ts';
import { until } from '../../support/until.ts';
import type { Client } from '../support/client.ts';
import { entityOf } from '../support/data/entities.ts';
import { EventSource } from '../support/event-source.ts';
import { FeedCopy, type ReportedChange, requireOk } from '../support/feed-copy.ts';
import { sharedPlatform } from '../support/processes/shared-platform.ts';
import type { System } from '../support/processes/system.ts';
import { clientKey, environmentId, siteFiles, sourceId, sourceKey } from '../support/site.ts';

const narrowKey = 'client-key-without-changes';
const files = siteFiles({
  tenant: 'changes',
  schemas: {
    page: {
      triggers: { cms: ['page', 'post'] },
      route: { url: '{url}', handles: ['{p.handle}'] },
      properties: {
        title: '{p.title}',
        group: { type: 'reference', alias: 'group', originId: '{p.group}' },
      },
    },
    section: {
      triggers: { cms: ['section'] },
      route: { url: '{url}' },
      properties: { first: { type: 'reference', alias: 'page', originId: '{p.page}' } },
    },
    knot: {
      triggers: { cms: ['knot'] },
      route: { handles: ['{originId}'] },
      properties: {
        title: '{p.title}',
        others: {
          type: 'array',
          input: '{p.others}',
          items: { type: 'reference', alias: 'knot', originId: '{item}' },
        },
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
  settings: {
    environments: [
      { id: environmentId, alias: 'production' },
      { id: 'env-preview', alias: 'preview' },
    ],
    environmentClients: [
      { name: 'website', environment: 'production', domains: ['site'], apiKeys: [clientKey] },
      {
        name: 'narrow',
        environment: 'production',
        domains: ['site'],
        scopes: ['delivery', 'routes'],
        apiKeys: [narrowKey],
      },
      { name: 'preview', environment: 'preview', domains: ['site'], apiKeys: ['preview-key'] },
    ],
  },
});

let system: System;
let clients: readonly [Client, Client];

before(async () => {
  system = await sharedPlatform(files);
  clients = [system.client('web.1', 32), system.client('web.2', 32)];
});

const viewId = (originId: string, alias = 'page') =>
  formatViewId({ environmentId, sourceId, originId, alias });

/** Version of the last write, which covers all earlier ones. */
let lastVersion: string | undefined;

/** @returns the version of the write */
async function save(...entities: readonly SourceEntity[]): Promise<string> {
  const answer = await clients[0].post('/ingest/v2', JSON.parse(JSON.stringify(entities)), {
    key: sourceKey,
    headers: { 'X-Service-Force-Type': 'true' },
  });
  lastVersion = String(requireOk(answer).headers['x-service-version']);
  return lastVersion;
}

async function remove(originId: string): Promise<string> {
  const answer = await clients[0].delete(`/ingest/v2/${originId}`, { key: sourceKey });
  lastVersion = String(requireOk(answer).headers['x-service-version']);
  return lastVersion;
}

function page(
  originId: string,
  title: string,
  url: string | null,
  more: Partial<SourceEntity> = {},
): SourceEntity {
  return entityOf(originId, 'page', { title, ...more.properties }, { url, ...more });
}

/** The changes after an offset, once a version is visible. */
async function changesSince(
  since: string,
  version?: string,
): Promise<{ changes: ReportedChange[]; offset: string; upToDate: boolean }> {
  const answer = await clients[1].get(`/changes/v1?since=${since}`, {
    key: clientKey,
    ...(version !== undefined && { version }),
  });
  return requireOk(answer).json;
}

/** The offset after all saves. */
async function now(): Promise<string> {
  const { changes, offset, upToDate } = await changesSince('now', lastVersion);
  assert.deepEqual([changes, upToDate], [[], true]);
  return offset;
}

function shown({ action, originId, urls, handles, redirects, left }: ReportedChange): unknown {
  return { action, originId, urls, handles, redirects, left };
}

const nowhere = { urls: [], handles: [], redirects: [] };

test('changes: a copy starts with every existing view, once, and then receives changes', async () => {
  const version = await save(
    page('a', 'A', '/a', { redirects: ['/old-a'], properties: { handle: 'first' } }),
    page('b', 'B', null),
  );
  await clients[0].get('/changes/v1?since=now', { key: clientKey, version });
  const copy = new FeedCopy();
  const reported = await copy.catchUp(clients[0], clientKey);
  assert.deepEqual(reported.map(({ originId }) => originId).sort(), ['a', 'b']);
  const change = reported.find(({ originId }) => originId === 'a');
  const { tags, version: itsVersion, at, ...rest } = change;
  assert.deepEqual(rest, {
    id: viewId('a'),
    alias: 'page',
    sourceGroup: 'cms',
    originId: 'a',
    type: 'page',
    action: 'set',
    urls: ['/a'],
    handles: ['first'],
    redirects: ['/old-a'],
    left: nowhere,
  });
  assert.ok(tags.length >= 5 && tags.every((tag: string) => /^[\w-]{1,24}$/.test(tag)), tags.join(' '));
  assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000, at);
  assert.match(itsVersion, /^v1-/);
  assert.deepEqual(await copy.catchUp(clients[1], clientKey), [], 'nothing changed since');
});

test('changes: a write that does not change a view is not reported', async () => {
  await save(page('quiet', 'Quiet', '/quiet'));
  const offset = await now();
  const unchanged = await save(page('quiet', 'Quiet', '/quiet'));
  assert.deepEqual((await changesSince(offset, unchanged)).changes, []);
  const elsewhere = await save(page('quiet', 'Quiet', '/quiet', { properties: { unused: 1 } }));
  assert.deepEqual((await changesSince(offset, elsewhere)).changes, [], 'a property that no view has');
  const ofOtherType = await save({ ...page('quiet', 'Quiet', '/quiet'), type: 'post' });
  assert.deepEqual((await changesSince(offset, ofOtherType)).changes, [], 'another type of the same bytes');
  const full = await new FeedCopy().catchUp(clients[0], clientKey);
  assert.equal(full.find(({ originId }) => originId === 'quiet').type, 'page', 'the last reported type');
  const changed = await save({ ...page('quiet', 'Loud', '/quiet'), type: 'post' });
  assert.deepEqual(
    (await changesSince(offset, changed)).changes.map(({ originId, type }) => [originId, type]),
    [['quiet', 'post']],
  );
});

test('changes: a read with the version of a change shows it, on every front', async () => {
  for (let round = 0; round < 15; round += 1) {
    const offset = await now();
    await save(page('versioned', `Title ${round}`, `/versioned-${round}`));
    const answer = await clients[0].get(`/changes/v1?since=${offset}&live=long-poll`, { key: clientKey });
    const [change] = requireOk(answer).json.changes;
    assert.deepEqual(change.urls, [`/versioned-${round}`]);
    const { version } = change;
    const read = await clients[1].get(`/v2?url=/versioned-${round}`, { key: clientKey, version });
    assert.equal(read.json.route.title, `Title ${round}`);
    const routes = await clients[1].get('/routes/v2', { key: clientKey, version });
    assert.ok(routes.json.results.some(({ url }: { url: string }) => url === `/versioned-${round}`));
  }
});

test('changes: the former URLs of a view are reported with it until they expire', async () => {
  await save(page('mover', 'Mover', '/one', { redirects: ['/zero'], properties: { handle: 'mover-1' } }));
  const offset = await now();
  const moved = await save(
    page('mover', 'Mover', '/two', { redirects: ['/one'], properties: { handle: 'mover-2' } }),
  );
  const { changes } = await changesSince(offset, moved);
  assert.deepEqual(changes.map(shown), [
    {
      action: 'set',
      originId: 'mover',
      urls: ['/two'],
      handles: ['mover-2'],
      redirects: ['/one'],
      left: { urls: ['/one'], handles: ['mover-1'], redirects: ['/zero'] },
    },
  ]);
  const later = await now();
  const retitled = await save(
    page('mover', 'Moved', '/two', { redirects: ['/one'], properties: { handle: 'mover-2' } }),
  );
  const [again] = (await changesSince(later, retitled)).changes;
  assert.deepEqual(again.left, { urls: ['/one'], handles: ['mover-1'], redirects: ['/zero'] });
  const back = await save(page('mover', 'Moved', '/one', { properties: { handle: 'mover-1' } }));
  const [home] = (await changesSince(later, back)).changes;
  assert.deepEqual(
    [home.urls, home.left],
    [['/one'], { urls: ['/two'], handles: ['mover-2'], redirects: ['/one', '/zero'] }],
  );
  const gone = await remove('mover');
  const [removed] = (await changesSince(later, gone)).changes;
  assert.deepEqual(shown({ ...removed, left: { ...removed.left, urls: removed.left.urls.sort() } }), {
    action: 'removed',
    originId: 'mover',
    ...nowhere,
    left: { urls: ['/one', '/two'], handles: ['mover-1', 'mover-2'], redirects: ['/one', '/zero'] },
  });
});

test('changes: a view that wins or loses a URL because of another view is reported', async () => {
  await save(page('early', 'Early', '/contested'));
  const offset = await now();
  const taken = await save(page('late', 'Late', '/contested'));
  const { changes } = await changesSince(offset, taken);
  assert.deepEqual(
    changes.map(shown).sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
    [
      { action: 'set', originId: 'early', ...nowhere, left: { ...nowhere, urls: ['/contested'] } },
      { action: 'set', originId: 'late', ...nowhere, urls: ['/contested'], left: nowhere },
    ],
  );
  const later = await now();
  const loserChanged = await save(page('early', 'Earlier', '/contested'));
  const [loser] = (await changesSince(later, loserChanged)).changes;
  assert.deepEqual([loser.urls, loser.left.urls], [[], ['/contested']]);
  const last = await now();
  const given = await remove('late');
  const after_ = await changesSince(last, given);
  assert.deepEqual(
    after_.changes.map(shown).sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
    [
      { action: 'removed', originId: 'late', ...nowhere, left: { ...nowhere, urls: ['/contested'] } },
      { action: 'set', originId: 'early', ...nowhere, urls: ['/contested'], left: nowhere },
    ],
  );
});

test('changes: redirects that a page hides are reported as dropped, and as served again when it is removed', async () => {
  const redirecting = (id: string) =>
    page(id, id, `/${id}`, { redirects: ['/hidden', 'https://x.test/hidden'] });
  await save(redirecting('r1'));
  const offset = await now();
  const hidden = await save(page('hiding', 'Hiding', '/hidden'));
  const reported = (await changesSince(offset, hidden)).changes;
  const r1 = reported.find(({ originId }) => originId === 'r1');
  assert.deepEqual([r1.redirects, r1.left.redirects.sort()], [[], ['/hidden', 'https://x.test/hidden']]);
  const later = await now();
  const shownAgain = await remove('hiding');
  const back = (await changesSince(later, shownAgain)).changes.find(({ originId }) => originId === 'r1');
  assert.deepEqual([back.redirects.sort(), back.left], [['/hidden', 'https://x.test/hidden'], nowhere]);
});

test('changes: a redirect that a page hides, and another view then claims, is reported as dropped', async () => {
  const redirecting = (id: string) => page(id, id, `/${id}`, { redirects: ['https://x.test/over'] });
  await save(redirecting('o1'));
  const offset = await now();
  await save(page('over-page', 'Over', '/over-it', { url: '/over' }));
  const version = await save(redirecting('o2'));
  const { changes } = await changesSince(offset, version);
  const o1 = changes.find(({ originId }) => originId === 'o1');
  assert.deepEqual([o1?.redirects, o1?.left.redirects], [[], ['https://x.test/over']]);
});

test('changes: a view that a lookup changes is reported, and intermediate states are merged', async () => {
  await save(entityOf('g', 'group', {}));
  await save(page('in-g', 'Zero', null, { properties: { group: 'g' } }));
  const offset = await now();
  let version = '';
  for (const title of ['One', 'Two', 'Three']) {
    version = await save(page('in-g', title, null, { properties: { group: 'g' } }));
  }
  const { changes } = await changesSince(offset, version);
  assert.deepEqual(changes.map(({ originId, alias }) => `${alias} ${originId}`).sort(), [
    'group g',
    'page in-g',
  ]);
});

test('changes: the pages that show a view are reported at any depth, while they show it', async () => {
  await save(
    entityOf('shown', 'group', {}),
    page('over', 'Over', '/over', { properties: { group: 'shown', handle: 'over' } }),
    entityOf('top', 'section', { page: 'over' }, { url: '/top' }),
    entityOf('round', 'section', { page: 'round' }, { url: '/round' }),
  );
  const offset = await now();
  const expanded = async (version: string, since = offset) => {
    const answer = await clients[1].get(`/changes/v1?since=${since}&expand=shown`, {
      key: clientKey,
      version,
    });
    return requireOk(answer).json.changes.find(({ alias }: ReportedChange) => alias === 'group');
  };
  const titled = await save(
    page('over', 'Title', '/over', { properties: { group: 'shown', handle: 'over' } }),
  );
  const { shownOn, shownOnMore } = await expanded(titled);
  assert.deepEqual([shownOn.sort(), shownOnMore], [['/over', '/top', 'over'], undefined]);
  const events = follow(`?since=${offset}&live=sse&expand=shown`);
  await events.until(() => events.events.at(-1)?.event === 'up-to-date', 'the expanded events');
  const byEvent = events.events.map(({ data }) => JSON.parse(data)).find(({ alias }) => alias === 'group');
  assert.deepEqual(byEvent.shownOn.sort(), ['/over', '/top', 'over']);
  events.close();
  await save(entityOf('top', 'section', { page: null }, { url: '/top' }));
  const untitled = await save(
    page('over', 'Other', '/over', { properties: { group: 'shown', handle: 'over' } }),
  );
  assert.deepEqual((await expanded(untitled)).shownOn.sort(), ['/over', 'over']);
  for (let batch = 0; batch < 30; batch += 1) {
    const readers = Array.from({ length: 40 }, (_, at) =>
      page(`r${batch}-${at}`, 'R', `/r/${batch}/${at}`, { properties: { group: 'shown' } }),
    );
    await save(...readers);
  }
  const later = await now();
  const last = await save(page('over', 'Last', '/over', { properties: { group: 'shown', handle: 'over' } }));
  const many = await expanded(last, later);
  assert.deepEqual([many.shownOn.length, many.shownOnMore], [1000, 202]);
  assert.equal((await clients[0].get('/changes/v1?expand=all', { key: clientKey })).status, 422);
});

/** Each refers to all of them, so that finding where one is shown takes more references than a page follows. */
const knots = Array.from({ length: Math.ceil(Math.sqrt(shownReferencesMax)) + 1 }, (_, at) => `knot-${at}`);

test('changes: a page that is expensive to expand ends early, and nothing is skipped', async () => {
  const knot = (originId: string, title: string) => entityOf(originId, 'knot', { title, others: knots });
  for (const group of portions(knots, 50)) await save(...group.map((originId) => knot(originId, 'One')));
  const offset = await now();
  const changed = knots.slice(0, 3);
  const version = await save(...changed.map((originId) => knot(originId, 'Two')));
  const reported: ReportedChange[] = [];
  for (let since = offset, isAll = false; !isAll; ) {
    const answer = await clients[1].get(`/changes/v1?since=${since}&expand=shown`, {
      key: clientKey,
      version,
    });
    const { changes, offset: next, upToDate } = requireOk(answer).json;
    assert.ok(changes.length <= 1, `${changes.length} changes of one page`);
    reported.push(...changes);
    [since, isAll] = [next, upToDate];
  }
  assert.deepEqual(reported.map(({ originId }) => originId).sort(), changed);
  for (const { shownOn, shownOnMore } of reported) {
    assert.deepEqual([shownOn.length, shownOnMore], [knots.length - 1, undefined]);
  }
  const events = follow(`?since=${offset}&live=sse&expand=shown`);
  await events.until(() => events.events.at(-1)?.event === 'up-to-date', 'the end');
  assert.equal(events.events.length, changed.length + 1, 'each once');
  events.close();
});

test('changes: where a view is shown is computed once, for any number of offsets', async () => {
  const since = await now();
  const quiet = Array.from({ length: 32 }, (_, at) => page(`quiet-${at}`, 'Q', null));
  await save(...quiet);
  await now();
  const stream = follow(`?since=${since}&live=sse`);
  await stream.until(() => stream.events.at(-1)?.event === 'up-to-date', 'their offsets');
  stream.close();
  const offsets = stream.events.slice(0, -1).map(({ id }) => id);
  assert.equal(new Set(offsets).size, quiet.length);
  await save(entityOf('knot-1', 'knot', { title: 'Three', others: knots }));
  await now();
  const { client } = await system.store();
  const sentByRedis = async () =>
    Number(/total_net_output_bytes:(\d+)/.exec(await client.info('stats'))?.[1]);
  const expanded = (offset: string) =>
    clients[1].get(`/changes/v1?since=${offset}&expand=shown`, { key: clientKey });
  const before = await sentByRedis();
  await expanded(offsets.at(-1) ?? '');
  const once = (await sentByRedis()) - before;
  await save(entityOf('knot-1', 'knot', { title: 'Four', others: knots }));
  await now();
  const start = await sentByRedis();
  const answers = await Promise.all(offsets.map(expanded));
  const all = (await sentByRedis()) - start;
  assert.ok(all < 2 * once, `${all} bytes of Redis, ${once} for one`);
  for (const answer of answers) {
    const { changes } = requireOk(answer).json;
    const knot = changes.find(({ originId }: ReportedChange) => originId === 'knot-1');
    assert.equal(knot?.shownOn.length, knots.length - 1);
  }
});

test('changes: a view that was removed and created again within one poll is reported in its current state', async () => {
  await save(page('phoenix', 'P', '/phoenix'));
  const offset = await now();
  await remove('phoenix');
  await now();
  const version = await save(page('phoenix', 'P', '/phoenix'));
  assert.deepEqual((await changesSince(offset, version)).changes.map(shown), [
    { action: 'set', originId: 'phoenix', ...nowhere, urls: ['/phoenix'], left: nowhere },
  ]);
});

test('changes: invalid parameters, offsets and keys are rejected', async () => {
  const ask = (query: string, headers = {}, key = clientKey) =>
    clients[0].get(`/changes/v1?${query}`, { key, headers });
  for (const query of ['live=always', 'live=sse&live=sse', 'since=now&since=now']) {
    assert.equal((await ask(query)).status, 422, query);
  }
  assert.equal((await ask('', { 'X-Service-Min-Version': 'nonsense' })).status, 422);
  const offset = await now();
  for (const wrong of ['nonsense', '%20', `${offset}x`, offset.slice(1)]) {
    const answer = await ask(`since=${wrong}`);
    assert.equal(answer.status, 410, wrong);
    assert.match(answer.json.message, /since/);
  }
  assert.equal((await ask(`since=${offset}`, {}, 'preview-key')).status, 410, 'of another environment');
  assert.equal((await ask(`since=${offset}`)).status, 200);
  assert.equal((await ask('', {}, narrowKey)).status, 403);
  assert.equal((await ask('', {}, 'unknown')).status, 401);
  assert.equal((await clients[0].get('/changes/v1', { key: sourceKey })).status, 403);
  const ofEvents = await ask('live=sse', { 'Last-Event-ID': 'nonsense' });
  assert.equal(ofEvents.status, 410);
});

test('changes: a long-poll waits for the first change, and returns existing changes', async () => {
  const offset = await now();
  const waiting = clients[1].get(`/changes/v1?since=${offset}&live=long-poll`, { key: clientKey });
  await until('the long poll is waiting', async () => {
    const { text } = await system.client('web.2').get('/metrics');
    return /millrace_feed_followers[^\n]* 1\n/.test(text);
  });
  await save(page('polled', 'Polled', '/polled'));
  const { changes, offset: next, upToDate } = requireOk(await waiting).json;
  assert.deepEqual([changes.map(({ originId }: ReportedChange) => originId), upToDate], [['polled'], true]);
  assert.deepEqual((await changesSince(next)).changes, []);
  const again = await clients[0].get(`/changes/v1?since=${offset}&live=long-poll`, { key: clientKey });
  assert.equal(again.json.changes.length, 1);
});

test('changes: a long-poll whose client has disconnected ends', async () => {
  const offset = await now();
  const followers = async (count: number) => {
    const { text } = await system.client('web.2').get('/metrics');
    return new RegExp(`millrace_feed_followers[^\\n]* ${count}\\n`).test(text);
  };
  const client = new AbortController();
  const polls = Array.from({ length: 20 }, () =>
    fetch(`${system.url('web.2')}/changes/v1?since=${offset}&live=long-poll`, {
      headers: { 'X-Api-Key': clientKey },
      signal: client.signal,
    }),
  );
  const ends = Promise.allSettled(polls);
  await until('they are waiting', () => followers(20));
  client.abort();
  await ends;
  // A long-poll would end by itself after 30 s.
  await until('none is followed', () => followers(0), 15_000);
});

function follow(query: string, headers: Record<string, string> = {}, front = 'web.1'): EventSource {
  return new EventSource(`${system.url(front)}/changes/v1${query}`, { 'X-Api-Key': clientKey, ...headers });
}

test('changes: events are sent as they happen, and a new connection resumes after the last event', async () => {
  await save(page('evented', 'One', '/evented'));
  const offset = await now();
  const first = follow(`?since=${offset}&live=sse`);
  await first.until(() => first.events.length > 0, 'the beginning');
  assert.deepEqual([first.status, first.contentType], [200, 'text/event-stream']);
  assert.deepEqual(
    first.events.map(({ event, data }) => [event, data]),
    [['up-to-date', '{}']],
  );
  await save(page('evented', 'Two', '/evented'));
  await first.until(() => first.events.length >= 3, 'a change');
  const [, change, end] = first.events;
  assert.equal(change?.event, 'change');
  assert.equal(JSON.parse(change?.data ?? '').originId, 'evented');
  assert.equal(end?.event, 'up-to-date');
  first.close();
  await save(page('evented', 'Three', '/evented'), page('evented-2', 'Two', '/evented-2'));
  const second = follow(
    `?since=${offset}`,
    { Accept: 'text/event-stream', 'Last-Event-ID': first.lastId },
    'web.2',
  );
  const reported = () => second.events.filter(({ event }) => event === 'change');
  await second.until(
    () => second.events.at(-1)?.event === 'up-to-date' && reported().length === 2,
    'both that changed meanwhile',
  );
  assert.deepEqual(
    reported()
      .map(({ data }) => JSON.parse(data).originId)
      .sort(),
    ['evented', 'evented-2'],
  );
  second.close();
  const middle = follow('?live=sse', { 'Last-Event-ID': reported()[0]?.id ?? '' });
  await middle.until(() => middle.events.at(-1)?.event === 'up-to-date', 'from the middle');
  assert.equal(middle.events.length, 2, 'one change and the end');
  middle.close();
});

test('changes: a complete copy can be read by events too, and a quiet stream sends keep-alives', async () => {
  const many = Array.from({ length: 1200 }, (_, at) =>
    page(`m${at}`, `M ${at}`, `/m/${at}`, { redirects: [`https://h${at}.test/moved-${at % 2}`] }),
  );
  let version = '';
  for (let at = 0; at < many.length; at += 50) version = await save(...many.slice(at, at + 50));
  const copy = new FeedCopy();
  await clients[0].get('/changes/v1?since=now', { key: clientKey, version });
  const reported = await copy.catchUp(clients[0], clientKey);
  assert.equal(new Set(reported.map(({ id }) => id)).size, reported.length, 'each once');
  const events = follow('?live=sse');
  await events.until(() => events.events.at(-1)?.event === 'up-to-date', 'the copy');
  const byEvents = new FeedCopy();
  for (const { event, data } of events.events) if (event === 'change') byEvents.apply(JSON.parse(data));
  assert.deepEqual(byEvents.sorted(), copy.sorted());
  assert.equal(events.events.length, reported.length + 1, 'each once');
  const comments = events.comments;
  await events.until(() => events.comments > comments, 'a comment');
  await save(page('m0', 'Last', '/m/0'));
  await events.until(() => events.events.length === reported.length + 3, 'the connection is still open');
  events.close();
});

test('changes: a page has at most 1,000 changes, even if a log entry represents many', async () => {
  const since = await now();
  const version = await save(page('hides-0', 'H', '/moved-0'), page('hides-1', 'H', '/moved-1'));
  const reported = new Set<string>();
  for (let offset = since, isAll = false; !isAll; ) {
    const page_ = await changesSince(offset, version);
    assert.ok(page_.changes.length <= 1000, String(page_.changes.length));
    for (const { originId } of page_.changes) reported.add(originId);
    [offset, isAll] = [page_.offset, page_.upToDate];
  }
  assert.equal(reported.size, 1201, 'the pages, and what they hide; m0 no longer redirects');
});

function followAnswer(query: string): EventSource {
  return new EventSource(`${system.url('web.2')}/v2?${query}`, {
    'X-Api-Key': clientKey,
    Accept: 'text/event-stream',
  });
}

test('changes: a live answer is sent immediately, and again whenever it changes', async () => {
  await save(
    entityOf('lived', 'group', {}),
    page('live', 'One', '/live', { properties: { group: 'lived' } }),
  );
  await now();
  const live = followAnswer('url=/live');
  const missing = followAnswer('url=/not-yet&handle=lived');
  for (const one of [live, missing]) await one.until(() => one.events.length === 1, 'the answer');
  const answer = await clients[1].get('/v2?url=/live', { key: clientKey });
  assert.deepEqual(live.events[0], { id: String(answer.headers.etag), event: 'answer', data: answer.text });
  assert.deepEqual(
    [live.contentType, JSON.parse(missing.events[0]?.data ?? '').meta.status],
    ['text/event-stream', 404],
  );
  await save(page('live', 'One', '/live', { properties: { group: 'lived', unused: 1 } }));
  await now();
  await save(page('not-yet', 'Yet', '/not-yet', { properties: { group: 'lived' } }));
  const last = (one: EventSource) => JSON.parse(one.events.at(-1)?.data ?? '');
  await missing.until(() => last(missing).route?.title === 'Yet', 'what is added');
  await live.until(() => last(live).route.group.titles.length === 2, 'what a reference shows');
  await missing.until(() => last(missing).views.lived.titles.length === 2, 'what a lookup changed');
  assert.equal(last(live).route.title, 'One');
  assert.equal(new Set(live.events.map(({ id }) => id)).size, live.events.length, 'each is different');
  assert.ok(live.events.length <= 3, String(live.events.length));
  await remove('live');
  await live.until(() => last(live).meta.status === 404, 'that it went');
  for (const one of [live, missing]) one.close();
  const wrong = followAnswer('');
  await wrong.until(() => wrong.isEnded || wrong.status > 0, 'the refusal').catch(() => {});
  assert.equal(wrong.status, 422);
  wrong.close();
});

test('changes: a follower that does not read is disconnected, and others keep receiving', async () => {
  const idle = follow('?since=now&live=sse');
  const reading = follow('?since=now&live=sse');
  for (const one of [idle, reading]) await one.until(() => one.events.length > 0, 'the beginning');
  idle.pause();
  const heard = () => new Set(reading.events.map(({ data }) => JSON.parse(data).urls?.[0])).size;
  const path = 'x'.repeat(3000);
  for (let round = 0; round < 60; round += 1) {
    await save(...Array.from({ length: 40 }, (_, at) => page(`w${at}`, 'W', `/${round}/${at}/${path}`)));
    const metrics = await clients[0].get('/metrics');
    if (/millrace_http_streams_cut_off_total[^\n]* 1\n/.test(metrics.text)) break;
  }
  const metrics = await clients[0].get('/metrics');
  assert.match(metrics.text, /millrace_http_streams_cut_off_total[^\n]* 1\n/);
  assert.match(metrics.text, /millrace_http_streams\{?[^\n]* 1\n/);
  assert.ok(heard() > 40);
  reading.close();
  idle.close();
});

test('changes: a slow follower misses nothing, and keeps receiving', async () => {
  const path = 'y'.repeat(3000);
  for (let round = 0; round < 20; round += 1) {
    await save(...Array.from({ length: 40 }, (_, at) => page(`w${at}`, 'W', `/${path}/${round}/${at}`)));
  }
  await now();
  const late = follow('?live=sse');
  await late.until(() => late.status === 200, 'the beginning');
  late.pause();
  await save(page('w0', 'Late', '/late'));
  await now();
  const copy = new FeedCopy();
  await copy.catchUp(clients[0], clientKey);
  late.resume();
  const reported = () =>
    late.events.filter(({ event }) => event === 'change').map(({ data }) => JSON.parse(data));
  await late.until(
    () => reported().some(({ urls }) => urls[0] === '/late'),
    'what was published in the meantime',
  );
  await late.until(() => late.events.at(-1)?.event === 'up-to-date', 'the end');
  const own = new FeedCopy();
  for (const change of reported()) own.apply(change);
  assert.deepEqual(own.sorted(), copy.sorted());
  await save(page('w1', 'Later', '/later'));
  await late.until(() => reported().some(({ urls }) => urls[0] === '/later'), 'the next change');
  late.close();
});
