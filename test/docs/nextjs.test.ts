/**
 * The programs of "Next.js" agree with the client's types, and purge what a real platform reports. Next.js itself is not
 * installed, because it has 370 MB: a few lines replace its cache, and like it ignore the tags of a call after the 128th.
 * The test needs processes because it tests the webhooks of a jobs process.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { newSite } from '../../src/cli/site/new-site.ts';
import { typesFile } from '../../src/config/delivered-types/types-file.ts';
import { readConfiguration } from '../../src/config/documents/read-documents.ts';
import type { JsonObject } from '../../src/contract/json.ts';
import { root, temporaryFolder } from '../cli/support/command.ts';
import { until } from '../support/until.ts';
import { requireOk } from '../system/support/feed-copy.ts';
import { manage, managed } from '../system/support/manage.ts';
import { sharedPlatform } from '../system/support/processes/shared-platform.ts';
import type { System } from '../system/support/processes/system.ts';
import { Receiver } from '../system/support/receiver.ts';
import { clientKey, siteFiles, sourceKey } from '../system/support/site.ts';
import { textOf } from './support/markdown.ts';
import { nextTypes, programsOf, typeErrorsIn } from './support/next-types.ts';

const page = textOf('docs/guide/nextjs.md');
const programs = programsOf(page);
/** `environmentClients` and `webhooks`, as the page says to add them. */
const added = JSON.parse(/```json\n([\s\S]*?)```/.exec(page)?.[1] ?? '') as {
  readonly environmentClients: readonly [JsonObject];
  readonly webhooks: readonly [JsonObject & { readonly secret: string }];
};

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.join(folder, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  }
}

/** What `millrace types` writes for the site of "Your first site". */
async function typesOfFirstSite(context: TestContext): Promise<string> {
  const folder = await temporaryFolder(context);
  write(folder, Object.fromEntries(newSite('my-site')));
  const read = await readConfiguration(path.join(folder, 'config'));
  assert.ok(read.ok, JSON.stringify(read));
  return typesFile(read.documents, 'my-site');
}

test('Next.js: the programs agree with the types of the client and of the first site', async (context) => {
  const folder = await temporaryFolder(context);
  assert.deepEqual(
    [...programs.keys()],
    [
      'lib/content.ts',
      'app/page.tsx',
      'app/[...path]/page.tsx',
      'app/api/revalidate/route.ts',
      'app/actions.ts',
    ],
  );
  write(folder, {
    ...Object.fromEntries(programs),
    'millrace.ts': await typesOfFirstSite(context),
    'next.d.ts': nextTypes,
    'package.json': '{"type":"module"}',
  });
  assert.equal(await typeErrorsIn(folder, [...programs.keys(), 'next.d.ts']), '');
});

/** Functions of the page, and of the replacement of the cache of Next.js. */
interface Site {
  readonly POST: (request: Request) => Promise<Response>;
  readonly cached: (url: string) => Promise<{ readonly view: View | null }>;
  /** The calls of `revalidateTag`. */
  readonly purges: readonly { readonly tag: string; readonly profile: unknown }[];
}

interface View {
  readonly title: string;
  readonly parts: readonly ({ readonly title: string } | null)[];
}

const cacheModule = `
export const purges = [];
const entries = new Map();
let tags = [];
export const cacheLife = () => {};
export const cacheTag = (...given) => { tags.push(...given.slice(0, 128)); };
export const updateTag = () => {};
export function revalidateTag(tag, profile) {
  purges.push({ tag, profile });
  for (const [key, entry] of entries) if (entry.tags.includes(tag)) entries.delete(key);
}
export async function kept(key, make) {
  if (!entries.has(key)) {
    tags = [];
    const value = await make();
    entries.set(key, { value, tags });
  }
  return entries.get(key).value;
}
`;

const receiver = new Receiver();
let system: System;
let site: Site;

