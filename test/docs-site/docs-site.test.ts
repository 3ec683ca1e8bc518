/** The documentation as a site: its links, its search, and its layout on a phone. */
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { buildSite, DocsError } from '../../src/docs-site/build-site.ts';
import { Document } from '../../src/docs-site/document.ts';
import { root, temporaryFolder } from '../cli/support/command.ts';
import { openBrowser } from '../support/browser.ts';

const types: Readonly<Record<string, string>> = { html: 'text/html', css: 'text/css', js: 'text/javascript' };
/** Where screenshots of the pages are stored, for manual checks. */
const pictures = process.env.MILLRACE_SCREENSHOTS;

async function serve(context: test.TestContext, folder: string): Promise<string> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    try {
      const type = types[path.extname(pathname).slice(1)] ?? 'application/octet-stream';
      const body = readFileSync(path.join(folder, pathname));
      response.setHeader('Content-Type', `${type}; charset=utf-8`).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('docs site: every page fits 360 px in light and dark, the search finds a section, and pages work without JavaScript', async (context) => {
  const folder = path.join(await temporaryFolder(context), 'site');
  const { pages, links } = await buildSite(root, folder);
  assert.ok(pages > 40 && links > 200, `${pages} pages, ${links} links`);
  const origin = await serve(context, folder);
  const browser = await openBrowser();
  context.after(() => browser.close());
  const grounds = new Set<string>();
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ colorScheme, viewport: { width: 360, height: 740 } });
    const failed: string[] = [];
    page.on('response', (response) => void (response.ok() || failed.push(response.url())));
    page.on('pageerror', (error) => failed.push(String(error)));
    await page.goto(`${origin}/index.html`);
    const addresses = await page
      .locator('nav a')
      .evaluateAll((all) => all.map((one) => String(Reflect.get(one, 'href'))));
    assert.ok(addresses.length > 40, 'the navigation has every page');
    // Colors do not change the layout: every page in light, a few in dark.
    for (const address of colorScheme === 'light' ? addresses : addresses.slice(0, 3)) {
      await page.goto(address);
      const width = await page
        .locator('html')
        .evaluate((element) => Number(Reflect.get(element, 'scrollWidth')));
      assert.ok(width <= 360, `${address} is ${width} px wide`);
    }
    grounds.add(await page.evaluate<string>('getComputedStyle(document.body).backgroundColor'));
    if (pictures !== undefined) {
      mkdirSync(pictures, { recursive: true });
      for (const name of ['index', 'docs/guide/first-site', 'docs/reference/settings']) {
        await page.goto(`${origin}/${name}.html`);
        await page.screenshot({
          path: path.join(pictures, `${name.replaceAll('/', '-')}-${colorScheme}.png`),
        });
      }
    }

    const field = page.getByLabel('Search the documentation');
    const result = page.locator('#results a').first();
    await field.fill('LEASE_SECONDS');
    await result.filter({ hasText: 'Settings' }).waitFor();
    await field.press('Tab');
    await page.keyboard.press('Escape');
    assert.equal(await field.evaluate((element) => element.matches(':focus')), true);
    await page.locator('main').click({ position: { x: 5, y: 300 } });
    await field.fill('reading your own wri');
    await result.waitFor();
    assert.match((await result.textContent()) ?? '', /Reading your own writes/);
    if (pictures !== undefined)
      await page.screenshot({ path: path.join(pictures, `search-${colorScheme}.png`) });
    await result.click();
    await page.waitForURL(/http\.html#reading-your-own-writes$/);
    await field.fill('reading your own wri');
    await result.click();
    await page.locator('#results').waitFor({ state: 'hidden' });
    assert.deepEqual(failed, []);
    await page.close();
  }
  assert.equal(grounds.size, 2, 'light and dark differ');

  const plain = await browser.newPage({ javaScriptEnabled: false });
  await plain.goto(`${origin}/docs/reference/commands.html`);
  assert.equal(await plain.getByRole('searchbox').count(), 0);
  assert.equal(await plain.locator('pre:not([tabindex])').count(), 0, 'the keyboard can scroll code');
  await plain.locator('nav summary').click();
  await plain.getByRole('link', { name: 'Metrics', exact: true }).click();
  await plain.waitForURL(/metrics\.html$/);
});

test('docs site: a renamed heading keeps its former anchor, and other HTML is shown as text', () => {
  const markdown = '# Page\n\n<a id="old-name"></a>\n\n## New name\n\n<b>bold</b> <a id="x" onclick="y">\n';
  const html = new Document('docs/page.md', markdown).html(({ target }) => target);
  assert.match(html, /<a id="old-name"><\/a><\/p>\n<h2 id="new-name">/);
  assert.match(html, /&lt;b&gt;bold&lt;\/b&gt; &lt;a id=&quot;x&quot; onclick/);
});

test('docs site: a broken link is reported with file and line, and nothing is written', async (context) => {
  const clone = await temporaryFolder(context);
  for (const name of ['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'Dockerfile', 'compose.yaml']) {
    cpSync(path.join(root, name), path.join(clone, name));
  }
  for (const name of ['docs', 'LICENSE', 'bench/README.md', 'bench/charts']) {
    cpSync(path.join(root, name), path.join(clone, name), { recursive: true });
  }
  const text =
    '# Page\n\nOne.\n\n- [a](no-such.md)\n- b\n  [c](security.md#no-such)\n\n| x |\n| - |\n| [d](../../x.md) |\n';
  writeFileSync(path.join(clone, 'docs/page.md'), text);
  const folder = path.join(clone, 'site');
  await assert.rejects(buildSite(clone, folder), (error) => {
    assert.ok(error instanceof DocsError);
    assert.deepEqual(error.message.split('\n'), [
      'docs/page.md:5: no-such.md: no such file',
      'docs/page.md:7: security.md#no-such: no such heading',
      'docs/page.md:11: ../../x.md: the link leads out of the repository',
    ]);
    return true;
  });
  assert.throws(() => readFileSync(path.join(folder, 'index.html')), /ENOENT/);
});
