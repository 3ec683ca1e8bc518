import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { inlineViewBytesMax } from '../../../src/contract/limits.ts';
import { AnswerCache } from '../../../src/http/cache/answer-cache.ts';
import { KeptViews } from '../../../src/http/cache/kept-views.ts';
import { finish } from '../../../src/lib/cooperative-yield.ts';
import { encodeBody } from '../../../src/store/derived/stored-body.ts';
import { subjectKey, viewSubject } from '../../../src/store/derived/subjects.ts';
import { startFront, type TestFront } from '../support/front.ts';
import { putClaim, putView, viewIdOf } from '../support/seed.ts';
import { apiKeys, environmentId, sourceId } from '../support/site.ts';

const readView = (subject: string, text: string) => ({
  subject,
  sourceId,
  stored: finish(encodeBody({ texts: [text], references: [] }, sourceId)),
});
const textOf = (views: KeptViews, subject: string) => views.find(subject)?.texts.join('') ?? null;

test('a view is kept until it changes', () => {
  const views = new KeptViews(1024 * 1024);
  views.keep(views.begin(), [readView('a', 'A'), readView('b', 'B')]);
  views.end();
  views.invalidate(['a', 'c']);
  assert.deepEqual([textOf(views, 'a'), textOf(views, 'b')], [null, 'B']);
  views.empty();
  assert.equal(textOf(views, 'b'), null);
  assert.equal(views.bytes, 0);
});

test('a view that has changed since it was read is not kept', () => {
  const views = new KeptViews(1024 * 1024);
  const [changed, emptied] = [views.begin(), views.begin()];
  views.invalidate(['a']);
  views.keep(changed, [readView('a', 'old'), readView('b', 'B')]);
  assert.deepEqual([textOf(views, 'a'), textOf(views, 'b')], [null, 'B']);
  views.empty();
  views.keep(emptied, [readView('b', 'old')]);
  assert.equal(textOf(views, 'b'), null);
});

test('memory is bounded, and what is kept does not hold the memory that it was read into', () => {
  const views = new KeptViews(20_000);
  const read = readView('a', 'A');
  views.keep(views.begin(), [read]);
  read.stored.fill(0x42);
  assert.equal(textOf(views, 'a'), 'A');
  for (let at = 0; at < 1000; at += 1) views.keep(views.begin(), [readView(`view ${at}`, 'x'.repeat(500))]);
  assert.ok(views.bytes > 10_000 && views.bytes <= 20_000, String(views.bytes));
  assert.notEqual(textOf(views, 'view 999'), null);
  views.keep(views.begin(), [readView('large', 'x'.repeat(inlineViewBytesMax))]);
  assert.equal(textOf(views, 'large'), null);
});

const cache = new AnswerCache(1024 * 1024);
const keptViews = new KeptViews(1024 * 1024);
let front: TestFront;
before(async () => {
  front = await startFront({ services: { cache, keptViews } });
  await putView(front.store, 'country', 'Country', { flag: 'flag' });
  await putView(front.store, 'flag', 'Flag');
  for (const city of ['a', 'b', 'c']) {
    await putView(front.store, city, city, { country: 'country' });
    await putClaim(front.store, city, { url: `/${city}` });
  }
});
after(() => front.stop());

/** A page, and how many hash fields were read for it. */
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

test('the view that many pages refer to is read once, until it changes', async () => {
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
  const scope = { tenant: 'one', environmentId };
  const subject = viewSubject(scope, { sourceId, originId: 'country', alias: 'page' });
  for (const one of [cache, keptViews]) one.invalidate([subjectKey(subject)]);
  const third = await read('/v2?url=/c');
  assert.deepEqual(third.route, routeOf('c', 'Land'));
  assert.equal(first.reads - third.reads, 1);
});

test('a view that is asked for itself is read, though others refer to it', async () => {
  await putView(front.store, 'flag', 'Flag of today');
  const { json } = await front.call('GET', `/v2?id=${encodeURIComponent(viewIdOf('flag'))}`, {
    key: apiKeys.client,
  });
  assert.deepEqual(Object.values(json.views), [{ title: 'Flag of today' }]);
});
