import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { loadConfiguration } from '../../../src/config/documents/load.ts';
import {
  bulkBodyBytesMax,
  configurationBodyBytesMax,
  entityBytesMax,
  previewBodyBytesMax,
  smallBodyBytesMax,
} from '../../../src/contract/limits.ts';
import type { RouteDefinition } from '../../../src/http/route-definition.ts';
import type { RouteName } from '../../../src/http/routing/route-table.ts';
import { routeTable } from '../../../src/http/routing/route-table.ts';
import { LayoutStates } from '../../../src/store/configuration/layouts.ts';
import { readEntities } from '../../../src/store/entities/entities.ts';
import { until } from '../../support/until.ts';
import { startFront, type TestFront } from '../support/front.ts';
import { apiKeys, environmentId, sourceId } from '../support/site.ts';
import { exchange } from '../support/wire.ts';

const managementKey = 'management-one';
const keyOf = { source: apiKeys.source, client: apiKeys.client, management: managementKey } as const;

let front: TestFront;
before(async () => {
  const outcome = loadConfiguration(
    new Map([
      [
        'tenants/one/tenant.json',
        JSON.stringify({
          environments: [{ id: environmentId, alias: 'production' }],
          sourceGroups: [
            {
              alias: 'cms',
              sources: [
                { id: sourceId, name: 'CMS', environments: ['production'], apiKeys: [apiKeys.source] },
              ],
            },
          ],
          environmentClients: [{ environment: 'production', apiKeys: [apiKeys.client] }],
          managementClients: [{ name: 'ci', apiKeys: [managementKey] }],
        }),
      ],
    ]),
  );
  assert.ok(outcome.ok);
  front = await startFront({
    services: { configuration: { loaded: true, current: outcome.configuration, layouts: LayoutStates.none } },
  });
});
after(() => front.stop());

/** Without the slowest quality: the decompressed body is the same, and most of the test's time was compression. */
const packBr = (bytes: Uint8Array | string) =>
  brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });

const compressors = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['GZIP', gzipSync],
  ['br', packBr],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['identity', (bytes: Uint8Array) => Buffer.from(bytes)],
] as const;

/** `/mcp` reads keys differently, and the site of this test has no webhook to replay. */
const takers = routeTable.filter(
  ({ name, body }) => body !== undefined && name !== 'mcp' && name !== 'replayWebhook',
);
const nameOf = ({ method, path }: RouteDefinition) => `${method} ${path}`;

interface Answered {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
}

