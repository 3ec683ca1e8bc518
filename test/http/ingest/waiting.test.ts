/** `X-Service-Wait` when no worker makes anything visible. For visible writes see `test/system/truth/read-your-writes.test.ts`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { visibilityWaitsMax, visibilityWaitsOfTenantMax } from '../../../src/contract/limits.ts';
import { VisibilityWaits } from '../../../src/http/ingest/writes-under-way.ts';
import { startFront } from '../support/front.ts';
import { apiKeys } from '../support/site.ts';

test('waiting: a write that waits is answered with false after the timeout', async (context) => {
  const front = await startFront();
  context.after(() => front.stop());
  const body = { type: 'page', properties: {} };
  const writes = [
    ['POST', '/ingest/v2/a', body],
    ['POST', '/ingest/v2', [{ originId: 'b', ...body }]],
    ['POST', '/ingest/v1', { id: 'c', ...body }],
    ['DELETE', '/ingest/v2/a', undefined],
    ['DELETE', '/ingest/v1?id=c', undefined],
    ['DELETE', '/ingest/v2', { originIds: ['b'] }],
  ] as const;
  for (const [method, path, body] of writes) {
    const startMs = performance.now();
    const headers = { 'X-Service-Wait': '50' };
    const answer = await front.call(method, path, { key: apiKeys.source, body, headers });
    assert.equal(answer.status, 200, answer.text);
    assert.ok(performance.now() - startMs >= 45, `${method} ${path}`);
    assert.equal(answer.headers.get('x-service-visible'), 'false', `${method} ${path}`);
    assert.equal(answer.headers.get('x-acme-visible'), 'false');
    assert.ok(answer.headers.get('x-service-version'));
  }
  const key = apiKeys.source;
  const runSync = await front.call('POST', '/ingest/v2/d', { key, body, headers: { 'X-Acme-Wait': '0' } });
  assert.equal(runSync.headers.get('x-service-visible'), 'false');
  const without = await front.call('POST', '/ingest/v2/e', { key, body });
  assert.equal(without.headers.get('x-service-visible'), null);
});

test('waiting: a write does not wait if too many of its tenant, or of all tenants, wait', async () => {
  const waits: number[] = [];
  const open: ((isVisible: boolean) => void)[] = [];
  const visibility = new VisibilityWaits({
    waitFor: (_tenant, _version, timeoutMs) => {
      waits.push(timeoutMs);
      return timeoutMs === 0 ? Promise.resolve(false) : new Promise((resolve) => open.push(resolve));
    },
  });
  const write = (tenant: string) => visibility.isVisible(tenant, new Map(), 100);
  const tenants = Array.from(
    { length: visibilityWaitsMax / visibilityWaitsOfTenantMax },
    (_, at) => `t${at}`,
  );
  const waiting = tenants.flatMap((tenant) =>
    Array.from({ length: visibilityWaitsOfTenantMax }, () => write(tenant)),
  );
  assert.equal(open.length, visibilityWaitsMax);
  assert.equal(await write('t0'), false);
  assert.equal(await write('another'), false);
  assert.deepEqual(waits.slice(-2), [0, 0]);
  for (const end of open) end(true);
  assert.ok((await Promise.all(waiting)).every(Boolean));
  void write('t0');
  assert.equal(waits.at(-1), 100);
});
