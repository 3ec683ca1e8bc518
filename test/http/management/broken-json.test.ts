import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { loadConfiguration } from '../../../src/config/documents/load.ts';
import { LayoutStates } from '../../../src/store/configuration/layouts.ts';
import { startFront, type TestFront } from '../support/front.ts';

const document = { managementClients: [{ name: 'ops', apiKeys: ['management'] }] };

let front: TestFront;
before(async () => {
  const loaded = loadConfiguration(new Map([['tenants/one/tenant.json', JSON.stringify(document)]]));
  assert.ok(loaded.ok, JSON.stringify(loaded));
  const configuration = { loaded: true, current: loaded.configuration, layouts: LayoutStates.none };
  front = await startFront({ services: { configuration } });
});
after(() => front.stop());

test('management: a body that is not JSON is refused with line, column and what was expected there', async () => {
  const reason = 'The body must be JSON in UTF-8 (line 2, column 5: expected `,` or `}`)';
  for (const [method, path] of [
    ['PUT', '/management/v1/configuration'],
    ['POST', '/management/v1/preview'],
    ['POST', '/management/v1/webhooks/any/replay'],
  ] as const) {
    const response = await fetch(`http://127.0.0.1:${front.port}${path}`, {
      method,
      headers: { 'X-Api-Key': 'management' },
      body: '{"a":1\n    "b":2}',
    });
    const body = JSON.parse(await response.text());
    assert.deepEqual([response.status, body.status], [422, 422], path);
    assert.deepEqual(body.errors ?? [body.message], [reason], path);
  }
});
