/** The result of `npm pack` works where it is installed: from an empty folder to the first own page. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { commands, commandsOfClones } from '../../src/cli/commands.mjs';
import { freePort } from '../../src/cli/start/ports.ts';
import { platformVersion } from '../../src/config/settings/platform-version.ts';
import { followPage, npmFolders, readersTools } from '../docs/support/reader.ts';
import { compilerSays } from '../support/type-check.ts';
import { until } from '../support/until.ts';
import { type CommandResult, root, run, temporaryFolder } from './support/command.ts';
import { Platform } from './support/platform.ts';

/** Next to the site of the guide. */
const siteName = 'own-site';
const settings = { WORKERS: '1', PARTITIONS: '4', LOG_LEVEL: 'warn' };

/** The home folder of a reader of the guide, shared by all tests of this file. */
const home = mkdtempSync(path.join(tmpdir(), 'millrace-reader-'));
/** Where the guide installs the package. */
const folder = path.join(home, 'sites');
after(() => rmSync(home, { recursive: true, force: true }));

test('package: docs/guide/first-site.md packs a fresh clone, installs the package in an empty folder and runs a site', {
  skip: readersTools,
}, async (context) => {
  const env = { HOME: home, ...npmFolders(), npm_config_prefer_offline: 'true' };
  const cwd = await freshClone(context);
  assert.ok((await followPage(context, 'docs/guide/first-site.md', { env, cwd })) >= 8);
});

