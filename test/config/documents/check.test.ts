import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { issueText, warningsText } from '../../../src/config/documents/issue-text.ts';
import { readConfiguration } from '../../../src/config/documents/read-documents.ts';
import { programWords } from '../../../src/typescript/clone-or-package.mjs';
import { folderWith } from '../support/folder.ts';
import { pageSchema, siteTenant } from '../support/site.ts';

function check(args: string[], cwd: string, env: Record<string, string> = {}) {
  const command = [...programWords, resolve('src/cli/check.ts'), ...args];
  const { PATH = '' } = process.env;
  const { status, stdout, stderr } = spawnSync(process.execPath, command, {
    cwd,
    env: { PATH, ...env },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

const sound = {
  'tenants/site/tenant.json': JSON.stringify(siteTenant()),
  'tenants/site/schemas/page.json': JSON.stringify(pageSchema),
  'tenants/site/partials/card.json': '{"properties": {"a": "x"}}',
};

test('check: a valid configuration prints one line of counts and exits with 0', async (t) => {
  const folder = await folderWith(t, sound);
  const { status, stdout, stderr } = check(['--config-dir', folder], folder);
  assert.deepEqual([status, stderr], [0, '']);
  assert.equal(
    stdout,
    `${folder} is valid: 1 tenant, 1 schema, 1 partial, 0 indexes, 2 API keys, 0 warnings\n`,
  );
});

test('check: errors are printed by file with path and hint, counted, with exit code 1 and without keys', async (t) => {
  const folder = await folderWith(t, {
    ...sound,
    'tenants/site/tenant.json': JSON.stringify(siteTenant({ domain: [] })),
    'tenants/site/schemas/stray.txt': '',
    'tenants/twin/tenant.json': JSON.stringify(siteTenant()),
  });
  const { status, stdout, stderr } = check([], folder, { CONFIG_DIR: '.' });
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(
    stderr,
    /^tenants\/site\/schemas\/stray\.txt: \$: not a name for a schema file\n {4}Name it <alias>\.json/m,
  );
  assert.match(
    stderr,
    /^tenants\/site\/tenant\.json: \$\.domain: unknown key "domain"\n {4}Did you mean "domains"/m,
  );
  assert.match(stderr, /\n\n4 errors in /);
  assert.doesNotMatch(stderr, /source-key|client-key/);
});

test('check: unknown aliases are reported whatever other errors there are', async (t) => {
  const codeNaming = (lines: string) =>
    `export default { triggers: (context) => context.triggers('cms', ['page']), properties(entity, context) { ${lines} } };`;
  const files = {
    ...sound,
    'tenants/site/schemas/linked.json': JSON.stringify({
      triggers: { cms: ['page'] },
      properties: { a: { type: 'reference', alias: 'nobody-a', originId: '{p.a}' } },
    }),
    'tenants/site/schemas/code.full.js': codeNaming("return context.reference('nobody-b').self();"),
  };
  const others: Readonly<Record<string, string>>[] = [
    { 'tenants/site/schemas/page.json': '{"triggers": {}, "unknown": 1}' },
    { 'tenants/site/schemas/page.json': '{' },
    { 'tenants/site/tenant.json': '{' },
    { 'tenants/site/tenant.json': JSON.stringify(siteTenant({ domain: [] })) },
    { 'tenants/site/schemas/throws.full.js': `throw new Error('on purpose');\n${sound}` },
    {
      'tenants/site/schemas/code.full.js': `${codeNaming("return context.reference('nobody-b').self();")} throw 1;`,
    },
  ];
  for (const other of others) {
    const outcome = await readConfiguration(await folderWith(t, { ...files, ...other }));
    assert.ok(!outcome.ok);
    const printed = issueText(outcome.issues) + warningsText(outcome.warnings);
    for (const name of ['nobody-a', 'nobody-b']) {
      assert.ok(printed.includes(`there is no schema "${name}"`), `${Object.keys(other)}: ${printed}`);
    }
    assert.doesNotMatch(printed, /unknown source group/);
  }
});

test('check: an error and a warning are printed together', async (t) => {
  const folder = await folderWith(t, {
    ...sound,
    'tenants/site/schemas/page.json': '{"triggers": {}, "unknown": 1}',
    'tenants/site/partials/card.json':
      '{"properties": {"a": {"type": "partial", "input": "{root}", "alias": "crd"}}}',
  });
  const { status, stderr } = check(['--config-dir', folder], folder);
  assert.equal(status, 1);
  assert.match(
    stderr,
    /unknown key "unknown"[\s\S]*there is no partial "crd"[\s\S]* errors and 1 warning in /,
  );
});

test('check: warnings are printed with file and path, and only --strict makes them fail', async (t) => {
  const folder = await folderWith(t, {
    ...sound,
    'tenants/site/schemas/page.json': JSON.stringify({
      ...pageSchema,
      properties: { card: { type: 'partial', input: '{root}', alias: 'crd' } },
    }),
  });
  const warning =
    /^tenants\/site\/schemas\/page\.json: \$\.properties\.card\.alias: warning: there is no partial "crd"\n {4}Did you mean "card"/;
  const lenient = check(['--config-dir', folder], folder);
  assert.deepEqual([lenient.status, lenient.stderr], [0, '']);
  assert.match(lenient.stdout, warning);
  const strict = check(['--config-dir', folder, '--strict'], folder);
  assert.equal(strict.status, 1);
  assert.match(strict.stdout, warning);
  assert.match(strict.stderr, /^1 warning in /);
});

test('check: the folder is set by .env or the environment; invalid settings and arguments are reported', async (t) => {
  const folder = await folderWith(t, { '.env': 'CONFIG_DIR=nowhere\n' });
  const missing = check([], folder);
  assert.equal(missing.status, 1);
  assert.match(missing.stderr, /tenants: \$: not found\n {4}Create it.*\n\n1 error in .*nowhere/);
  const wrong = check([], folder, { PORT: 'x' });
  assert.deepEqual([wrong.status, wrong.stderr.split('\n').length], [1, 2]);
  assert.match(wrong.stderr, /^PORT is "x"/);
  assert.equal(check(['--nonsense'], folder).status, 2);
  const help = check(['--help'], folder);
  assert.equal(help.status, 0);
  assert.match(help.stdout, /Usage: npm run check/);
});
