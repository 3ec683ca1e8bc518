/** The console in a real browser, with the demo's configuration and some of its places. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import type { Json } from '../../src/contract/json.ts';
import { openBrowser } from '../support/browser.ts';
import { until } from '../support/until.ts';
import { atlasFiles, someAtlasPlaces } from '../system/support/data/atlas.ts';
import { System } from '../system/support/processes/system.ts';
import { Receiver, webhookTo } from '../system/support/receiver.ts';

const managementKey = 'management-atlas-demo';
const followerKey = 'environment-follower';
const sourceKey = 'source-atlas-demo';
const hostile = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
/** Webhooks must not have an address of this machine; only the name `localhost` is allowed here. */
const refusedWebhook = webhookTo(9, 'refused');
const receiver = new Receiver();
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const scriptBytesMax = 150_000;

/** Markup, a word that is too long for any screen, Hebrew, and a bidirectional control character. */
const bad = {
  originId: 'city-<img src=x>/%2F ü',
  type: 'city',
  url: `/שלום/<script>window.hacked=1</script>/${'w'.repeat(300)}`,
  properties: {
    name: `${hostile} ${'word'.repeat(500)}`,
    alternateNames: ['שלום', '\u202eright to left', hostile],
    countryName: hostile,
    population: 7,
  },
};
const longWord = 'w'.repeat(90);
const long = { originId: `city-${longWord}`, type: 'city', url: '/long', properties: { name: longWord } };
const scheduled = {
  originId: 'city-someday',
  type: 'city',
  url: '/someday',
  properties: { name: 'Someday' },
  publishAt: '2999-01-01T12:00Z',
};
const scope =
  'gid://Environment/0e6f2a1c-7d0b-4c35-9a51-3f5c8f1b6a10/Source/b84d1f5e-2c97-4e0f-8d36-5a7e91c0d2f4';
const viewPath = (originId: string, alias: string) =>
  `/view?id=${encodeURIComponent(`${scope}/Entity/${originId}/View/${alias}`)}`;
const badQuery = {
  filters: { and: [{ field: '_originId', operator: 'in', value: [bad.originId, long.originId] }] },
  facets: [{ field: 'country' }],
};

/** Views that do not exist: a 404 in the log is expected. */
const viewsOfNothing = [viewPath('city-no-such', 'city'), viewPath(scheduled.originId, 'city')] as const;

/** Each page, and text that it shows only when it is complete. */
const pages: readonly (readonly [path: string, words: string])[] = [
  ['', 'Partitions'],
  ['/content', 'auto-indexed'],
  ['/content/world?type=city', 'Next page'],
  ['/content/world?type=city&after=city-2', 'Previous page'],
  ['/content/world/country-FR', 'countryCard'],
  ['/content?find=nothing-has-this', 'No match: no entity'],
  ['/content?show=schedule', 'Jan 1, 2999'],
  [`/content/world/${scheduled.originId}`, 'waiting to be published'],
  [viewsOfNothing[1], 'is waiting to be published at 2999'],
  [`/urls?url=${scheduled.url}`, 'will be published at 2999'],
  ['/view', 'Search for the URL of a page'],
  ['/urls', 'Search for a URL of your site'],
  [`${viewPath('city-2996944', 'city')}&if=name&be=Lugdunum`, 'Lugdunum, France'],
  [viewsOfNothing[0], 'There is no entity'],
  [
    `/content/world/${encodeURIComponent(bad.originId)}?if=name&be=${encodeURIComponent(hostile)}`,
    'Index cities',
  ],
  [viewPath(bad.originId, 'city'), '<img src=x'],
  [`/urls?url=${encodeURIComponent(bad.url)}`, 'a page is served'],
  [`/query?index=cities&q=${encodeURIComponent(JSON.stringify(badQuery))}`, '2 results'],
  [`/urls?url=${long.url}`, 'a page is served'],
  ['/content?find=City', 'in index cities'],
  ['/urls?url=/europe/france/lyon', 'a page is served'],
  ['/query?index=cities', 'results'],
  ['/schemas', 'countryCard'],
  ['/schemas/schemas/country.json?entity=country-FR', 'Result for an entity'],
  ['/changes', 'WEBHOOK_ALLOW'],
  ['/nothing-here', 'Page not found'],
];

