/** Web pages on other origins in a real browser, with the demo's own configuration and some of its places. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import type { AtlasEntity } from '../../../config/atlas-entities.ts';
import type { JsonObject } from '../../../src/contract/json.ts';
import { bulkEntitiesMax } from '../../../src/contract/limits.ts';
import { openBrowser, type ServedPage, servePage } from '../../support/browser.ts';
import { atlasFiles, someAtlasPlaces } from '../support/data/atlas.ts';
import { sharedPlatform } from '../support/processes/shared-platform.ts';
import type { ConfigFiles, System } from '../support/processes/system.ts';

const openKey = 'environment-atlas-demo';
const sourceKey = 'source-atlas-demo';
const narrowKey = 'environment-narrow';
const noneKey = 'environment-none';

/** What a page received; `error` if the browser withholds the response from it. */
interface Got {
  readonly status?: number;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly error?: string;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The page compresses the body with gzip. */
  readonly isPacked?: boolean;
}

let system: System;
let browser: Browser;
let front = '';
let version = '';
let allowed: ServedPage;
let stranger: ServedPage;

before(async () => {
  [allowed, stranger] = await Promise.all([servePage(), servePage()]);
  system = await sharedPlatform(demoFiles());
  front = system.url();
  version = await load(await someAtlasPlaces());
  browser = await openBrowser();
});
after(async () => {
  await browser?.close();
  await Promise.all([allowed.close(), stranger.close()]);
});

/** The demo's files, with two more clients. */
function demoFiles(): ConfigFiles {
  const client = { environment: 'production', domains: ['site'] };
  return atlasFiles(
    ({ environmentClients }) =>
      environmentClients.push(
        {
          ...client,
          name: 'narrow',
          origins: [allowed.origin, 'https://*.example.com'],
          apiKeys: [narrowKey],
        },
        { ...client, name: 'none', origins: [], apiKeys: [noneKey] },
      ),
    'browser',
  );
}

async function load(entities: readonly AtlasEntity[]): Promise<string> {
  assert.ok(entities.length > 8 && entities.length <= bulkEntitiesMax, String(entities.length));
  const { status, headers, text } = await system.client().call('POST', '/ingest/v2', {
    key: sourceKey,
    body: JSON.stringify(entities),
  });
  assert.equal(status, 200, text);
  return String(headers['x-service-version']);
}

async function pageOn({ origin }: ServedPage): Promise<Page> {
  const page = await browser.newPage();
  await page.goto(origin);
  return page;
}

function ask(page: Page, path_: string, asked: Asked = {}): Promise<Got> {
  return page.evaluate(
    async ({ url, method, headers, body, isPacked }) => {
      try {
        const packed = () =>
          new Response(
            new Blob([body ?? '']).stream().pipeThrough(new CompressionStream('gzip')),
          ).arrayBuffer();
        const response = await fetch(url, {
          method: method ?? 'GET',
          headers: { ...headers, ...(isPacked && { 'Content-Encoding': 'gzip' }) },
          ...(body !== undefined && { body: isPacked ? await packed() : body }),
        });
        const text = await response.text();
        return { status: response.status, text, headers: Object.fromEntries(response.headers) };
      } catch (error) {
        return { error: String(error) };
      }
    },
    { url: `${front}${path_}`, ...asked },
  );
}

const withKey = (key: string, more: JsonObject = {}) =>
  ({ 'X-Api-Key': key, ...more }) as Record<string, string>;
const jsonOf = ({ text, error }: Got) => JSON.parse(text ?? assert.fail(error));

test('browser: a page on another port makes the calls of the README', async () => {
  const page = await pageOn(stranger);
  const fresh = withKey(openKey, { 'X-Service-Min-Version': version });
  const lyon = await ask(page, '/v2?url=/europe/france/lyon', { headers: fresh });
  assert.equal(jsonOf(lyon).route.title, 'Lyon, France');
  const continents = await ask(page, '/v2?handle=continents', { headers: fresh });
  assert.equal(jsonOf(continents).views.continents.name, 'World');
  const posted = await ask(page, '/v2', {
    method: 'POST',
    headers: withKey(openKey, { 'Content-Type': 'application/json' }),
    body: '{"handles":["continents"]}',
  });
  assert.equal(jsonOf(posted).views.continents.name, 'World');
  const routes = await ask(page, '/routes/v2', { headers: fresh });
  const urls = jsonOf(routes).results.map(({ url }: { url: string }) => url);
  assert.ok(urls.includes('/europe/france/lyon'));
  const body = '{"search":{"field":"name","value":"Istambul"}}';
  for (const isPacked of [false, true]) {
    const found = await ask(page, '/v1/cities', { method: 'POST', headers: fresh, body, isPacked });
    assert.deepEqual(
      jsonOf(found).results.map(({ name }: { name: string }) => name),
      ['Istanbul'],
    );
  }
});

