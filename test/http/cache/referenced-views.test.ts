import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inlineViewBytesMax } from '../../../src/contract/limits.ts';
import { AnswerCache } from '../../../src/http/cache/answer-cache.ts';
import {
  type ReadView,
  type ReferencedView,
  ReferencedViewCache,
} from '../../../src/http/cache/referenced-views.ts';
import { finish } from '../../../src/lib/cooperative-yield.ts';
import { encodeBody, type ViewTarget } from '../../../src/store/derived/stored-body.ts';
import { subjectKey, viewSubject } from '../../../src/store/derived/subjects.ts';
import { viewTarget } from '../../../src/store/derived/views.ts';
import { startFront, type TestFront } from '../support/front.ts';
import { putClaim, putView, viewIdOf } from '../support/seed.ts';
import { apiKeys, environmentId, sourceId } from '../support/site.ts';

const scope = { tenant: 'one', environmentId };

function viewOf(originId: string, of: Partial<ViewTarget> = {}, within = scope): ReferencedView {
  const target = viewTarget({ sourceId, alias: 'page', originId, ...of });
  return { scope: within, target, subject: subjectKey(viewSubject(within, target)) };
}

function readView(view: ReferencedView, text: string): ReadView {
  const body = { texts: [text], references: [] };
  return { ...view, stored: finish(encodeBody(body, view.target.sourceId)) };
}

const [a, b, c] = [viewOf('a'), viewOf('b'), viewOf('c')] as const;
const textOf = (views: ReferencedViewCache, view: ReferencedView) => views.find(view)?.texts.join('') ?? null;

test('referenced views: a view is cached until it changes', () => {
  const views = new ReferencedViewCache(1024 * 1024);
  views.add(views.begin(), [readView(a, 'A'), readView(b, 'B')]);
  views.end();
  views.invalidate([a.subject, c.subject]);
  assert.deepEqual([textOf(views, a), textOf(views, b)], [null, 'B']);
  views.empty();
  assert.equal(textOf(views, b), null);
  assert.deepEqual([views.entries, views.bytes], [0, 0]);
});

test('referenced views: a view that has changed since it was read is not cached', () => {
  const views = new ReferencedViewCache(1024 * 1024);
  const [changed, emptied] = [views.begin(), views.begin()];
  views.invalidate([a.subject]);
  assert.ok(views.hasChangedSince(changed, [b.subject, a.subject]));
  views.add(changed, [readView(a, 'old'), readView(b, 'B')]);
  assert.deepEqual([textOf(views, a), textOf(views, b)], [null, 'B']);
  views.empty();
  views.add(emptied, [readView(b, 'old')]);
  assert.equal(textOf(views, b), null);
});

test('referenced views: memory is bounded, and cached views do not retain the buffer that they were read into', () => {
  const views = new ReferencedViewCache(20_000);
  const read = readView(a, 'A');
  views.add(views.begin(), [read]);
  read.stored.fill(0x42);
  assert.equal(textOf(views, a), 'A');
  const many = Array.from({ length: 1000 }, (_, at) => viewOf(`view ${at}`));
  for (const view of many) views.add(views.begin(), [readView(view, 'x'.repeat(500))]);
  assert.ok(views.bytes > 10_000 && views.bytes <= 20_000, String(views.bytes));
  assert.equal(many.filter((view) => views.find(view) !== null).length, views.entries);
  const large = viewOf('large');
  views.add(views.begin(), [readView(large, 'x'.repeat(inlineViewBytesMax))]);
  assert.equal(textOf(views, large), null);
});

test('referenced views: references with long names count with their size', () => {
  const views = new ReferencedViewCache(1024 * 1024);
  const bytesOf = (length: number) => {
    const target = viewTarget({ sourceId, alias: 'page', originId: 'é'.repeat(length) });
    const references = Array.from({ length: 10 }, (_, at) => ({
      target: { ...target, environmentId },
      viewId: null,
      path: `.${at}`,
    }));
    const texts = Array.from({ length: 11 }, () => '');
    const before = views.bytes;
    const stored = finish(encodeBody({ texts, references }, sourceId));
    views.add(views.begin(), [{ ...viewOf(`of ${length}`), stored }]);
    return views.bytes - before;
  };
  assert.ok(bytesOf(900) - bytesOf(100) > 10 * 800 * 4);
});