test('package: installed in an empty folder, it creates a site and runs it', {
  skip: readersTools,
}, async (context) => {
  const packages = readdirSync(path.join(folder, 'node_modules'));
  const compilers = ['esbuild', 'preact', 'tsx', 'typescript'];
  assert.deepEqual(
    compilers.filter((name) => packages.includes(name)),
    [],
    'the package runs without its build tools',
  );

  const site = path.join(folder, siteName);
  const bin = path.join(folder, 'node_modules/.bin/millrace');
  const millrace = (...words: string[]): Promise<CommandResult> =>
    run(bin, words, { cwd: site, env: settings });
  const init = () => run('npx', ['millrace', 'init', siteName], { cwd: folder });

  await mkdir(site);
  const written = await init();
  assert.deepEqual([written.code, written.stderr.replaceAll(/^npm warn.*\n/gm, '')], [0, '']);
  assert.match(written.stdout, /npx millrace dev/);
  const again = await init();
  assert.equal(again.code, 1);
  assert.match(again.stderr, /own-site is not empty\. Choose another folder\./);
  assert.deepEqual(readdirSync(site).sort(), [
    '.gitignore',
    'README.md',
    'config',
    'data.ndjson',
    'tsconfig.json',
  ]);
  assert.equal(await compilerSays(['--project', 'tsconfig.json'], site), '');
  await keysAreFresh(bin, folder, site);

  const checked = await millrace('check', '--strict');
  assert.deepEqual([checked.code, checked.stderr], [0, '']);
  assert.match(checked.stdout, /is valid: 1 tenant, 2 schemas, 0 partials, 1 index, 3 API keys/);

  await context.test('every command has its help under its own name', async () => {
    const names = Object.keys(commands).filter(
      (name) => !commandsOfClones.includes(name) && name !== 'purge',
    );
    assert.match((await millrace('--help')).stdout, /^Usage: millrace COMMAND/);
    assert.equal((await millrace('--version')).stdout, `${platformVersion}\n`);
    await Promise.all(
      names.map(async (name) => {
        const { code, stdout } = await millrace(name, '--help');
        assert.equal(code, 0, name);
        assert.ok(stdout.startsWith(`Usage: millrace ${name}`), stdout);
        assert.doesNotMatch(stdout, /npm (run|start)/, name);
      }),
    );
    const refused = await millrace('check', '--no-such-option');
    assert.match(refused.stderr, /See: npx millrace check --help\n$/);
    for (const name of [...commandsOfClones, 'no-such']) {
      const { code, stderr } = await millrace(name);
      assert.deepEqual([code, stderr], [1, `Unknown command '${name}'. See: npx millrace --help\n`]);
    }
    const early = await millrace('verify');
    assert.match(early.stderr, /Run npx millrace start first/);
  });

  await context.test('an error of the client that nobody catches can be read', async () => {
    const asking = `import 'millrace/instantsearch';
import { createClient } from 'millrace/client';
await createClient({ url: 'http://127.0.0.1:9', key: 'x', retries: 0 }).byHandle('a');`;
    writeFileSync(path.join(site, 'asking.mjs'), asking);
    const { stderr } = await run(process.execPath, ['asking.mjs'], { cwd: site });
    assert.match(stderr, /^MillraceError: http:\/\/127\.0\.0\.1:9 cannot be reached$/m);
    for (const line of stderr.split('\n')) assert.ok(line.length <= 300, line);
  });

  await context.test('dev shows the first page and follows the files', async (context) => {
    const dev = await startDev(context, bin, site);
    assert.match(dev.output, /3 entities in .*: 3 changed, 0 unchanged, 0 failed/);
    const keys = keysOf(site);
    assert.ok(dev.output.includes(`/console (its key: ${keys.management})`), dev.output);
    const ask = (url: string) => pageOf(dev.url, url, keys.environment);
    assert.deepEqual(await ask('/notes/numbers'), {
      title: 'Numbers',
      words: 7,
      text: 'The engine can arrange more than numbers.',
      author: { name: 'Ada Lovelace', articles: notes },
    });

    const schemaFile = path.join(site, `config/tenants/${siteName}/schemas/author.full.ts`);
    const text = readFileSync(schemaFile, 'utf8');
    writeFileSync(schemaFile, text.replace('name: properties.name,', "name: properties.name + '!',"));
    await until(
      'the changed schema is active',
      async () => (await ask('/authors/ada'))?.name === 'Ada Lovelace!',
      20_000,
    );

    writeFileSync(schemaFile, text.replace('name: properties.name,', 'name: properties.name}},'));
    await until('the error is reported', () => /author\.full\.ts:\d+:\d+/.test(dev.output));
    assert.match(dev.output, /The configuration is unchanged\./);
    assert.equal((await ask('/authors/ada'))?.name, 'Ada Lovelace!');

    writeFileSync(schemaFile, text);
    await until(
      'the old schema is active',
      async () => (await ask('/authors/ada'))?.name === 'Ada Lovelace',
      20_000,
    );

    const failing = text.replace('name: properties.name,', 'name: properties.name.first.last,');
    writeFileSync(schemaFile, failing);
    const line = failing.slice(0, failing.indexOf('first.last')).split('\n').length;
    await until('the failing build is reported', () => dev.output.includes('The schema author fails'));
    const reported = `tenants/${siteName}/schemas/author\\.full\\.ts:${line}:\\d+: .*undefined.*\\. The schema author fails for the entity ada\\b`;
    assert.match(dev.output, new RegExp(reported));
    writeFileSync(schemaFile, text);

    const saved = await fetch(`${dev.url}/ingest/v2/about`, {
      method: 'POST',
      headers: { 'X-Api-Key': keys.source },
      body: JSON.stringify({ type: 'page', properties: {} }),
    });
    assert.equal(saved.status, 200);
    await until('a type without a schema is reported', () =>
      /the type "page" of the source group "cms" triggers no schema .* \(the entity about\)/.test(dev.output),
    );

    await typesCompile(site, millrace);

    // The other commands find its Redis.
    const verified = await millrace('verify');
    assert.equal(verified.code, 0, verified.stdout + verified.stderr);
    const removed = await fetch(`${dev.url}/ingest/v2/numbers`, {
      method: 'DELETE',
      headers: { 'X-Api-Key': keys.source },
    });
    assert.equal(removed.status, 200);
    assert.equal(await dev.stop(), 0);
  });

  await context.test('dev imports data.ndjson once', async (context) => {
    const dev = await startDev(context, bin, site);
    assert.doesNotMatch(dev.output, /importing/);
    assert.equal(await pageOf(dev.url, '/notes/numbers', keysOf(site).environment), null);
    assert.equal(await dev.stop(), 0);
  });
});

/** The repository as `git clone` creates it: nothing is installed or built. */
async function freshClone(context: test.TestContext): Promise<string> {
  const clone = path.join(await temporaryFolder(context), 'clone');
  const made = ['.git', 'node_modules', 'dist', '.data', 'coverage'];
  cpSync(root, clone, { recursive: true, filter: (file) => !made.includes(path.relative(root, file)) });
  return clone;
}