test('browser: a page can read headers, and revalidates unchanged content with a 304', async () => {
  const page = await pageOn(stranger);
  const { headers: { etag = '' } = {} } = await ask(page, '/v2?url=/europe', { headers: withKey(openKey) });
  assert.match(etag, /^W\/"/);
  const again = await ask(page, '/v2?url=/europe', { headers: withKey(openKey, { 'If-None-Match': etag }) });
  assert.deepEqual([again.status, again.text], [304, '']);
});

test('browser: a page can read the status and message of errors', async () => {
  const page = await pageOn(stranger);
  for (const [expected, path_, asked] of [
    [401, '/v2?url=/europe', {}],
    [401, '/v2?url=/europe', { headers: withKey('nobody') }],
    [403, '/v2?url=/europe', { headers: withKey(sourceKey) }],
    [422, '/v2', { headers: withKey(openKey) }],
    // Browsers send a preflight before a request with a key, and stop if it fails.
    [404, '/v9', {}],
    [404, '/v1/nothing', { method: 'POST', headers: withKey(openKey), body: '{}' }],
    [400, '/v1/cities', { method: 'POST', headers: withKey(openKey), body: '{"filters":1}' }],
    [413, '/v1/cities', { method: 'POST', headers: withKey(openKey), body: ' '.repeat(1_048_577) }],
    [
      413,
      '/v1/cities',
      { method: 'POST', headers: withKey(openKey), body: ' '.repeat(1_048_577), isPacked: true },
    ],
    [
      415,
      '/v1/cities',
      { method: 'POST', headers: withKey(openKey, { 'Content-Encoding': 'zstd' }), body: '{}' },
    ],
  ] as const) {
    const got = await ask(page, path_, asked);
    assert.equal(got.status, expected, `${path_} ${JSON.stringify(got)}`);
    assert.match(got.text ?? '', /"(message|error)":/);
  }
});

test('browser: a client that restricts its origins is readable by their pages, and by no others', async () => {
  const friend = await pageOn(allowed);
  const { status, headers } = await ask(friend, '/v2?url=/europe', { headers: withKey(narrowKey) });
  assert.equal(status, 200);
  assert.match(headers?.etag ?? '', /^W\//);
  assert.equal((await ask(friend, '/v2', { headers: withKey(narrowKey) })).status, 422);
  const other = await pageOn(stranger);
  // A page with an empty cache, because a 304 would show cached content again.
  const anew = await pageOn(allowed);
  for (const [page, key] of [
    [other, narrowKey],
    [other, noneKey],
    [anew, noneKey],
  ] as const) {
    for (const path_ of ['/v2?url=/europe', '/v2', '/routes/v2']) {
      const got = await ask(page, path_, { headers: withKey(key) });
      assert.match(got.error ?? '', /Failed to fetch/, `${page.url()} ${key} ${path_} ${got.status}`);
    }
  }
  // Responses are not mixed up: the same page with another client's key, and the first page again.
  assert.equal((await ask(other, '/v2?url=/europe', { headers: withKey(openKey) })).status, 200);
  assert.equal((await ask(friend, '/v2?url=/europe', { headers: withKey(narrowKey) })).status, 200);
});

test('browser: a sandboxed frame, whose origin is null, reads with a client that allows every origin', async () => {
  const page = await pageOn(stranger);
  await page.setContent('<iframe sandbox="allow-scripts" srcdoc="<p>"></iframe>');
  const frame = page.frames().at(-1) ?? assert.fail('no frame');
  const read = (key: string) =>
    frame.evaluate(
      async ([url, apiKey]) => {
        try {
          const response = await fetch(url, { headers: { 'X-Api-Key': apiKey } });
          return `${Reflect.get(globalThis, 'origin')} ${response.status}`;
        } catch (error) {
          return `${Reflect.get(globalThis, 'origin')} ${error}`;
        }
      },
      [`${front}/v2?url=/europe`, key] as const,
    );
  assert.equal(await read(openKey), 'null 200');
  assert.match(await read(narrowKey), /^null TypeError/);
});

test('browser: a page cannot call ingest, management, metrics and health', async () => {
  const page = await pageOn(stranger);
  for (const [path_, asked] of [
    ['/ingest/v2/x', { method: 'POST', headers: withKey(sourceKey), body: '{"type":"t","properties":{}}' }],
    ['/management/v1/status', { headers: withKey('management-atlas-demo') }],
    ['/metrics', {}],
    ['/health/ready', {}],
  ] as const) {
    assert.match((await ask(page, path_, asked)).error ?? '', /Failed to fetch/, path_);
  }
});
