/** Schemas whose source attacks the compiler: they harm only their own request. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Client } from '../system/support/client.ts';
import { sharedPlatform } from '../system/support/processes/shared-platform.ts';
import { managementKey, siteFiles } from '../system/support/site.ts';

/** Limit of a preview, with a margin for starting a compiler and a sandbox on a busy machine. */
const patienceMs = 60_000;
const prefixes = { good: 'good-', evil: 'evil-' };
type TenantName = keyof typeof prefixes;

const folder = mkdtempSync(path.join(tmpdir(), 'millrace-compiling-'));
const fifo = path.join(folder, 'fifo');
const sparse = path.join(folder, 'sparse');
const map = path.join(folder, 'secret.map');

const settingsOf = (prefix: string) => ({
  managementClients: [{ name: 'ci', apiKeys: [prefix + managementKey] }],
});
const filesOf = (tenant: TenantName) =>
  siteFiles({
    tenant,
    keyPrefix: prefixes[tenant],
    settings: settingsOf(prefixes[tenant]),
    schemas: { page: { triggers: { cms: ['page'] }, properties: { n: '{p.n}' } } },
  });

let client: Client;

before(async () => {
  execFileSync('mkfifo', [fifo]);
  writeFileSync(sparse, '');
  truncateSync(sparse, 512 * 1024 * 1024);
  writeFileSync(map, '{"version":3,"sources":["name-in-a-secret-file.ts"],"mappings":"AAAA","names":[]}');
  const system = await sharedPlatform({ ...filesOf('good'), ...filesOf('evil') });
  client = system.client();
});
after(() => rmSync(folder, { recursive: true, force: true }));

const schemaText = (properties: string) =>
  `export default { triggers: (context) => context.triggers('cms', ['page']), properties: () => (${properties}) };\n`;

function preview(tenant: TenantName, text: string, language: 'js' | 'ts' = 'js'): Promise<Answer> {
  return client.post(
    '/management/v1/preview',
    {
      schema: { kind: 'full', language, text },
      entity: { type: 'page', properties: {} },
      sourceGroup: 'cms',
      environment: 'production',
    },
    { key: prefixes[tenant] + managementKey, timeoutMs: patienceMs },
  );
}

function put(tenant: TenantName, files: Readonly<Record<string, string>>): Promise<Answer> {
  const own = Object.entries(filesOf(tenant)).map(([file, json]) => [
    file.replace(`tenants/${tenant}/`, ''),
    JSON.stringify(json),
  ]);
  return client.call('PUT', '/management/v1/configuration', {
    key: prefixes[tenant] + managementKey,
    body: { documents: { ...Object.fromEntries(own), ...files } },
    timeoutMs: patienceMs,
  });
}

async function assertOthersAreServed(): Promise<void> {
  const answer = await preview('good', schemaText('{ n: 1 }'));
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.json.view, { n: 1 });
}

