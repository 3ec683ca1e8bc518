/** The programs of "Staying fresh" follow a real platform. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { until } from '../support/until.ts';
import { requireOk } from '../system/support/feed-copy.ts';
import { sharedPlatform } from '../system/support/processes/shared-platform.ts';
import type { System } from '../system/support/processes/system.ts';
import { clientKey, siteFiles, sourceKey } from '../system/support/site.ts';

const page = readFileSync(new URL('../../docs/guide/staying-fresh.md', import.meta.url), 'utf8');
const [loop, next, ...others] = [...page.matchAll(/```js\n([\s\S]*?)```/g)].map(([, text = '']) => text);

let system: System;
const children: ChildProcess[] = [];

before(async () => {
  system = await sharedPlatform(
    siteFiles({
      tenant: 'staying-fresh',
      schemas: {
        page: { triggers: { cms: ['page'] }, route: { url: '{url}' }, properties: { title: '{p.title}' } },
      },
    }),
  );
});
after(async () => {
  for (const child of children) child.kill();
});

async function save(url: string): Promise<void> {
  const entity = { type: 'page', url, properties: { title: url } };
  requireOk(await system.client().post('/ingest/v2/one', entity, { key: sourceKey }));
}

/** Starts a site with both programs. Next.js itself is not installed: paths to revalidate are printed. */
function startSite(offset: string | null): { readonly lines: () => string[] } {
  const folder = path.join(system.scratchDir, `site-${children.length}`);
  const cache = path.join(folder, 'node_modules/next');
  mkdirSync(cache, { recursive: true });
  writeFileSync(path.join(cache, 'package.json'), '{"name":"next","exports":{"./cache":"./cache.mjs"}}');
  writeFileSync(
    path.join(cache, 'cache.mjs'),
    'export const revalidatePath = (...words) => console.log(...words);',
  );
  writeFileSync(path.join(folder, 'loop.mjs'), loop ?? '');
  writeFileSync(path.join(folder, 'act.mjs'), next ?? '');
  writeFileSync(
    path.join(folder, 'site.mjs'),
    `import { follow } from './loop.mjs';\nimport { act } from './act.mjs';\nawait follow(${JSON.stringify(offset)}, act);\n`,
  );
  const child = spawn(process.execPath, ['site.mjs'], {
    cwd: folder,
    env: { ...process.env, MILLRACE_URL: system.url(), MILLRACE_KEY: clientKey },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  let text = '';
  child.stdout.on('data', (piece: Buffer) => {
    text += piece.toString();
  });
  return { lines: () => text.split('\n') };
}

test('staying fresh: the loop notifies Next.js of every path that changed or was removed', async () => {
  assert.deepEqual(others, [], 'every program of the page is run here');
  await save('/first');
  const site = startSite(null);
  await until('the copy', () => site.lines().includes('/first'));
  const already = site.lines().length - 1;
  await save('/second');
  const told = () => site.lines().slice(already);
  await until('the new path', () => told().includes('/second'));
  await until('the former path too', () => told().includes('/first'));
});

test('staying fresh: the loop starts again if its offset is unknown', async () => {
  const site = startSite('an-offset-of-somebody-else');
  await until('the copy', () => site.lines().includes('/second'));
});

test('staying fresh: a view on more pages than a change lists rebuilds every page', async () => {
  const folder = path.join(system.scratchDir, 'act');
  const cache = path.join(folder, 'node_modules/next');
  mkdirSync(cache, { recursive: true });
  writeFileSync(path.join(cache, 'package.json'), '{"name":"next","exports":{"./cache":"./cache.mjs"}}');
  writeFileSync(
    path.join(cache, 'cache.mjs'),
    'export const asked = []; export const revalidatePath = (...words) => asked.push(words);',
  );
  writeFileSync(path.join(folder, 'act.mjs'), next ?? '');
  const load = async (file: string) => await import(pathToFileURL(path.join(folder, file)).href);
  const { act } = await load('act.mjs');
  const { asked } = await load('node_modules/next/cache.mjs');
  const nowhere = { urls: [], redirects: [] };
  await act([{ ...nowhere, left: nowhere, shownOn: ['/a'] }]);
  assert.deepEqual(asked, [['/a']]);
  await act([{ ...nowhere, left: nowhere, shownOn: ['/a'], shownOnMore: 1 }]);
  assert.deepEqual(asked.slice(1), [['/a'], ['/', 'layout']]);
});