let system: System;
let browser: Browser;
let front = '';

before(async () => {
  const port = await receiver.listen();
  const follower = { name: 'follower', environment: 'production', domains: ['site'], apiKeys: [followerKey] };
  const files = atlasFiles((tenant) => {
    tenant.environmentClients.push(follower);
    tenant.environments.push({ id: 'b3a5a4de-7f0c-4a51-9d0c-5a0d6f4f3c11', alias: 'staging' });
    tenant.webhooks = [refusedWebhook, webhookTo(port, 'allowed', { url: `http://localhost:${port}/` })];
  });
  system = await System.start({ files, env: { WEBHOOK_ALLOW: 'localhost' } });
  front = system.url();
  const places = await someAtlasPlaces();
  const more = Array.from({ length: 60 }, (_, at) => ({
    originId: `city-${at}`,
    type: 'city',
    url: `/city-${at}`,
    properties: { name: `City ${at}`, countryName: at % 2 === 0 ? 'Even' : 'Odd', population: at },
  }));
  const client = system.client();
  for (const part of [[...places, bad, long, scheduled], more.slice(0, 30), more.slice(30)]) {
    const saved = await client.post('/ingest/v2', asJson(part), { key: sourceKey });
    assert.equal(saved.status, 200, saved.text);
    const headers = { 'X-Service-Min-Version': String(saved.headers['x-service-version']) };
    await until('it is processed', async () => {
      const read = await client.get('/v2?url=/europe/france', { key: 'environment-atlas-demo', headers });
      // A front that waited too long for the version returns 503.
      return read.status === 200;
    });
  }
  browser = await openBrowser();
});
after(async () => {
  await browser?.close();
  await system?.stop();
  receiver.close();
});

const asJson = (entities: readonly object[]) => JSON.parse(JSON.stringify(entities)) as Json;

interface OpenedOptions extends NonNullable<Parameters<Browser['newContext']>[0]> {
  /** Statuses of error responses that the test provokes. */
  readonly expected?: readonly number[];
}

/** A tab with the console. Any error of the page, and any error in the log of the browser, fails the test. */
async function opened({ expected = [], ...options }: OpenedOptions = {}): Promise<{
  readonly page: Page;
  readonly context: BrowserContext;
  readonly wrong: string[];
}> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  const wrong: string[] = [];
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('console', (message) => {
    const text = message.text();
    const status = Number(/^Failed to load resource:.* status of (\d+)/.exec(text)?.[1] ?? 0);
    if (message.type() === 'error' && !expected.includes(status)) {
      wrong.push(`${text} ${message.location().url}`);
    }
  });
  page.on('requestfailed', (request) => {
    // Leaving a page aborts its requests.
    const reason = request.failure()?.errorText ?? '';
    if (reason !== 'net::ERR_ABORTED') wrong.push(`${request.url()}: ${reason}`);
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    const isOwn = url.pathname.startsWith('/console') || url.pathname.startsWith('/management/v1/');
    if (url.origin !== front || !isOwn) wrong.push(`asks ${request.url()}`);
    if (request.url().includes(managementKey)) wrong.push(`the key is in ${request.url()}`);
  });
  await page.goto(`${front}/console`);
  await page.getByLabel('Management key').fill(managementKey);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  return { page, context, wrong };
}

test('console: responses forbid external resources, and assets are cached by their digest', async () => {
  const client = system.client();
  const page = await client.get('/console');
  assert.equal(page.status, 200);
  const policy = String(page.headers['content-security-policy']);
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe|https?:/);
  assert.equal(page.headers['x-content-type-options'], 'nosniff');
  assert.equal(page.headers['cache-control'], 'no-cache');
  assert.equal(page.headers['access-control-allow-origin'], undefined);
  const script = /src="([^"]+\.js)"/.exec(page.text)?.[1] ?? assert.fail('no script');
  const packed = await fetch(front + script, { headers: { 'Accept-Encoding': 'gzip' } });
  assert.equal(packed.headers.get('content-encoding'), 'gzip');
  assert.match(packed.headers.get('cache-control') ?? '', /immutable/);
  assert.ok(Number(packed.headers.get('content-length')) < scriptBytesMax);
  assert.equal((await client.get('/console/assets/no-such-file.js')).status, 404);
  for (const path of ['/console/', '/console/content/world/a%2Fb', '/console/schemas/schemas/a.json']) {
    assert.equal((await client.get(path)).text, page.text, path);
  }
});