/** @param origin of the platform */
async function siteAt(origin: string, folder: string): Promise<Site> {
  write(folder, {
    ...Object.fromEntries(programs),
    'cache.js': cacheModule,
    'millrace.ts': 'export type Millrace = never;',
    'site.ts': `export { POST } from './app/api/revalidate/route';
import { pageOf } from './lib/content';
import { kept, purges } from 'next/cache';
export const cached = (url) => kept(url, () => pageOf(url));
export { purges };`,
  });
  const alias = {
    '@': folder,
    'next/cache': path.join(folder, 'cache.js'),
    'millrace/client': path.join(root, 'src/client/client.ts'),
    standardwebhooks: path.join(root, 'node_modules/standardwebhooks'),
  };
  const outfile = path.join(folder, 'site.mjs');
  const entryPoints = [path.join(folder, 'site.ts')];
  await build({
    entryPoints,
    outfile,
    alias,
    bundle: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'error',
  });
  const [{ secret }] = added.webhooks;
  const env = { MILLRACE_URL: origin, MILLRACE_KEY: clientKey, MILLRACE_WEBHOOK_SECRET: secret };
  Object.assign(process.env, env);
  return (await import(pathToFileURL(outfile).href)) as Site;
}

const parts = Array.from({ length: 150 }, (_, at) => `part-${at}`);

before(async () => {
  const port = await receiver.listen();
  const [client] = added.environmentClients;
  const [webhook] = added.webhooks;
  system = await sharedPlatform(
    siteFiles({
      tenant: 'nextjs',
      settings: {
        ...managed,
        environmentClients: [{ ...client, apiKeys: [clientKey] }],
        webhooks: [{ ...webhook, url: `http://127.0.0.1:${port}/api/revalidate` }],
      },
      code: {
        'schemas/page.full.js': `export default {
  triggers(context) { context.triggers('cms', ['page']); },
  routes(entity, context) { context.url(entity.url); },
  properties({ properties }, context) {
    return { title: properties.title, parts: context.reference('page').byOriginIds(properties.parts ?? []) };
  },
};`,
      },
    }),
  );
  site = await siteAt(system.url('web.1'), await folderOfSystem());
  receiver.answer = (response, { text: body, headers }) => {
    const request = new Request('http://site.example/api/revalidate', {
      method: 'POST',
      body,
      headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
    });
    void site.POST(request).then(({ status }) => response.writeHead(status).end());
  };
});
after(async () => {
  for (const name of ['URL', 'KEY', 'WEBHOOK_SECRET']) delete process.env[`MILLRACE_${name}`];
  receiver.close();
});

async function folderOfSystem(): Promise<string> {
  const folder = path.join(system.scratchDir, 'site');
  mkdirSync(folder);
  return folder;
}

async function save(originId: string, properties: JsonObject): Promise<void> {
  const entity = { type: 'page', url: `/${originId}`, properties };
  requireOk(await system.client().post(`/ingest/v2/${originId}`, entity, { key: sourceKey }));
}

/** Requests a page like a visitor, until it is as expected. */
async function untilPage(url: string, isWanted: (view: View | null) => boolean): Promise<void> {
  await until(`the page ${url}`, async () => isWanted((await site.cached(url)).view), 60_000);
}

test('Next.js: a page with more tags than fit in one call is purged by a change of any view in it', async () => {
  for (const part of parts) await save(part, { title: part });
  await save('all', { title: 'All', parts });
  await untilPage('/all', (view) => view?.parts.filter((part) => part !== null).length === parts.length);
  for (const part of ['part-0', 'part-149']) {
    await save(part, { title: `${part} is new` });
    await untilPage('/all', (view) => view?.parts.some((one) => one?.title === `${part} is new`) ?? false);
  }
});

test('Next.js: a missing page is purged when it appears, and purged tags expire immediately', async () => {
  assert.equal((await site.cached('/later')).view, null);
  await save('later', { title: 'Here' });
  await untilPage('/later', (view) => view?.title === 'Here');
  const profiles = new Set(site.purges.map(({ profile }) => JSON.stringify(profile)));
  assert.deepEqual([...profiles], ['{"expire":0}']);
});

test('Next.js: a test of the webhook purges everything, and a forged one nothing', async () => {
  const isPurged = () => site.purges.some(({ tag }) => tag === 'content');
  const body = JSON.stringify({ type: 'test', data: {} });
  const forged = await site.POST(new Request('http://site.example', { method: 'POST', body }));
  assert.deepEqual([forged.status, isPurged()], [401, false]);
  const kept = await site.cached('/later');
  const { status } = await manage(system.client(), '/webhooks/next/test', { body: {} });
  assert.deepEqual([status, isPurged()], [200, true]);
  assert.notEqual(await site.cached('/later'), kept);
});
