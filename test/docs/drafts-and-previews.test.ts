/**
 * The programs of "Drafts and previews". Next.js itself is not installed; three functions replace it. The commands of the page
 * run in `commands.test.ts`.
 */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { transform } from 'esbuild';
import { temporaryFolder } from '../cli/support/command.ts';
import { textOf } from './support/markdown.ts';
import { nextTypes, programsOf, typeErrorsIn } from './support/next-types.ts';

const page = textOf('docs/guide/drafts-and-previews.md');
const programs = programsOf(page);
const linkProgram = 'draft-link.ts';
const draftRoute = 'app/api/draft/route.ts';

/** A redirect ends the handler by throwing, as in Next.js. */
const nextModules = {
  'headers.mjs':
    'export const enabled = []; export const draftMode = async () => ({ enable: () => enabled.push(1) });',
  'navigation.mjs': "export function redirect(path) { throw new Error('to ' + path); }",
};

test('drafts and previews: the programs of the guide agree with the types of millrace/client', async (context) => {
  const folder = await temporaryFolder(context);
  assert.deepEqual([...programs.keys()], [linkProgram, draftRoute, 'lib/content.ts', 'app/page.tsx']);
  const use =
    "import { content } from './lib/content.ts';\nexport const home = (await content()).byUrl('/', { minVersion: 'v' });\n";
  const files = { ...Object.fromEntries(programs), 'next.d.ts': nextTypes, 'use.ts': use };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(path.join(folder, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(folder, file), text);
  }
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  assert.equal(await typeErrorsIn(folder, Object.keys(files)), '');
});

/** The links and the handler of the guide, and how often it turned draft mode on. */
async function draftHandler(context: TestContext) {
  const folder = await temporaryFolder(context);
  const next = path.join(folder, 'node_modules/next');
  mkdirSync(next, { recursive: true });
  const exports = { './headers': './headers.mjs', './navigation': './navigation.mjs' };
  writeFileSync(path.join(next, 'package.json'), JSON.stringify({ name: 'next', exports }));
  for (const [file, text] of Object.entries(nextModules)) writeFileSync(path.join(next, file), text);
  for (const [file, program] of [
    ['link.mjs', linkProgram],
    ['route.mjs', draftRoute],
  ] as const) {
    const { code } = await transform(programs.get(program) ?? '', { loader: 'ts', format: 'esm' });
    writeFileSync(path.join(folder, file), code);
  }
  const load = async (file: string) => await import(pathToFileURL(path.join(folder, file)).href);
  const { draftLink } = await load('link.mjs');
  const { GET } = await load('route.mjs');
  const { enabled } = await load('node_modules/next/headers.mjs');
  return {
    draftLink: draftLink as (site: string, slug: string, secret: string) => string,
    get: GET as (request: Request) => Promise<Response>,
    enabled: enabled as readonly number[],
  };
}

test('drafts and previews: a draft link opens a page of the site, unless it is forged, expired or leads elsewhere', async (context) => {
  const secret = 'a-secret-of-both';
  process.env.PREVIEW_SECRET = secret;
  context.after(() => delete process.env.PREVIEW_SECRET);
  const { draftLink, get, enabled } = await draftHandler(context);
  const later = String(Date.now() + 600_000);
  const sign = (slug: string, expires: string) =>
    createHmac('sha256', secret).update(`${slug}\n${expires}`).digest('hex');
  const open = (slug: string, expires = later, signature = sign(slug, expires)) =>
    get(new Request(`https://site.example/api/draft?${new URLSearchParams({ slug, expires, signature })}`));
  const link = draftLink('https://site.example', '/spring?a=b', secret);
  await assert.rejects(get(new Request(link)), /^Error: to \/spring\?a=b$/);
  assert.equal(enabled.length, 1);
  const refused = [
    open('/spring', later, sign('/other', later)),
    open('/spring', later, ''),
    open('/spring', '1', sign('/spring', '1')),
    open('/spring', 'never', sign('/spring', 'never')),
    open('//evil.example'),
    open('/\\evil.example'),
    open('/\t/evil.example'),
    open('https://evil.example'),
    open(''),
  ];
  const statuses = (await Promise.all(refused)).map(({ status }) => status);
  assert.deepEqual(statuses, [401, 401, 401, 401, 400, 400, 400, 400, 400]);
  process.env.PREVIEW_SECRET = '';
  const signature = createHmac('sha256', '').update(`/spring\n${later}`).digest('hex');
  assert.equal((await open('/spring', later, signature)).status, 500);
  assert.equal(enabled.length, 1);
});
