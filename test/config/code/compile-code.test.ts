/** The result of compiling JavaScript schemas: accepted by the sandbox, with correct positions. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startedEsbuild } from '../../../src/config/code/child/bundle.ts';
import { compileCode, keepCompiler } from '../../../src/config/code/compile-code.ts';
import type { ConfigIssue } from '../../../src/contract/diagnostic.ts';
import { schemasMax } from '../../../src/contract/limits.ts';
import { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { type CodeProgram, sourcePosition } from '../../../src/schemas/code/program.ts';

const sandbox = new Sandbox();
after(() => sandbox.close());

const folder = 'tenants/a';
const tenantFile: [string, string] = [`${folder}/tenant.json`, '{}'];

async function compiled(
  text: string,
  others: Readonly<Record<string, string>> = {},
): Promise<{ program: CodeProgram | null; issues: readonly ConfigIssue[] }> {
  const imported = Object.entries(others).map(([path, one]): [string, string] => [`${folder}/${path}`, one]);
  const sources = new Map([tenantFile, [`${folder}/schemas/page.full.ts`, text], ...imported]);
  const { documents, issues } = await compileCode(sources, 'configuration');
  const program = documents.get(`${folder}/.compiled/full-page.json`);
  return { program: program === undefined ? null : (JSON.parse(program) as CodeProgram), issues };
}

const schemaOf = (lines: string, before = '') => `${before}
export default {
  triggers: (context) => context.triggers('cms', ['page']),
  properties(entity) {
    ${lines}
  },
};
`;

async function run({ code }: CodeProgram) {
  const set = { id: code, owner: 'a', programs: new Map([['full/page', code]]) };
  const input = '{"originId":"1","type":"page","properties":{"n":3}}';
  const [reply] = await sandbox.run([
    { set, task: 'full', alias: 'page', input, answers: new Map(), spentMs: 0 },
  ]);
  assert.ok(reply !== undefined);
  return reply;
}

async function viewOf(lines: string, before = '', others: Readonly<Record<string, string>> = {}) {
  const { program, issues } = await compiled(schemaOf(lines, before), others);
  assert.deepEqual(issues, []);
  assert.ok(program !== null);
  const reply = await run(program);
  assert.equal(reply.kind, 'made', JSON.stringify(reply));
  return reply.kind === 'made' ? JSON.parse(reply.value.texts.join('')) : null;
}

const placeholder = (text: string) => `$\{${text}}`;

test('compile: strings that the sandbox rejects in code are accepted in string literals, templates and patterns', async () => {
  const view = await viewOf(
    `return {
      strings: ['<!-- a -->', "-->", '<!-->', 'import("x")', "import ('x')", 'eval(1)', 'import //', '\\\\<!--\\\\-->'],
      template: \`<!-- ${placeholder("entity.properties.n + '-->'")} --> import( eval(\`,
      nested: \`<!-- ${placeholder(`\`-->${placeholder('1')}<!--\``)} -->\`,
      raw: String.raw\`<!--\\n${placeholder('entity.properties.n')}
-->\`,
      tagged: tag\`<!--${placeholder(`tag\`eval(${placeholder('1')}-->\``)}import(\`,
      member: tags.of\`<!--${placeholder('1, 2')}\`,
      matches: [/<!--/.test('<!--'), /-->/.test('--\\x3e'), /(?<!--)a/.test('--a'), /[<!--]/.test('-'), /[!--]/.test('#'),
        /import (x)/.test('import x'), /eval(1)/u.test('eval1'), /[--><!--]+/.exec('a-->b')[0]],
      names: [object.import(1), object.eval(2), $eval(3), éimport(4), new Private().value],
      keys: { 'import(': 1, '<!--': 2, [\`eval(\`]: 3 },
      data,
    };`,
    `import data from '../lib/data.json';
    const tag = (texts, ...values) => [...texts, ...texts.raw, ...values, Object.isFrozen(texts)].join('|');
    const tags = { name: 'of', of(texts, value) { return this.name + texts[0] + value; } };
    const object = { import(n) { return n; }, eval(n) { return n; } };
    const $eval = (n) => n; const éimport = (n) => n;
    class Private { #eval(n) { return n; } get value() { return this.#eval(5); } }
    // <!-- a comment --> import( eval(
    `,
    { 'lib/data.json': '{"<!--": "-->", "import(": ["eval("]}' },
  );
  const inner = 'eval(|-->|eval(|-->|1|true';
  assert.deepEqual(view, {
    strings: [
      '<!-- a -->',
      '-->',
      '<!-->',
      'import("x")',
      "import ('x')",
      'eval(1)',
      'import //',
      '\\<!--\\-->',
    ],
    template: '<!-- 3--> --> import( eval(',
    nested: '<!-- -->1<!-- -->',
    raw: '<!--\\n3\n-->',
    tagged: `<!--|import(|<!--|import(|${inner}|true`,
    member: 'of<!--2',
    matches: [true, true, false, true, true, true, true, '-->'],
    names: [1, 2, 3, 4, 5],
    keys: { 'import(': 1, '<!--': 2, 'eval(': 3 },
    data: { '<!--': '-->', 'import(': ['eval('] },
  });
});

test('compile: a failure after an escaped string has its position in the source', async () => {
  const lines = `const a = ['<!--', \`-->\`, /<!--/, String.raw\`<!--
    -->\`]; const b = '-->'; return entity.missing.member;`;
  const text = schemaOf(lines);
  const { program } = await compiled(text);
  assert.ok(program !== null);
  const reply = await run(program);
  assert.equal(reply.kind, 'failed');
  if (reply.kind !== 'failed') return;
  const position = sourcePosition(program, reply.failure.line, reply.failure.column);
  const at = text.indexOf('member;');
  const before = text.slice(0, at).split('\n');
  assert.deepEqual(position, {
    file: `${folder}/schemas/page.full.ts`,
    line: before.length,
    column: (before.at(-1)?.length ?? 0) + 1,
  });
});

test('compile: code that the sandbox really rejects is reported with line and column', async () => {
  const cases: [string, RegExp, string][] = [
    ["return { a: eval('1') };", /eval runs a string as code/, '5:17'],
    ["return { a: new eval('1') };", /eval runs a string as code/, '5:21'],
    ["return { a: '<!--', b: import('./' + entity + '.ts') };", /must be a string in the code/, '5:35'],
    [`return require(\`./${placeholder('entity')}\`);`, /must be a string in the code/, '5:20'],
    ['<!-- a comment', /HTML/, '5:5'],
    ['1\n--> a comment', /HTML/, '6:1'],
  ];
  for (const [lines, message, place] of cases) {
    const { issues } = await compiled(schemaOf(lines));
    assert.deepEqual(
      issues.map(({ path }) => path),
      [place],
      `${lines} ${JSON.stringify(issues)}`,
    );
    assert.match(issues[0]?.message ?? '', message, lines);
  }
});

test('compile: a truncated file is reported at its end', async () => {
  const { issues } = await compiled('export default {\n  triggers');
  assert.deepEqual(
    issues.map(({ path }) => path),
    ['2:11'],
  );
});

test('compile: names are checked if only running the file fails', async () => {
  const { program, issues } = await compiled(
    schemaOf("return { a: context.reference('none') };", "throw new Error('on purpose');"),
  );
  assert.deepEqual(
    issues.map(({ message }) => message),
    ['on purpose'],
  );
  assert.deepEqual(
    program?.names.map(({ kind, name }) => [kind, name]),
    [
      ['source group', 'cms'],
      ['schema', 'none'],
    ],
  );
});

test('compile: esbuild reads no file, whatever is imported', async () => {
  const { build } = await startedEsbuild();
  for (const entry of ['/etc/passwd', './package.json', import.meta.filename]) {
    await assert.rejects(
      build({ entryPoints: [entry], bundle: true, write: false, logLevel: 'silent' }),
      /Could not resolve|not implemented/,
    );
  }
});

const schemas = (count: number, text: string) =>
  new Map([
    tenantFile,
    ...Array.from({ length: count }, (_, at): [string, string] => [`${folder}/schemas/s${at}.full.js`, text]),
  ]);

test('compile: the time that triggers take counts for the configuration, and the rest is not run', async () => {
  const endless = 'export default { triggers() { for (;;); }, properties: () => ({}) };';
  const { issues } = await compileCode(schemas(8, endless), 'preview');
  const ran = issues.filter(({ message }) => message.startsWith('the schema ran for more than'));
  assert.ok(ran.length >= 1 && ran.length <= 3, `${ran.length} were run`);
  assert.equal(issues.length, ran.length + 1);
  assert.equal(
    issues.at(-1)?.message,
    'the schemas before it took more than 2 s of processor time to compile and check',
  );
});

test('compile: if a tenant has too many schemas, none is compiled', async () => {
  const { documents, issues } = await compileCode(
    schemas(schemasMax + 1, schemaOf('return {};')),
    'configuration',
  );
  assert.deepEqual(
    issues.map(({ file, message }) => [file, message]),
    [[`${folder}/tenant.json`, 'has 5001 schemas; at most 5000 are allowed']],
  );
  assert.ok(![...documents.keys()].some((path) => path.includes('.compiled')));
});

test('compile: a reused compiler runs the triggers of each state of a file', async () => {
  keepCompiler();
  const groups: unknown[] = [];
  for (const group of ['cms', 'shop']) {
    const { program } = await compiled(schemaOf('return {};').replace('cms', group));
    groups.push(program?.triggers);
  }
  assert.deepEqual(groups, [[['cms', ['page']]], [['shop', ['page']]]]);
});