/** Sends a body to an endpoint, with a key that may do everything there. */
async function send(route: RouteDefinition, body: Uint8Array, coding?: string): Promise<Answered> {
  const { kind } = route.access;
  const key = kind === 'source' || kind === 'client' || kind === 'management' ? keyOf[kind] : '';
  const response = await fetch(`${front.url}${route.path.replaceAll(/\{\w+\}/g, 'x')}`, {
    method: route.method.toUpperCase(),
    headers: {
      'X-Api-Key': key,
      'X-Request-Id': 'same',
      ...(coding !== undefined && { 'Content-Encoding': coding }),
    },
    body,
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

const seen = ({ status, text }: Answered) => ({ status, text });
const exampleOf = (route: RouteDefinition) => Buffer.from(JSON.stringify(route.body?.example));
/** What one endpoint accepts; each request goes to a front whose store has the same content. */
const limitOf = (name: RouteName): number => {
  if (name === 'saveEntity' || name === 'saveEntityV1') return entityBytesMax;
  if (name === 'saveEntities') return bulkBodyBytesMax;
  if (name === 'managementPreview') return previewBodyBytesMax;
  return name === 'putConfiguration' ? configurationBodyBytesMax : smallBodyBytesMax;
};

test('compressed bodies: every endpoint with a body accepts each coding, and answers as it does uncompressed', async () => {
  assert.ok(takers.length >= 8);
  for (const route of takers) {
    // The first save changes something, the others nothing; a delete finds something once.
    await send(route, exampleOf(route));
    const plain = seen(await send(route, exampleOf(route)));
    assert.ok(![400, 413, 415].includes(plain.status), `${nameOf(route)} ${plain.status} ${plain.text}`);
    for (const [coding, compress] of compressors)
      assert.deepEqual(
        seen(await send(route, compress(exampleOf(route)), coding)),
        plain,
        `${nameOf(route)} ${coding}`,
      );
  }
});

type Seen = { readonly status: number; readonly text: string };

/** The error in a body, and its position, differ; the rest of the response does not. */
function withoutPlace({ status, text }: Seen): Seen {
  return {
    status,
    text: text.replace(/The body must be (?:a )?JSON(?:[^"\\]|\\.)*/, 'The body must be JSON'),
  };
}

test('compressed bodies: corrupt, truncated, empty or trailing data is rejected like malformed JSON', async () => {
  for (const route of takers) {
    const broken = withoutPlace(seen(await send(route, Buffer.from('['))));
    assert.ok(broken.status === 400 || broken.status === 422, nameOf(route));
    const example = exampleOf(route);
    for (const [coding, compress] of compressors.slice(0, 6)) {
      const packed = compress(example);
      for (const bytes of [
        example,
        // For fetch, a DELETE without a byte has no length.
        ...(route.method === 'delete' ? [] : [Buffer.alloc(0)]),
        packed.subarray(0, -1),
        packed.subarray(0, 1),
        Buffer.concat([packed, Buffer.from('x')]),
        Buffer.concat([packed, Buffer.alloc(20)]),
        compress(Buffer.alloc(0)),
        compress(Buffer.from('[')),
        compress(packed),
      ]) {
        const given = withoutPlace(seen(await send(route, bytes, coding)));
        assert.deepEqual(given, broken, `${nameOf(route)} ${coding}`);
      }
    }
  }
});

test('compressed bodies: another coding, and several, are 415 in the shape of the endpoint, with the accepted ones', async () => {
  for (const route of takers) {
    for (const coding of ['zstd', 'compress', 'gzip, br', 'gzip, gzip', 'identity, gzip', 'gzip;q=1', '*']) {
      const { status, text, headers } = await send(route, exampleOf(route), coding);
      assert.equal(status, 415, `${nameOf(route)} ${coding}`);
      assert.equal(headers.get('accept-encoding'), 'gzip, br, deflate');
      const { problems: style } = route;
      const body = JSON.parse(text);
      assert.match(
        (style === 'query' || style === 'multiQuery' ? body.error : body.message) ?? '',
        /Send gzip, br or deflate/,
      );
    }
  }
});

test('compressed bodies: a body whose compressed form is exactly at the limit is read, one byte more is 413', async () => {
  for (const route of takers.filter(({ name }) => limitOf(name) <= entityBytesMax)) {
    const bytesMax = limitOf(route.name);
    const filled = (bytes: number) =>
      Buffer.concat([exampleOf(route), Buffer.alloc(bytes - exampleOf(route).length, ' ')]);
    // As above: the first request changes or removes something.
    await send(route, filled(bytesMax));
    const plain = seen(await send(route, filled(bytesMax)));
    assert.notEqual(plain.status, 413, nameOf(route));
    const tooLarge = seen(await send(route, filled(bytesMax + 1)));
    assert.equal(tooLarge.status, 413, nameOf(route));
    for (const [coding, compress] of compressors) {
      // If compression does not make it smaller, the uncompressed size is the same.
      const stored =
        compress === gzipSync ? gzipSync(filled(bytesMax), { level: 0 }) : compress(filled(bytesMax));
      assert.deepEqual(seen(await send(route, stored, coding)), plain, `${nameOf(route)} ${coding}`);
      assert.deepEqual(seen(await send(route, compress(filled(bytesMax + 1)), coding)), tooLarge);
    }
  }
});

test('compressed bodies: the 413 of delivery and queries has their shapes', async () => {
  const message = 'The body is too large. The limit is 1,048,576 bytes';
  for (const [path, expected] of [
    ['/v2', { meta: { status: 413 }, message, code: 'bodyTooLarge' }],
    ['/v1/x', { error: message, code: 'bodyTooLarge' }],
    ['/v1/source', { error: message, code: 'bodyTooLarge' }],
    ['/v1/sourceGroupAlias/cms/type/t', { error: message, code: 'bodyTooLarge' }],
  ] as const) {
    for (const size of [smallBodyBytesMax + 1, 10 * smallBodyBytesMax]) {
      const { status, json } = await front.call('POST', path, {
        key: apiKeys.client,
        body: ' '.repeat(size),
      });
      assert.deepEqual([status, json], [413, expected], path);
    }
  }
});

test('compressed bodies: a large compressed bulk save is accepted too, entity by entity', async () => {
  const entities = Array.from({ length: 50 }, (_, at) => ({
    originId: `large-${at}`,
    type: 't',
    properties: { text: `${at} `.repeat(20_000) },
  }));
  for (const [coding, compress] of [
    ['gzip', gzipSync],
    ['br', packBr],
  ] as const) {
    const renamed = entities.map((entity) => ({ ...entity, originId: `${coding}-${entity.originId}` }));
    const response = await fetch(`${front.url}/ingest/v2`, {
      method: 'POST',
      headers: { 'X-Api-Key': apiKeys.source, 'Content-Encoding': coding },
      body: compress(JSON.stringify(renamed)),
    });
    const answer = (await response.json()) as { changedSourceEntities: string[] };
    assert.equal(answer.changedSourceEntities.length, 50, JSON.stringify(answer).slice(0, 500));
    const [stored] = await readEntities(front.store, 'one', [{ sourceId, originId: `${coding}-large-49` }]);
    assert.equal(stored?.properties.text, '49 '.repeat(20_000));
  }
});

test('compressed bodies: a compressed body needs its length, and can arrive in pieces with pauses', async () => {
  const packed = gzipSync('{"handles":["x"]}');
  const head = (...fields: string[]) =>
    [
      'POST /v2 HTTP/1.1',
      'Host: x',
      `X-Api-Key: ${apiKeys.client}`,
      'Content-Encoding: gzip',
      ...fields,
      '',
      '',
    ].join('\r\n');
  assert.match((await exchange(front.port, [head()])).text, /^HTTP\/1\.1 411 /);
  assert.match(
    (await exchange(front.port, [`${head('Transfer-Encoding: chunked')}0\r\n\r\n`])).text,
    /^HTTP\/1\.1 411 /,
  );
  const pieces = [...packed].flatMap((byte) => [String.fromCharCode(byte), 5]);
  const { text } = await exchange(front.port, [head(`Content-Length: ${packed.length}`), ...pieces]);
  assert.match(text, /^HTTP\/1\.1 200 /);
});

test('compressed bodies: data from clients that disconnect is discarded', async () => {
  const packed = gzipSync(Buffer.alloc(50_000_000, ' '));
  for (const route of takers) {
    const { kind } = route.access;
    const key = kind === 'source' || kind === 'client' || kind === 'management' ? keyOf[kind] : '';
    const abort = new AbortController();
    const asked = fetch(`${front.url}${route.path.replaceAll(/\{\w+\}/g, 'x')}`, {
      method: route.method.toUpperCase(),
      headers: { 'X-Api-Key': key, 'Content-Encoding': 'gzip' },
      body: packed,
      signal: abort.signal,
    });
    await sleep(2);
    abort.abort();
    await asked.catch(() => {});
  }
  const heldBytes = async () =>
    Number(/^millrace_http_body_bytes\{[^}]*\} (\d+)/m.exec((await front.call('GET', '/metrics')).text)?.[1]);
  await until('nothing is held', async () => (await heldBytes()) === 0);
  await until('nothing is in progress', () => front.server.active === 0);
});
