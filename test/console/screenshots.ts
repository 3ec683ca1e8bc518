/**
 * Screenshots of each page of the console with a running demo, wide and narrow, light and dark: `node --import
 * ./src/typescript/loader.mjs test/console/screenshots.ts http://127.0.0.1:4000 FOLDER [PAGE …]`. Those of the README are in
 * FOLDER/readme. Copy them to docs.
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { openBrowser } from '../support/browser.ts';

const [front = 'http://127.0.0.1:4000', folder = 'coverage/screenshots', ...wanted] = process.argv.slice(2);
const scope =
  'gid://Environment/0e6f2a1c-7d0b-4c35-9a51-3f5c8f1b6a10/Source/b84d1f5e-2c97-4e0f-8d36-5a7e91c0d2f4';
const viewOf = (originId: string, alias: string) =>
  `/view?id=${encodeURIComponent(`${scope}/Entity/${originId}/View/${alias}`)}`;
/** The query of README.md "Five calls". */
const query = { search: { field: 'name', value: 'Istambul' } };
const pages: Readonly<Record<string, string>> = {
  overview: '',
  content: '/content',
  entities: '/content/world?type=city',
  entity: '/content/world/country-FR',
  'choose-view': '/view',
  view: `${viewOf('city-2996944', 'city')}&if=name&be=Lugdunum`,
  'view-country': viewOf('country-FR', 'country'),
  urls: '/urls?url=/europe/france/lyon',
  query: `/query?index=cities&q=${encodeURIComponent(JSON.stringify(query))}`,
  schemas: '/schemas',
  schema: '/schemas/schemas/country.json?entity=country-FR',
  changes: '/changes',
  nowhere: '/nowhere',
};
const readmePages = ['view', 'query'];
const sizes = { wide: { width: 1280, height: 800 }, narrow: { width: 360, height: 740 } };

mkdirSync(path.join(folder, 'readme'), { recursive: true });
const browser = await openBrowser();
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [size, viewport] of Object.entries(sizes)) {
      const page = await browser.newPage({ colorScheme, viewport });
      await page.goto(`${front}/console`);
      await page.getByLabel('Management key').waitFor();
      await take(page, `key-${size}-${colorScheme}`);
      await page.getByLabel('Management key').fill('management-atlas-demo');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      for (const [name, address] of Object.entries(pages)) {
        if (wanted.length > 0 && !wanted.includes(name)) continue;
        await open(page, address);
        await take(page, `${name}-${size}-${colorScheme}`);
      }
      await page.close();
    }
  }
  const page = await browser.newPage({ viewport: { width: 1280, height: 960 } });
  await page.goto(`${front}/console`);
  await page.getByLabel('Management key').fill('management-atlas-demo');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  for (const name of readmePages) {
    await open(page, pages[name] ?? '');
    await page.screenshot({ path: path.join(folder, 'readme', `console-${name}.png`) });
  }
} finally {
  await browser.close();
}

async function open(page: Page, address: string): Promise<void> {
  await page.goto(`${front}/console${address}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.locator('.loading, [aria-busy=true]').first().waitFor({ state: 'detached' });
}

async function take(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true });
}