/** True if a process has the pipe open for reading, or is opening it: only then can it be opened for writing. */
function isOpenedBySomebody(): boolean {
  try {
    closeSync(openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ENXIO');
    return false;
  }
}

/** Awaits the work. @returns whether the pipe was opened during it */
async function opensPipe(work: Promise<unknown>): Promise<boolean> {
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  let isOpened = false;
  while (!isDone) {
    isOpened ||= isOpenedBySomebody();
    await Promise.race([done, sleep(10)]);
  }
  await done;
  return isOpened || isOpenedBySomebody();
}

const commentsNaming: Readonly<Record<string, (file: string) => string>> = {
  'line comment': (file) => `//# sourceMappingURL=${file}`,
  'block comment': (file) => `/*# sourceMappingURL=${file} */`,
  'two comments': (file) => `//# sourceMappingURL=${file}\n//# sourceMappingURL=${file}`,
  'last comment without a line end': (file) => `\n//# sourceMappingURL=${file}`.trimStart(),
};

for (const [name, comment] of Object.entries(commentsNaming)) {
  test(`preview: opens no file that a source map names: ${name}`, { timeout: 120_000 }, async () => {
    const text = schemaText('{ n: 2 }') + comment(`file://${fifo}`);
    assert.equal(await opensPipe(preview('evil', text)), false);
  });
}

test('preview: a device, large file or secret file neither affects others nor leaks', {
  timeout: 120_000,
}, async () => {
  for (const file of ['/dev/ptmx', sparse]) {
    const answer = await preview('evil', `${schemaText('{ n: 2 }')}//# sourceMappingURL=file://${file}`);
    assert.equal(answer.status, 200, answer.text);
  }
  const failing = `${schemaText('{ n: null.x }')}//# sourceMappingURL=file://${map}`;
  assert.doesNotMatch((await preview('evil', failing)).text, /name-in-a-secret-file/);
  await assertOthersAreServed();
});

test('put: opens no file that an imported file names', { timeout: 120_000 }, async () => {
  const places = [fifo, `file://${fifo}`, `../../../../../../../../../..${fifo}`];
  const comments = Object.values(commentsNaming).flatMap((comment) => places.map(comment));
  const helpers = comments.map((comment, n) => [
    `lib/n${n}.ts`,
    `export const n${n}: number = ${n};\n${comment}`,
  ]);
  const imports = helpers.map((_, n) => `import { n${n} } from '../lib/n${n}.ts';\n`).join('');
  const data = JSON.stringify({ text: comments.join('\n'), [comments[0] ?? '']: 1 });
  const files = {
    'schemas/a.full.js': `${imports}import data from '../lib/data.json';\n${schemaText('{ n0, data }')}`,
    'lib/data.json': data,
    ...Object.fromEntries(helpers),
  };
  let answer: Answer | null = null;
  const isOpened = await opensPipe(
    put('evil', files).then((given) => {
      answer = given;
    }),
  );
  assert.equal(isOpened, false);
  assert.equal((answer as Answer | null)?.status, 200, (answer as Answer | null)?.text);
});

const placeholder = '$' + '{entity}';
const waysToName: Readonly<Record<string, string>> = {
  'import of all files of a folder': `import(\`./docs/${placeholder}\`)`,
  'import put together': "import('./docs/' + entity + '.md')",
  'require of all files of a folder': `require(\`./docs/${placeholder}\`)`,
  'address of a file': "new URL('./docs/README.md', import.meta.url)",
  'style sheet': "import('/etc/passwd', { with: { type: 'css' } })",
  'bytes of a file': "import('/etc/passwd', { with: { type: 'bytes' } })",
};

for (const [name, expression] of Object.entries(waysToName)) {
  test(`preview: code reads no folder and no file: ${name}`, { timeout: 120_000 }, async () => {
    const answer = await preview(
      'evil',
      `export default { triggers: (context) => context.triggers('cms', ['page']), properties: (entity) => ${expression} };\n`,
    );
    assert.ok(answer.status === 422 || answer.status === 200, answer.text);
    // `docs` is a folder of the repository, which is the working directory of the front.
    assert.doesNotMatch(answer.text, /reference|guide|design|root:/);
  });
}

const nestings: Readonly<Record<string, string>> = {
  '[': '[',
  'block {': '()=>{',
  'template ${': '`${',
  'unary !': '!',
  'class {': 'class{[',
  'type <': '<A>',
};

for (const [name, opening] of Object.entries(nestings)) {
  test(`preview: 300,000 nested ${name} make only their own request fail`, { timeout: 180_000 }, async () => {
    const [evil] = await Promise.all([
      preview('evil', `export default ${opening.repeat(300_000)}`, name === 'type <' ? 'ts' : 'js'),
      assertOthersAreServed(),
    ]);
    assert.equal(evil.status, 422, evil.text);
  });
}

test('preview: nested groups of a pattern affect no other request', { timeout: 120_000 }, async () => {
  const answer = await preview('evil', schemaText(`{ a: /${'('.repeat(200_000)}${')'.repeat(200_000)}/ }`));
  assert.ok(answer.status === 422 || answer.status === 200, answer.text);
  await assertOthersAreServed();
});

test('preview: a huge name and a huge regular expression affect no other request', {
  timeout: 120_000,
}, async () => {
  for (const expression of [
    'a'.repeat(2_000_000),
    `/${'a|'.repeat(1_000_000)}/`,
    `/[${'a-z'.repeat(600_000)}]/`,
  ]) {
    const [answer] = await Promise.all([
      preview('evil', schemaText(`{ a: typeof ${expression} }`)),
      assertOthersAreServed(),
    ]);
    assert.ok([200, 422].includes(answer.status), answer.text);
  }
});

test('preview: what takes longer than 2 s is rejected, and other previews succeed', {
  timeout: 180_000,
}, async () => {
  const many = Array.from({ length: 100_000 }, (_, n) => `const v${n} = (a) => ({ b: a.c${n} + v${n} });`);
  const text = `${many.join('\n')}\n${schemaText('{ n: 1 }')}export const all = [${many.map((_, n) => `v${n}`)}];`;
  const startMs = performance.now();
  const [evil] = await Promise.all([
    preview('evil', text),
    ...Array.from({ length: 3 }, () => assertOthersAreServed()),
  ]);
  assert.equal(evil.status, 422, evil.text.slice(0, 500));
  assert.match(evil.text, /took more than 2 s|takes more than 256 MB/);
  assert.ok(performance.now() - startMs < patienceMs);
});

test('put: a configuration that kills the compiler is rejected, and the next one is accepted', {
  timeout: 180_000,
}, async () => {
  const evil = await put('evil', { 'schemas/a.full.js': `export default ${'['.repeat(300_000)}` });
  assert.equal(evil.status, 422, evil.text);
  assert.match(evil.text, /schemas\/a\.full\.js/);
  const good = await put('good', { 'schemas/b.full.ts': schemaText('{ n: 4 as number }') });
  assert.equal(good.status, 200, good.text);
});