test('console: a wrong key is rejected with a message, and the right one stays in the tab', async () => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${front}/console`);
  await page.getByLabel('Management key').fill('wrong');
  await page.keyboard.press('Enter');
  await page.getByText('Unknown key.').waitFor();
  await page.getByLabel('Management key').fill('environment-atlas-demo');
  await page.keyboard.press('Enter');
  await page.getByText('This key is not a management key').waitFor();
  await page.getByLabel('Management key').fill(managementKey);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  const other = await context.newPage();
  await other.goto(`${front}/console`);
  await other.getByLabel('Management key').waitFor();
  await page.getByRole('button', { name: 'Forget the key' }).click();
  await page.getByLabel('Management key').waitFor();
  await context.close();
});

test('console: each page renders, fits 360 px, is accessible in light and dark, and shows the text of entities as text', async () => {
  const { page, context, wrong } = await opened({ bypassCSP: true, reducedMotion: 'reduce' });
  for (const [path, words] of pages) {
    await page.goto(`${front}/console${path}`);
    await page.getByText(words).first().waitFor();
    await page.locator('.loading, [aria-busy=true]').first().waitFor({ state: 'detached' });
    assert.equal(await page.getByRole('search').count(), 1, path);
    assert.equal(await page.title(), `${await page.locator('h1').textContent()} · Millrace`, path);
    assert.deepEqual(
      wrong.splice(0).filter((text) => !viewsOfNothing.includes(path) || !text.includes('404')),
      [],
      path,
    );
    assert.equal(await page.locator('main img, main script').count(), 0, path);
    await page.evaluate(axeSource);
    for (const [width, colorScheme] of [
      [1280, 'light'],
      [360, 'dark'],
    ] as const) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      const scrolled = await page.evaluate<number>('document.documentElement.scrollWidth');
      assert.ok(scrolled <= width, `${path} is ${scrolled} px wide at ${width} px`);
      assert.deepEqual(await page.evaluate(hiddenThings), [], `${path} at ${width} px`);
      assert.deepEqual(await seriousFindings(page), [], `${path} at ${width} px`);
    }
  }
  assert.equal(await page.evaluate(() => Reflect.get(globalThis, 'hacked')), undefined);
  assert.deepEqual(wrong, []);
  await context.close();
});

/** Runs in the browser. Finds an active tab that is out of view, a brand that is broken into lines, tables that scroll without a hint, and links that leave their cell. */
const hiddenThings = `(() => {
  const found = [];
  const tab = document.querySelector('.side nav [aria-current]');
  const { left, right } = tab?.getBoundingClientRect() ?? { left: 0, right: 0 };
  if (left < 0 || right > innerWidth) found.push('tab from ' + left + ' to ' + right);
  for (const box of document.querySelectorAll('.table-box')) {
    const hint = getComputedStyle(box).backgroundAttachment;
    if (box.scrollWidth > box.clientWidth && !hint.startsWith('local')) found.push(box.ariaLabel);
  }
  const brand = document.querySelector('.brand').offsetHeight;
  if (brand > 40) found.push('brand of ' + brand + ' px');
  for (const link of document.querySelectorAll('td a')) {
    const over = link.getBoundingClientRect().right - link.closest('td').getBoundingClientRect().right;
    if (over > 0) found.push(link.textContent);
  }
  return found;
})()`;

/** The serious violations that axe-core, loaded in the page, finds. */
async function seriousFindings(page: Page): Promise<string[]> {
  const found = await page.evaluate(async () => {
    const axe = Reflect.get(globalThis, 'axe') as {
      run(options: { resultTypes: string[] }): Promise<{
        violations: { id: string; impact: string; nodes: { html: string }[] }[];
      }>;
    };
    return (await axe.run({ resultTypes: ['violations'] })).violations;
  });
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}

/** Runs in the browser. Renders are microtasks, so all of this happens before the paint. */
const goOnAtOnce = `(async () => {
  for (const key of ['g', 'c']) dispatchEvent(new KeyboardEvent('keydown', { key }));
  const heading = () => document.querySelector('h1').textContent;
  for (let turns = 0; heading() !== 'Content' && turns < 100; turns += 1) await null;
  const field = document.querySelector('#find-anywhere');
  field.value = 'City';
  field.dispatchEvent(new Event('input', { bubbles: true }));
  await null;
  field.form.requestSubmit();
})()`;

test('console: a scan of all entities shows its progress, can be stopped, and resumes', async () => {
  const { page, context, wrong } = await opened({ bypassCSP: true });
  const asked: (string | null)[] = [];
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  // The overview that opened already scans the entities: the scan under test starts after it.
  await page.goto(`${front}/console/urls`);
  await page.route('**/management/v1/diagnostics*', async (route) => {
    const url = new URL(route.request().url());
    asked.push(url.searchParams.get('after'));
    if (asked.length > 1) await held;
    // A page ends after one finding, so that few entities make several pages.
    url.searchParams.set('first', '1');
    // Stopping the scan aborts the request.
    await route.continue({ url: url.href }).catch(() => {});
  });
  await page.goto(`${front}/console`);
  await page.getByText('Scanning entities: 1 page so far').waitFor();
  await page.evaluate(axeSource);
  assert.deepEqual(await seriousFindings(page), []);
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Stopped after 1 page of entities').waitFor();
  assert.equal(await page.getByRole('progressbar').count(), 0);
  letGo();
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
  assert.equal(await page.getByRole('button', { name: 'Continue' }).count(), 0);
  const [first, stopped, again] = asked;
  assert.deepEqual([first, typeof stopped, again], [null, 'string', stopped]);
  assert.deepEqual(wrong, []);
  await context.close();
});

test('console: every page is reachable by keyboard', async () => {
  const { page, context, wrong } = await opened();
  const headings = {
    c: 'Content',
    v: 'View',
    u: 'URLs',
    q: 'Query',
    s: 'Schemas',
    h: 'Changes',
    o: 'Overview',
  };
  for (const [letter, name] of Object.entries(headings)) {
    await page.keyboard.press('g');
    await page.keyboard.press(letter);
    await page.getByRole('heading', { level: 1, name }).waitFor();
  }
  await page.setViewportSize({ width: 640, height: 400 });
  await page.keyboard.press('?');
  await page.getByRole('dialog').getByText('Esc', { exact: true }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await page.keyboard.press('g');
  await page.keyboard.press('c');
  await page.getByRole('heading', { level: 1, name: 'Content' }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('City');
  await page.keyboard.press('Enter');
  const found = page.getByRole('list', { name: 'Results' }).getByRole('link').first();
  await found.waitFor();
  // Skips the breadcrumbs.
  for (let at = 0; at < 2; at += 1) await page.keyboard.press('Tab');
  assert.equal(await found.evaluate((link) => link.matches(':focus')), true);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 2, name: 'Properties' }).waitFor();
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Results for' }).waitFor();
  assert.equal(await page.getByLabel('Find anywhere').inputValue(), 'City');
  assert.deepEqual(wrong, []);
  await context.close();
});

test('console: the search field detects what is typed: a URL, an id, an originId', async () => {
  const { page, context, wrong } = await opened();
  const field = page.getByLabel('Find anywhere');
  const find = async (text: string) => {
    await page.keyboard.press('/');
    await field.fill(text);
    await page.keyboard.press('Enter');
  };
  await find('/no/such/page');
  await page.getByText('nothing is served').waitFor();
  assert.equal(await field.inputValue(), '/no/such/page');
  await find('country-FR');
  await page.getByRole('heading', { level: 1, name: 'country-FR', exact: true }).waitFor();
  assert.equal(await field.inputValue(), '');
  await find(`${scope}/Entity/country-FR/View/country`);
  await page.getByRole('heading', { level: 1, name: 'France' }).waitFor();
  assert.deepEqual(wrong, []);
  await context.close();
});

test('console: a list of entities has names and states, and can be paged in both directions', async () => {
  const { page, context, wrong } = await opened();
  await page.goto(`${front}/console/content/world?type=city`);
  const rows = page.getByRole('region', { name: 'Entities' }).locator('tbody tr');
  const first = rows.first();
  await first.getByRole('link', { name: 'City 0, Even', exact: true }).waitFor();
  await first.getByText('city-0', { exact: true }).waitFor();
  const text = await first.locator('td').first().textContent();
  await page.getByRole('link', { name: 'Next page' }).click();
  await page.getByRole('link', { name: 'Previous page' }).click();
  await first.getByRole('link', { name: 'City 0, Even', exact: true }).waitFor();
  assert.equal(await first.locator('td').first().textContent(), text);
  assert.equal(await page.getByRole('link', { name: 'Previous page' }).count(), 0);
  assert.equal(await page.getByRole('link', { name: 'First page' }).count(), 0);
  await page.goto(`${front}/console/content/world?type=city&after=city-somed`);
  const waiting = rows.filter({ hasText: scheduled.originId });
  await waiting.getByText('waiting', { exact: true }).waitFor();
  await waiting.getByText('until Jan 1, 2999').waitFor();
  assert.deepEqual(wrong, []);
  await context.close();
});

test('console: navigation before a page is painted is followed', async () => {
  const { page, context, wrong } = await opened();
  await page.evaluate(goOnAtOnce);
  await page.getByRole('list', { name: 'Results' }).waitFor();
  assert.deepEqual(wrong, []);
  await context.close();
});

test('console: a facet restricts the query, and the URL contains it', async () => {
  const { page, context, wrong } = await opened({ expected: [400] });
  await page.goto(`${front}/console/query?index=cities`);
  await page.getByRole('checkbox', { name: 'country', exact: true }).check();
  assert.equal(await page.getByRole('checkbox', { name: 'place', exact: true }).count(), 0);
  const sort = page.getByRole('combobox', { name: 'Sort' });
  assert.doesNotMatch((await sort.textContent()) ?? '', /place|relevance/);
  await page.getByRole('button', { name: 'Even 30' }).click();
  await page.getByRole('heading', { name: '30 results' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Even 30' }).getAttribute('aria-pressed'), 'true');
  await page.reload();
  await page.getByRole('heading', { name: '30 results' }).waitFor();
  await page.getByLabel('Search', { exact: true }).fill('Citty 42');
  await page.locator('main table').getByText('City 42', { exact: true }).waitFor();
  assert.match((await sort.textContent()) ?? '', /by relevance/);
  await page
    .getByLabel('The query object')
    .fill('{"pagination":{"pageSize":1},"sort":[{"field":"nothing"}]}');
  await page.getByRole('button', { name: 'Run this query' }).click();
  await page.getByRole('alert').getByText('nothing').waitFor();
  await page.goto(`${front}/console/query?index=world:city`);
  await page.getByRole('checkbox', { name: 'countryName', exact: true }).waitFor();
  assert.deepEqual(wrong, []);
  await context.close();
});

test('console: a change appears in the feed as it happens', async () => {
  const { page, context, wrong } = await opened();
  await page.goto(`${front}/console/changes`);
  await page.getByText('live', { exact: true }).waitFor();
  const entity = { type: 'city', url: '/new', properties: { name: 'New' } };
  assert.equal((await system.client().post('/ingest/v2/city-new', entity, { key: sourceKey })).status, 200);
  await page.getByRole('link', { name: 'city-new city', exact: true }).waitFor();
  await page.getByRole('link', { name: '/new' }).click();
  await page.getByText('a page is served').waitFor();
  assert.deepEqual(wrong, []);
  await context.close();
});

test('console: a query with a management key reports its errors, and other kinds of keys are rejected', async () => {
  const client = system.client();
  const ask = (body: Json, key = managementKey) =>
    client.post('/management/v1/query?environment=production', body, { key });
  const byIndex = await ask({ index: 'cities', pagination: { pageSize: 1 }, aliases: ['city'] });
  const typed = { sourceGroupAlias: 'world', sourceEntityType: 'city', pagination: { pageSize: 1 } };
  const byType = await ask(typed);
  assert.deepEqual([byIndex.status, byType.status], [200, 200]);
  assert.equal(JSON.parse(byIndex.text).totalResults, JSON.parse(byType.text).totalResults);
  assert.ok(JSON.parse(byIndex.text).results[0]._views.city);
  const unknown = await ask({ index: 'nothing' });
  assert.equal(unknown.status, 404);
  assert.equal(JSON.parse(unknown.text).errors.length, 1);
  assert.equal((await ask({ index: 'cities', sort: [{ field: 'nothing' }] })).status, 400);
  assert.equal((await ask([])).status, 400);
  assert.equal((await ask(typed, 'environment-atlas-demo')).status, 403);
});

test('console: the feed is the same with a management key', async () => {
  const client = system.client();
  const ask = (path: string, key: string) => client.get(path, { key });
  const managed = await ask('/management/v1/changes?environment=production', managementKey);
  const delivered = await ask('/changes/v1', followerKey);
  assert.deepEqual([managed.status, delivered.status], [200, 200]);
  assert.deepEqual(JSON.parse(managed.text).changes, JSON.parse(delivered.text).changes);
  assert.equal((await ask('/management/v1/changes?environment=nowhere', managementKey)).status, 404);
  assert.equal(
    (await ask('/management/v1/changes?environment=production', 'environment-atlas-demo')).status,
    403,
  );
});

/** Runs in the browser. The styles that position the letters of an element, because the layers of the editor must overlap. */
const lettersOf = (element: object) => {
  const style: Record<string, string> = Reflect.get(globalThis, 'getComputedStyle')(element);
  const names = ['fontFamily', 'fontSize', 'lineHeight', 'letterSpacing', 'tabSize', 'whiteSpace', 'padding'];
  return names.map((name) => style[name]);
};

test('console: an edited schema shows its result for an entity, and its errors', async () => {
  const { page, context, wrong } = await opened({ expected: [422] });
  await page.goto(`${front}/console/schemas/schemas/country.json?entity=country-FR`);
  const made = page.getByRole('region', { name: 'Current result' });
  await made.getByText('"France"').first().waitFor();
  const source = page.getByLabel('Source of schemas/country.json');
  const text = await source.inputValue();
  const colors = page.locator('.editor-colors');
  assert.equal(await colors.textContent(), `${text}\n`);
  assert.equal(await colors.locator('.token-name').first().textContent(), '"triggers"');
  assert.deepEqual(await colors.evaluate(lettersOf), await source.evaluate(lettersOf));
  await source.fill(text.replace('"{p.nativeName}"', '"{p.nativeName}!"'));
  const differs = page.getByRole('region', { name: 'Difference from the current result' });
  await differs.getByText('"nativeName": "France!"').waitFor();
  await page.getByText('+1', { exact: true }).waitFor();
  await source.fill(text.replace('"{p.nativeName}"', '"{p.nativeName"'));
  await page.getByRole('alert').getByText('$.properties.nativeName.value').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await made.waitFor();
  assert.deepEqual(wrong, []);
  await context.close();
});

test('console: a page is explained, with its dependents and the effect of a new name: with the mouse', async () => {
  const { page, context, wrong } = await opened();
  await page.getByLabel('Find anywhere').fill('/europe/france/lyon');
  await page.getByLabel('Find anywhere').press('Enter');
  await page.getByRole('status').getByRole('link', { name: 'Lyon, France' }).click();
  await page.getByRole('heading', { level: 1, name: 'Lyon, France' }).waitFor();
  await page.getByText('because its own entity was saved').waitFor();
  await page.getByRole('link', { name: 'Who shows it' }).click();
  await page.getByText('1 view refers to its cityCard').waitFor();
  await page.getByRole('link', { name: 'What if it changes' }).click();
  await page.getByLabel('were').fill('Lugdunum');
  await page.getByRole('region', { name: 'How city would change' }).getByText('"Lugdunum, France"').waitFor();
  const card = page.getByRole('article').filter({ hasText: 'View cityCard' });
  await card.getByText('1 view shows this change').waitFor();
  await card.getByRole('link', { name: 'France' }).click();
  await page.getByRole('heading', { level: 1, name: 'France' }).waitFor();
  await page.goBack();
  const item = page.getByRole('region', { name: 'How world:city would change' });
  await item.getByText('"name": "Lugdunum"').waitFor();
  // The URL contains the assumption.
  assert.equal(await page.getByLabel('were').inputValue(), 'Lugdunum');
  assert.deepEqual(wrong, []);
  await context.close();
});

test('console: a page is explained, with its dependents and the effect of a new name: with the keyboard', async () => {
  const { page, context, wrong } = await opened();
  await page.keyboard.press('/');
  await page.keyboard.type('/europe/france/lyon');
  await page.keyboard.press('Enter');
  const served = page.getByRole('status').getByRole('link', { name: 'Lyon, France' });
  await served.waitFor();
  await tabTo(page, served);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Lyon, France' }).waitFor();
  await page.getByLabel('were').waitFor();
  await tabTo(page, page.getByRole('link', { name: 'What if it changes' }));
  await page.keyboard.press('Enter');
  await tabTo(page, page.getByLabel('were'));
  await page.keyboard.press('Control+a');
  await page.keyboard.type('Lugdunum');
  await page.getByRole('region', { name: 'How city would change' }).getByText('"Lugdunum, France"').waitFor();
  assert.deepEqual(wrong, []);
  await context.close();
});

const tabsMax = 12;

/** Presses Tab until the element has the focus. */
async function tabTo(page: Page, wanted: Locator): Promise<void> {
  for (let at = 0; at < tabsMax; at += 1) {
    await page.keyboard.press('Tab');
    if (await wanted.evaluate((element) => element.matches(':focus'))) return;
  }
  assert.fail(`it is not among the next ${tabsMax}`);
}

test('console: a rejected webhook says why and what to set, and any webhook can be tested', async () => {
  const { page, context, wrong } = await opened({ expected: [502] });
  receiver.answer = (response) => response.writeHead(500).end();
  const entity = { type: 'city', url: '/hooked', properties: { name: 'Hooked' } };
  assert.equal((await system.client().post('/ingest/v2/city-hook', entity, { key: sourceKey })).status, 200);
  await page.goto(`${front}/console/changes`);
  const row = (name: string) => page.getByRole('row').filter({ hasText: name });
  const refused = row('127.0.0.1:9');
  await refused
    .getByText('127.0.0.1 is not a public address. To allow it, add it to WEBHOOK_ALLOW')
    .waitFor();
  await refused.getByRole('button', { name: 'Try now' }).click();
  await refused.getByRole('status').getByText('has no public address. To allow it').waitFor();
  await refused.getByRole('button', { name: 'Replay all' }).click();
  await refused.getByText('Sending all changes again').waitFor();
  const allowed = row('localhost');
  await allowed.getByText('retrying', { exact: true }).waitFor();
  await allowed.getByRole('button', { name: 'Try now' }).click();
  await allowed.getByRole('status').getByText('The receiver answered 500').waitFor();
  receiver.answer = (response) => response.writeHead(204).end();
  await allowed.getByRole('button', { name: 'Try now' }).click();
  await allowed.getByRole('status').getByText('The receiver answered 204').waitFor();
  await allowed.getByText('ok', { exact: true }).waitFor();
  assert.deepEqual(wrong, []);
  await context.close();
});

test('console: the charts of a new tab start with the history of the front', async () => {
  await until('the front remembers two samples', async () => {
    const { json } = await system.client().get('/management/v1/status', { key: managementKey });
    return json.recent.rates.length >= 2;
  });
  const { page, context } = await opened();
  const chart = page.locator('.chart', { hasText: 'Requests per second' });
  await chart.waitFor();
  assert.equal(await chart.getByText('Waiting for the first data points.').count(), 0);
  await context.close();
});

test('console: addresses name the environment, and a view selects its own', async () => {
  const { page, context, wrong } = await opened();
  assert.equal(new URL(page.url()).search, '?environment=production');
  const environment = page.getByRole('combobox', { name: 'Environment' });
  await environment.selectOption('staging');
  await page.getByRole('link', { name: 'Changes', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Changes' }).waitFor();
  assert.equal(new URL(page.url()).search, '?environment=staging');
  await page.goto(`${front}/console${viewPath('country-FR', 'country')}`);
  await page.getByRole('heading', { level: 1, name: 'France' }).waitFor();
  assert.equal(await environment.inputValue(), 'production');
  assert.deepEqual(wrong, []);
  await context.close();
});

test('console: an index that does not exist is not replaced by another one', async () => {
  const { page, context } = await opened();
  await page.goto(`${front}/console/query?index=nothing`);
  await page.getByText('No index is called nothing').waitFor();
  await context.close();
});

test('console: an edit survives other pages, a reload and a key that is no longer accepted, until the key is forgotten', async () => {
  const { page, context } = await opened();
  const open = () => page.goto(`${front}/console/schemas/schemas/country.json?entity=country-FR`);
  await open();
  const source = page.getByLabel('Source of schemas/country.json');
  const before = await source.inputValue();
  const text = before.replace('"{p.nativeName}"', '"{p.nativeName}!"');
  await source.fill(text);
  await page.getByRole('link', { name: 'Changes', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Changes' }).waitFor();
  await open();
  assert.equal(await source.inputValue(), text);
  // Its previews have their responses, so only the next one is refused.
  await page.getByRole('region', { name: 'Difference from the current result' }).waitFor();
  await page.route('**/management/v1/preview', (route) => route.fulfill({ status: 401, json: {} }));
  await source.fill(`${text} `);
  await page.getByRole('alert').getByText('Your key is no longer accepted').waitFor();
  await page.unroute('**/management/v1/preview');
  await page.getByLabel('Management key').fill(managementKey);
  await page.keyboard.press('Enter');
  await source.waitFor();
  assert.equal(await source.inputValue(), `${text} `);
  await page.getByRole('button', { name: 'Forget the key' }).click();
  await page.getByLabel('Management key').fill(managementKey);
  await page.keyboard.press('Enter');
  await source.waitFor();
  assert.equal(await source.inputValue(), before);
  await context.close();
});

test('console: an edit that would replace the change of another tab says so', async () => {
  const { page, context } = await opened();
  const { page: other, context: otherContext } = await opened();
  const edit = async (one: Page, from: string, to: string) => {
    await one.goto(`${front}/console/schemas/schemas/world.json`);
    const source = one.getByLabel('Source of schemas/world.json');
    await source.fill((await source.inputValue()).replace(from, to));
    return source;
  };
  const source = await edit(page, '"properties": {', '"properties": { "mine": "1",');
  await edit(other, '"properties": {', '"properties": { "theirs": "1",');
  await other.getByRole('button', { name: 'Apply' }).click();
  await other.getByText('Applied.').waitFor();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('The configuration changed meanwhile').waitFor();
  await page.getByText('This schema has changed since you began to edit it').waitFor();
  assert.match(await source.inputValue(), /mine/);
  await page.getByRole('button', { name: 'Undo' }).click();
  assert.match(await source.inputValue(), /theirs/);
  await otherContext.close();
  await context.close();
});

test('console: the back button leads to where a page was left', async () => {
  const { page, context, wrong } = await opened();
  await page.goto(`${front}/console/content/world?type=city`);
  const rows = page.getByRole('region', { name: 'Entities' }).locator('tbody tr');
  await rows.nth(40).getByRole('link').first().scrollIntoViewIfNeeded();
  const left = await page.evaluate<number>('scrollY');
  assert.ok(left > 0);
  await rows.nth(40).getByRole('link').first().click();
  await page.getByRole('heading', { level: 2, name: 'Properties' }).waitFor();
  assert.equal(await page.evaluate('scrollY'), 0);
  await page.goBack();
  await rows.nth(40).waitFor();
  await page.waitForFunction(`scrollY === ${left}`);
  assert.deepEqual(wrong, []);
  await context.close();
});

test('console: a preview without a response can be tried again', async () => {
  const { page, context } = await opened();
  await page.route('**/management/v1/preview', (route) => route.abort());
  await page.goto(`${front}/console/schemas/schemas/country.json?entity=country-FR`);
  await page.getByRole('alert').getByText('Millrace does not respond').waitFor();
  await page.unroute('**/management/v1/preview');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('region', { name: 'Current result' }).getByText('"France"').first().waitFor();
  await context.close();
});
