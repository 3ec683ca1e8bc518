/** Bodies that are valid JSON but hard to process, and those that only look like JSON. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readEntities } from '../../src/store/entities/entities.ts';
import { startFront, type TestFront } from '../http/support/front.ts';
import { apiKeys, sourceId } from '../http/support/site.ts';
import { exchange } from '../http/support/wire.ts';
import { brokenUtf8 } from './support/words.ts';

let front: TestFront;
before(async () => {
  front = await startFront();
});
after(() => front.stop());

/** With quadratic time, a test would take an hour, so the runner ends it. */
const patience = { timeout: 120_000 };

const entity = (properties: string) => `{"originId":"a","type":"t","properties":${properties}}`;
const nested = (depth: number) => `${'{"a":'.repeat(depth - 1)}{}${'}'.repeat(depth - 1)}`;
const lists = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`;

async function refused(text: string, expected: RegExp): Promise<void> {
  const bulk = await front.call('POST', '/ingest/v2', { key: apiKeys.source, body: `[${entity(text)}]` });
  const single = await front.call('POST', '/ingest/v2/a', { key: apiKeys.source, body: entity(text) });
  const raw = await front.call('POST', '/ingest/v2/a', {
    key: apiKeys.source,
    body: text,
    headers: { 'X-Service-Type': 't' },
  });
  for (const { status, text: answered } of [bulk, single, raw]) {
    assert.equal(status, 422, text.slice(0, 100));
    assert.match(answered, expected, text.slice(0, 100));
  }
}

async function stored(text: string): Promise<string> {
  const { status, text: answered } = await front.call('POST', '/ingest/v2/a', {
    key: apiKeys.source,
    body: `{"type":"t","properties":${text}}`,
  });
  assert.equal(status, 200, answered);
  const [found] = await readEntities(front.store, 'one', [{ sourceId, originId: 'a' }]);
  return JSON.stringify(found?.properties);
}

test('bodies: properties nested 100 levels deep are stored, and 101 are rejected with the limit', async () => {
  assert.equal(await stored(nested(100)), nested(100));
  assert.equal(await stored(`{"a":${lists(99)}}`), `{"a":${lists(99)}}`);
  await refused(nested(101), /at most 100 levels/);
  await refused(`{"a":${lists(100)}}`, /at most 100 levels/);
});

test(
  'bodies: 100,000 levels are rejected without quadratic time, by ingest, delivery and queries',
  patience,
  async () => {
    await refused(`{"a":${lists(100_000)}}`, /at most 100 levels|must be JSON/);
    await refused(nested(100_000), /at most 100 levels|must be JSON/);
    await refused('['.repeat(100_000), /JSON|s-1001/);
    for (const [path, key] of [
      ['/v2', apiKeys.client],
      ['/v1/x', apiKeys.client],
      ['/v1/source', apiKeys.client],
      ['/v1/sourceGroupAlias/cms/type/t', apiKeys.client],
    ] as const) {
      for (const body of [
        lists(100_000),
        nested(100_000),
        '['.repeat(100_000),
        `{"filters":${nested(100_000)}}`,
      ]) {
        const { status } = await front.call('POST', path, { key, body });
        assert.ok([400, 422].includes(status), `${path} ${status}`);
      }
    }
  },
);

test('bodies: numbers beyond a double are rejected with the advice to send a string; strings of any length are stored', async () => {
  await refused('{"a":1e400}', /Send it as a string/);
  await refused('{"a":[{"b":-1e400}]}', /Send it as a string/);
  await refused(`{"a":1${'0'.repeat(400)}}`, /Send it as a string/);
  const digits = '1234567890'.repeat(500);
  assert.equal(await stored(`{"a":"${digits}","b":-0,"c":1e-400}`), `{"a":"${digits}","b":0,"c":0}`);
});

test('bodies: unpaired surrogates are rejected in values, names and originIds, and pairs are stored', async () => {
  await refused('{"a":"\\ud800"}', /surrogate/);
  await refused('{"a":{"\\udfff\\ud800":1}}', /surrogate/);
  await refused('{"a":["x\\ud83d"]}', /surrogate/);
  assert.equal(await stored('{"a":"\\ud83d\\ude00"}'), '{"a":"\u{1F600}"}');
  const originIds = await front.call('POST', '/ingest/v2', {
    key: apiKeys.source,
    body: '[{"originId":"\\ud800","type":"t","properties":{}}]',
  });
  assert.equal(originIds.status, 422);
  assert.deepEqual(Object.keys(originIds.json.errors), ['entities[0]']);
});

test('bodies: bytes that are not UTF-8 are rejected, in a body and in a path', async () => {
  for (const bytes of brokenUtf8) {
    const body = Buffer.concat([Buffer.from('{"type":"t","properties":{"a":"'), bytes, Buffer.from('"}}')]);
    const head = `POST /ingest/v2/a HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${apiKeys.source}\r\nContent-Length: ${body.length}\r\n\r\n`;
    const { text } = await exchange(front.port, [head + body.toString('latin1')]);
    assert.match(text, /^HTTP\/1\.1 422 .*s-1001/s, bytes.toString('hex'));
    const escaped = [...bytes].map((byte) => `%${byte.toString(16)}`).join('');
    const path = await front.call('POST', `/ingest/v2/${escaped}`, { key: apiKeys.source, body: '{}' });
    assert.equal(path.status, 422, escaped);
  }
});

test('bodies: of members with the same name the last one wins, whatever the name', async () => {
  assert.equal(
    await stored('{"a":1,"a":2,"__proto__":1,"__proto__":{"a":3}}'),
    '{"a":2,"__proto__":{"a":3}}',
  );
  const twice = '{"type":"t","type":"u","properties":{},"originId":"b","originId":"c"}';
  const { json } = await front.call('POST', '/ingest/v2', { key: apiKeys.source, body: `[${twice}]` });
  assert.deepEqual(json.changedSourceEntities, ['c']);
});

test('bodies: a body that only looks like JSON is rejected', async () => {
  for (const text of [
    '{a:1}',
    "{'a':1}",
    '{"a":01}',
    '{"a":+1}',
    '{"a":.5}',
    '{"a":NaN}',
    '{"a":1,}',
    '{"a":1}}',
    '{"a":"\t"}',
    '/**/{}',
    '{"a":nul}',
  ]) {
    await refused(text, /JSON/);
  }
});