// Found in a fraction of a second: an id whose subject has the digest of another tenant's view.
test('referenced views: a view is never returned for another one whose subject has the same digest', () => {
  const victim = viewOf(
    'secret-country',
    { sourceId: '22222222-2222-4222-8222-222222222222' },
    { tenant: 'victim', environmentId: '11111111-1111-4111-8111-111111111111' },
  );
  const attacker = viewOf(
    'item-0002ofzzzu_Ay7{0~',
    { sourceId: '44444444-4444-4444-8444-444444444444' },
    { tenant: 'attacker', environmentId: '33333333-3333-4333-8333-333333333333' },
  );
  assert.equal(attacker.subject, victim.subject);
  const views = new ReferencedViewCache(1024 * 1024);
  views.add(views.begin(), [readView(victim, 'secret')]);
  assert.deepEqual([textOf(views, attacker), textOf(views, victim)], [null, 'secret']);
  views.add(views.begin(), [readView(attacker, 'mine')]);
  assert.deepEqual([textOf(views, attacker), textOf(views, victim)], ['mine', null]);
});

test('referenced views: ids that are equal when joined stay separate', () => {
  const views = new ReferencedViewCache(1024 * 1024);
  const [one, other] = [
    viewOf('page:x', { sourceId: 's', alias: 'a' }),
    viewOf('x', { sourceId: 's:a', alias: 'page' }),
  ];
  assert.equal(one.subject, other.subject);
  views.add(views.begin(), [readView(one, 'one')]);
  assert.deepEqual([textOf(views, one), textOf(views, other)], ['one', null]);
});

const cache = new AnswerCache(1024 * 1024);
const referencedViews = new ReferencedViewCache(1024 * 1024);
let front: TestFront;
before(async () => {
  front = await startFront({ services: { cache, referencedViews } });
  await putView(front.store, 'country', 'Country', { flag: 'flag' });
  await putView(front.store, 'flag', 'Flag');
  for (const city of ['a', 'b', 'c']) {
    await putView(front.store, city, city, { country: 'country' });
    await putClaim(front.store, city, { url: `/${city}` });
  }
});
after(() => front.stop());

/** A page, and the number of hash fields that were read for it. */
async function read(path: string) {
  const before = await fieldReads();
  const { json } = await front.call('GET', path, { key: apiKeys.client });
  return { route: json.route, reads: (await fieldReads()) - before };
}

async function fieldReads(): Promise<number> {
  const text = await front.store.client.info('commandstats');
  return [...text.matchAll(/cmdstat_h(?:get|mget):calls=(\d+)/g)].reduce(
    (sum, [, calls]) => sum + Number(calls),
    0,
  );
}

test('referenced views: a view that many pages refer to is read once, until it changes', async () => {
  const routeOf = (title: string, country: string) => ({
    title,
    country: { title: country, flag: { title: 'Flag' } },
  });
  const first = await read('/v2?url=/a');
  assert.deepEqual(first.route, routeOf('a', 'Country'));
  const second = await read('/v2?url=/b');
  assert.deepEqual(second.route, routeOf('b', 'Country'));
  assert.equal(first.reads - second.reads, 2);
  await putView(front.store, 'country', 'Land', { flag: 'flag' });
  for (const one of [cache, referencedViews]) one.invalidate([viewOf('country').subject]);
  const third = await read('/v2?url=/c');
  assert.deepEqual(third.route, routeOf('c', 'Land'));
  assert.equal(first.reads - third.reads, 1);
});

test('referenced views: an answer does not contain a cached view that changed while others were read', async (context) => {
  await read('/v2?url=/a');
  cache.empty();
  await putView(front.store, 'country', 'Renamed', { flag: 'flag' });
  const find = referencedViews.find.bind(referencedViews);
  const { mock } = context.mock.method(referencedViews, 'find', (view: ReferencedView) => {
    const found = find(view);
    if (view.target.originId === 'country') referencedViews.invalidate([view.subject]);
    return found;
  });
  const { route } = await read('/v2?url=/b');
  assert.equal(route.country.title, 'Renamed');
  assert.ok(mock.callCount() > 0);
});

test('referenced views: a directly requested view is read, even if others refer to it', async () => {
  await putView(front.store, 'flag', 'Flag of today');
  const { json } = await front.call('GET', `/v2?id=${encodeURIComponent(viewIdOf('flag'))}`, {
    key: apiKeys.client,
  });
  assert.deepEqual(Object.values(json.views), [{ title: 'Flag of today' }]);
});