/** A front end in TypeScript that uses the installed package: it knows what the schemas declare, and nothing else. */
async function typesCompile(site: string, millrace: (...words: string[]) => Promise<CommandResult>) {
  const made = await millrace('types', '--out', 'millrace.ts');
  assert.deepEqual([made.code, made.stderr], [0, '']);
  const page = `import { createClient } from 'millrace/client';
import { createSearchClient } from 'millrace/instantsearch';
import type { Millrace } from './millrace.js';
createSearchClient({ url: 'http://127.0.0.1:4000', key: 'x', indexes: { all: { index: 'articles' } } });
const client = createClient<Millrace>({ url: 'http://127.0.0.1:4000' });
const view = await client.byHandle('article-engine');
if (view !== null && 'author' in view) {
  const words: number = view.words;
  console.log(words, view.author?.articles.map(({ title }) => title));
  // @ts-expect-error: nothing is called so
  view.auther;
}
export {};
`;
  writeFileSync(path.join(site, 'page.mts'), page);
  const options = '--noEmit --strict --target es2022 --module nodenext --lib es2022,dom,dom.asynciterable';
  assert.equal(await compilerSays([...options.split(' '), 'page.mts'], site), '');
}

const notes = [
  { title: 'Numbers', url: '/notes/numbers' },
  { title: 'The engine', url: '/notes/engine' },
];

/** No two sites share a key or an id. */
async function keysAreFresh(bin: string, folder: string, site: string): Promise<void> {
  const { code, stderr } = await run(bin, ['init', 'other'], { cwd: folder });
  assert.equal(code, 0, stderr);
  const secrets = (at: string) => [
    ...readFileSync(tenantFile(at), 'utf8').matchAll(
      /"((?:source|environment|management)-\S{32}|[0-9a-f-]{36})"/g,
    ),
  ];
  const [mine, others] = [secrets(site), secrets(path.join(folder, 'other'))].map((found) =>
    found.map(([, one]) => one),
  );
  assert.equal(mine?.length, 5);
  assert.equal(new Set([...(mine ?? []), ...(others ?? [])]).size, 10);
}

function tenantFile(site: string): string {
  return path.join(site, 'config/tenants', path.basename(site), 'tenant.json');
}

function keysOf(site: string): { source: string; environment: string; management: string } {
  const text = readFileSync(tenantFile(site), 'utf8');
  const key = (kind: string) => text.match(new RegExp(`"(${kind}-[^"]+)"`))?.[1] ?? '';
  return { source: key('source'), environment: key('environment'), management: key('management') };
}

async function startDev(context: test.TestContext, bin: string, site: string): Promise<Platform> {
  const port = await freePort('127.0.0.1');
  const child = spawn(bin, ['dev'], {
    cwd: site,
    env: { ...process.env, ...settings, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const dev = Platform.of(child, `http://127.0.0.1:${port}`);
  context.after(async () => {
    child.kill('SIGTERM');
    await dev.ended;
  });
  await until('dev is watching', () => /watching .*config/.test(dev.output)).catch((error) => {
    throw new Error(`${error.message}\n${dev.output}`);
  });
  return dev;
}

/** The view on a URL, or null. */
async function pageOf(base: string, url: string, key: string): Promise<Record<string, unknown> | null> {
  const response = await fetch(`${base}/v2?url=${url}`, { headers: { 'X-Api-Key': key } });
  const { route } = JSON.parse(await response.text());
  return route ?? null;
}

test('package: contains what it needs to run, and nothing of development', async () => {
  const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root });
  const [{ files }]: [{ files: { path: string }[] }] = JSON.parse(stdout);
  const folders = new Set(files.map(({ path: file }) => file.split('/')[0]));
  assert.ok(folders.has('src') && folders.has('workers') && folders.has('docs'));
  for (const name of ['test', 'node_modules']) assert.ok(!folders.has(name), name);
  const ofBench = files.map(({ path: file }) => file).filter((file) => file.startsWith('bench/'));
  assert.deepEqual(
    ofBench.filter((file) => !/\.(?:md|svg)$/.test(file)),
    [],
    'figures, but not the code that measures them',
  );
  const typeScript = files.map(({ path: file }) => file).filter((file) => /^src\/.*\.tsx?$/.test(file));
  assert.deepEqual(
    typeScript.filter((file) => !file.startsWith('src/cli/site/template/')),
    ['src/schemas/code/schema.d.ts'],
    'compiled, except the templates of new sites',
  );
});
