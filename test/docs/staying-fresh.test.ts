/** The programs of "Staying fresh" follow a real platform. Next.js itself is not installed; one function replaces it. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { until } from '../support/until.ts';
import { requireOk } from '../system/support/feed-copy.ts';
import { sharedPlatform } from '../system/support/processes/shared-platform.ts';
import type { System } from '../system/support/processes/system.ts';
import { clientKey, siteFiles, sourceKey } from '../system/support/site.ts';

const page = readFileSync(new URL('../../docs/guide/staying-fresh.md', import.meta.url), 'utf8');
const [loop, program, next, ...others] = [...page.matchAll(/```js\n([\s\S]*?)```/g)].map(
  ([, text = '']) => text,
);

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

async function save(url: string, originId = 'one'): Promise<void> {
  const entity = { type: 'page', url, properties: { title: url } };
  requireOk(await system.client().post(`/ingest/v2/${originId}`, entity, { key: sourceKey }));
}

/** The folder of a reader, with the loop and the program that prints changes. */
function readersFolder(): string {
  const folder = mkdtempSync(path.join(system.scratchDir, 'reader-'));
  writeFileSync(path.join(folder, 'loop.mjs'), loop ?? '');
  writeFileSync(path.join(folder, 'follow.mjs'), program ?? '');
  return folder;
}

function startProgram(folder: string): {
  readonly lines: () => string[];
  readonly stop: () => Promise<void>;
} {
  const child = spawn(process.execPath, ['follow.mjs'], {
    cwd: folder,
    env: { ...process.env, MILLRACE_URL: system.url(), MILLRACE_KEY: clientKey },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  let text = '';
  child.stdout.on('data', (piece: Buffer) => {
    text += piece.toString();
  });
  const stop = async () => {
    child.kill();
    await once(child, 'close');
  };
  return { lines: () => text.split('\n').filter(Boolean), stop };
}

const prints = (lines: readonly string[], url: string) => lines.some((line) => line.includes(`[ '${url}' ]`));

test('staying fresh: the loop reports every change, and continues at its offset after a restart', async () => {
  assert.deepEqual(others, [], 'every program of the page is run here');
  const folder = readersFolder();
  const offset = () => readFileSync(path.join(folder, 'offset.txt'), 'utf8');
  await save('/unchanged', 'another');
  await save('/first');
  const first = startProgram(folder);
  await until('the copy', () => ['/unchanged', '/first'].every((url) => prints(first.lines(), url)));
  await save('/second');
  await until('the new path', () => prints(first.lines(), '/second'));
  const before = offset();
  await save('/third');
  await until('the offset after the third', () => prints(first.lines(), '/third') && offset() !== before);
  await first.stop();

  await save('/fourth');
  const second = startProgram(folder);
  await until('the missed change', () => prints(second.lines(), '/fourth'));
  assert.ok(!prints(second.lines(), '/unchanged'));
  await second.stop();
});

test('staying fresh: the loop starts again if its offset is unknown', async () => {
  const folder = readersFolder();
  writeFileSync(path.join(folder, 'offset.txt'), 'an-offset-of-somebody-else');
  const site = startProgram(folder);
  await until('the copy', () => prints(site.lines(), '/fourth'));
  await site.stop();
});

test('staying fresh: Next.js revalidates every path of a change, or every page if a view is on more than it lists', async () => {
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
  const left = { urls: ['/old'], redirects: ['/older'] };
  await act([{ urls: ['/new'], redirects: ['/moved'], left, shownOn: ['/list'] }]);
  const paths = [['/new'], ['/old'], ['/moved'], ['/older'], ['/list']];
  assert.deepEqual(asked, paths);
  await act([{ urls: ['/new'], redirects: ['/moved'], left, shownOn: ['/list'], shownOnMore: 1 }]);
  assert.deepEqual(asked.slice(paths.length), [...paths, ['/', 'layout']]);
});
