import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { AnswerCache } from '../../../src/http/cache/answer-cache.ts';
import { ReferencedViewCache } from '../../../src/http/cache/referenced-views.ts';
import { startFront, type TestFront } from '../support/front.ts';
import { putClaim, putView, viewIdOf } from '../support/seed.ts';
import { apiKeys } from '../support/site.ts';

let front: TestFront;
const cache = new AnswerCache(16 * 1024 * 1024);
const referencedViews = new ReferencedViewCache(1024 * 1024);
before(async () => {
  front = await startFront({ services: { cache, referencedViews } });
  const { store } = front;
  await putView(store, 'a', 'A', { next: 'b', leaf: 'c' });
  await putView(store, 'b', 'B', { back: 'a', gone: 'missing "1"' });
  await putView(store, 'c', 'C');
  await putClaim(store, 'a', { url: '/a' });
  await putClaim(store, 'a', { url: '/old', redirect: '/a' });
  await putClaim(store, 'c', { handle: 'c' });
});
after(() => front.stop());

const key = apiKeys.client;
const get = (path: string, headers: Record<string, string> = {}) => front.call('GET', path, { key, headers });
const reference = (originId: string, view: unknown) => ({
  id: viewIdOf(originId),
  view,
  type: 'ViewReference',
});
const routeOfA = {
  title: 'A',
  next: reference('b', {
    title: 'B',
    back: reference('a', null),
    gone: reference('missing "1"', null),
  }),
  leaf: reference('c', { title: 'C' }),
};

test('delivery v1: each reference is wrapped at every level; a missing one is listed, a cyclic one is not', async () => {
  for (const path of ['/v1', '/v1/']) {
    const { status, json } = await get(`${path}?url=/a&handle=c&id=${encodeURIComponent(viewIdOf('b'))}`);
    assert.equal(status, 200);
    const ofB = {
      title: 'B',
      back: reference('a', { title: 'A', next: reference('b', null), leaf: reference('c', { title: 'C' }) }),
      gone: reference('missing "1"', null),
    };
    assert.deepEqual(json, {
      meta: {
        status: 200,
        redirect: null,
        missingViewReferences: [
          { path: 'route.next.view.gone', viewId: viewIdOf('missing "1"') },
          { path: `views['${viewIdOf('b')}'].gone`, viewId: viewIdOf('missing "1"') },
        ],
      },
      route: routeOfA,
      views: { [viewIdOf('b')]: ofB, c: { title: 'C' } },
    });
  }
});

test('delivery v1: redirects, unknown URLs and errors are those of v2', async () => {
  const queries = ['url=/old', 'url=/none', 'handle=c', 'url=/none&handle=c&includeDuplicateViews=true'];
  for (const query of [...queries, '', 'url=/a&url=/b', 'url=a', 'handle=x&handle=x', 'id=%ff']) {
    const [v1, v2] = await Promise.all([get(`/v1?${query}`), get(`/v2?${query}`)]);
    assert.deepEqual([v1.status, v1.json], [v2.status, v2.json], query);
  }
  for (const [client, status] of [
    ['nobody', 401],
    [apiKeys.query, 403],
    [apiKeys.source, 403],
  ] as const) {
    const refusal = await front.call('GET', '/v1?url=/a', { key: client });
    assert.deepEqual([refusal.status, refusal.json.meta], [status, { status }]);
  }
});

test('delivery v1: answers of v1 and v2 to the same query are cached separately, each with its ETag', async () => {
  cache.empty();
  const ask = async () => [await get('/v1?url=/a'), await get('/v2?url=/a'), await get('/v1/?url=/a')];
  const before = cache.stats.hits;
  const [v1, v2, slash] = await ask();
  const [v1Again, v2Again] = await ask();
  assert.deepEqual(v1?.json.route, routeOfA);
  assert.deepEqual([v1Again?.text, slash?.text, v2Again?.text], [v1?.text, v1?.text, v2?.text]);
  assert.notEqual(v1?.headers.get('etag'), v2?.headers.get('etag'));
  assert.equal(cache.stats.hits - before, 4);
  const etag = v1?.headers.get('etag') ?? '';
  assert.equal((await get('/v1?url=/a', { 'If-None-Match': etag })).status, 304);
  assert.equal((await get('/v2?url=/a', { 'If-None-Match': etag })).status, 200);
});

test('delivery v1: a cached answer is evicted when a view in it changes', async () => {
  await get('/v1?url=/a');
  cache.invalidate(null);
  referencedViews.empty();
  await putView(front.store, 'c', 'C2');
  assert.deepEqual((await get('/v1?url=/a')).json.route.leaf, reference('c', { title: 'C2' }));
  await putView(front.store, 'c', 'C');
  cache.invalidate(null);
  referencedViews.empty();
});

test('delivery v1: HEAD works on both paths, and other methods get the allowed ones', async () => {
  for (const path of ['/v1', '/v1/']) {
    assert.equal((await front.call('HEAD', `${path}?url=/a`, { key })).status, 200);
    const { status, headers } = await front.call('DELETE', path, { key });
    assert.equal(status, 405);
    assert.ok(headers.get('allow')?.startsWith('GET, HEAD'), path);
    const preflight = await front.call('OPTIONS', path, { headers: { Origin: 'https://a.example' } });
    assert.equal(preflight.status, 204);
    assert.match(preflight.headers.get('access-control-allow-methods') ?? '', /GET/);
  }
});
