import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import type { RouteDefinition } from '../../../src/http/route-definition.ts';
import { OpenRateLimit, RateLimit } from '../../../src/http/routing/admission.ts';
import { openapiDocument, problemShape } from '../../../src/http/routing/openapi/openapi-document.ts';
import { routeTable } from '../../../src/http/routing/route-table.ts';
import { validate } from '../../../src/http/routing/validate.ts';
import { startFront, type TestFront } from '../support/front.ts';
import { apiKeys, testConfiguration } from '../support/site.ts';

let front: TestFront;
before(async () => {
  front = await startFront({ rateLimit: 1 });
});
after(() => front.stop());

const closed = routeTable.filter(({ access }) => access.kind === 'source' || access.kind === 'client');

function ask({ method, path, access, body }: RouteDefinition) {
  return front.call(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'x'), {
    key: access.kind === 'source' ? apiKeys.source : apiKeys.client,
    ...(body === undefined ? {} : { body: body.example }),
  });
}

test('rate limit: a key over its limit gets 429 with Retry-After at every endpoint, in the shape of that interface', async () => {
  const document = openapiDocument(['X-Service']) as { paths: Record<string, Record<string, Operation>> };
  interface Operation {
    readonly responses: Record<string, { readonly headers?: Record<string, unknown> }>;
  }
  for (const route of closed) {
    const answers = await Promise.all([ask(route), ask(route), ask(route), ask(route)]);
    const busy = answers.find(({ status }) => status === 429);
    assert.ok(busy !== undefined, `${route.method} ${route.path}`);
    assert.equal(busy.headers.get('retry-after'), '1');
    const shape = problemShape(route, 429);
    assert.ok(shape !== null);
    assert.deepEqual(validate(shape, busy.json as Json, 5), [], busy.text);
    assert.match(busy.text, /Too many requests with this key/);
    assert.ok(route.problemStatuses.includes(429));
    assert.ok(document.paths[route.path]?.[route.method]?.responses['429']?.headers?.['Retry-After']);
  }
});

test('rate limit: open endpoints, unknown keys and other keys are not affected by the limit of a key', async () => {
  for (let time = 0; time < 5; time += 1) {
    assert.equal((await front.call('GET', '/health/live')).status, 200);
    assert.equal((await front.call('GET', '/v2?handle=a', { key: 'no-such-key' })).status, 401);
    await front.call('GET', '/v2?handle=a', { key: apiKeys.client });
  }
  assert.equal((await front.call('GET', '/v2?handle=a', { key: apiKeys.delivery })).status, 200);
});

test('rate limit: requests without a key are limited per address; requests with a key are not affected', async () => {
  const busy = await startFront({ openRateLimit: 2 });
  after(() => busy.stop());
  const paths = ['/health/live', '/openapi.json', '/metrics', '/health/ready', '/nothing', '/v2?handle=a'];
  const statuses = new Map<string, Set<number>>();
  for (let time = 0; time < 5; time += 1) {
    for (const path of paths) {
      const { status, headers } = await busy.call('GET', path);
      statuses.set(path, (statuses.get(path) ?? new Set()).add(status));
      if (status === 429) assert.equal(headers.get('retry-after'), '1');
    }
  }
  for (const path of paths) assert.ok(statuses.get(path)?.has(429), path);
  for (let time = 0; time < 5; time += 1) {
    assert.equal((await busy.call('GET', '/v2?handle=a', { key: apiKeys.client })).status, 200);
  }
});

test('rate limit: addresses count separately, an IPv6 network as one, and a mapped IPv4 address as itself', () => {
  const limit = new OpenRateLimit(1);
  const take = (hex: string) => limit.take(new Uint8Array(Buffer.from(hex, 'hex')).buffer, 0);
  const emptied = (hex: string) => {
    for (let time = 0; time < 5; time += 1) assert.equal(take(hex), 0, hex);
    assert.equal(take(hex), 1, hex);
  };
  emptied('7f000001');
  emptied('7f000002');
  emptied('20010db8000000010000000000000001');
  assert.equal(take('20010db8000000010000000000000002'), 1);
  assert.equal(take('20010db8000000020000000000000001'), 0);
  assert.equal(take('00000000000000000000ffff7f000001'), 1);
});

test('rate limit: a bucket holds the requests of one second and refills steadily', () => {
  const configuration = testConfiguration();
  const limit = new RateLimit(10);
  const taken = (nowMs: number) => limit.take(configuration, 'a', nowMs);
  for (let count = 0; count < 10; count += 1) assert.equal(taken(0), 0);
  assert.equal(taken(0), 1);
  assert.equal(taken(99), 1);
  assert.equal(taken(200), 0);
  assert.equal(taken(200), 0, 'two tenths of a second are two requests');
  assert.equal(taken(200), 1);
  for (let count = 0; count < 10; count += 1) assert.equal(taken(60_000), 0, 'a long pause gives one second');
  assert.equal(taken(60_000), 1);
  assert.equal(limit.take(configuration, 'b', 60_000), 0, 'each key has its own');
  assert.equal(limit.take(testConfiguration(), 'a', 60_000), 0, 'another configuration starts again');
});

test('rate limit: in any period no more pass than the burst and the rate allow', () => {
  const configuration = testConfiguration();
  for (const perSecond of [1, 3, 50]) {
    const limit = new RateLimit(perSecond);
    let passed = 0;
    for (let nowMs = 0; nowMs <= 10_000; nowMs += 7) {
      if (limit.take(configuration, 'a', nowMs) === 0) passed += 1;
    }
    assert.ok(passed <= perSecond * 11);
    assert.ok(passed >= perSecond * 10, `${passed} of ${perSecond * 10}`);
  }
});

test('rate limit: a refusal for the scope of a known key counts against its limit', async () => {
  const limited = await startFront({ rateLimit: 2 });
  try {
    const statuses = [];
    for (let time = 0; time < 4; time += 1) {
      statuses.push((await limited.call('GET', '/v2?handle=a', { key: apiKeys.routes })).status);
    }
    assert.deepEqual([statuses[0], statuses.at(-1)], [403, 429]);
  } finally {
    await limited.stop();
  }
});
