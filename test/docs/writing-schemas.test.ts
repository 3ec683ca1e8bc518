/** The examples of "Writing schemas" are compiled against the types that they import, and run. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { compileCode } from '../../src/config/code/compile-code.ts';
import { Sandbox } from '../../src/sandbox/sandbox.ts';
import { type CodeReply, type ProgramKind, programName } from '../../src/schemas/build/code-call.ts';
import { lookupText } from '../../src/schemas/code/code-lookup.ts';
import type { CodeProgram } from '../../src/schemas/code/program.ts';
import { compilerSays } from '../support/type-check.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(path.join(root, 'docs/guide/writing-schemas.md'), 'utf8');

interface Example {
  readonly language: string;
  readonly kind: ProgramKind;
  readonly text: string;
}

const examples: readonly Example[] = [
  ...page.matchAll(/```(ts|js) (full|partial|index)\n([\s\S]*?)```/g),
].map(([, language = '', kind, text = '']) => ({ language, kind: kind as ProgramKind, text }));

const names: Readonly<Record<ProgramKind, string>> = { full: 'article', partial: 'seo', index: 'articles' };
const fileOf = ({ kind, language }: Example) => `${names[kind]}.${kind}.${language}`;

const sandbox = new Sandbox();
after(() => sandbox.close());

test('writing schemas: there is an example of each kind', async () => {
  assert.deepEqual(examples.map(({ kind }) => kind).sort(), ['full', 'index', 'partial']);
});

test('writing schemas: the examples agree with the types of millrace/schema, and invalid ones do not', async () => {
  // Inside the package, so that its own name resolves to its types.
  const folder = mkdtempSync(path.join(root, 'test/docs/support/examples-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const options = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--allowJs',
    '--checkJs',
  ];
  const full = examples.find(({ kind }) => kind === 'full')?.text ?? '';
  const texts = new Map(examples.map((example) => [fileOf(example), example.text]));
  texts.set('wrong.full.ts', full.replace('context.handle(', 'context.handel('));
  for (const [file, text] of texts) writeFileSync(path.join(folder, file), text);
  const said = await compilerSays([...options, ...texts.keys()], folder);
  const errors = said.split('\n').filter((line) => line.includes(': error '));
  assert.equal(errors.length, 1, said);
  assert.match(errors[0] ?? '', /^wrong\.full\.ts\(.*handel/);
});

test('writing schemas: the examples run', async () => {
  const documents = new Map(
    examples.map((example) => [`tenants/site/schemas/${fileOf(example)}`, example.text] as const),
  );
  const { documents: compiled, issues } = await compileCode(documents, 'configuration');
  assert.deepEqual(issues, []);
  const programs: CodeProgram[] = [...compiled]
    .filter(([file]) => file.includes('/.compiled/'))
    .map(([, text]) => JSON.parse(text));
  const set = {
    id: 'examples',
    owner: 'site',
    programs: new Map(programs.map(({ kind, alias, code }) => [programName(kind, alias), code])),
  };
  const entity = {
    sourceId: 'gid://Source/s',
    id: 'gid://Source/s/Entity/a',
    type: 'article',
    originId: 'a',
    originParentId: null,
    url: null,
    updatedAt: '2020-01-01T00:00:00.000Z',
    redirects: [],
    properties: { title: 'One', slug: 'one', tag: "it's", authorId: 'ann', published: '2020-02-02' },
  };
  const run = async (task: ProgramKind, answers = new Map<string, string>()): Promise<CodeReply> => {
    const [reply] = await sandbox.run([
      { set, task, alias: names[task], input: JSON.stringify(entity), answers, spentMs: 0 },
    ]);
    assert.ok(reply !== undefined);
    return reply;
  };
  const asks = await run('full');
  assert.ok(asks.kind === 'asks', JSON.stringify(asks));
  const answers = new Map(asks.lookups.map((lookup) => [lookupText(lookup), '[]']));
  const view = await run('full', answers);
  assert.ok(view.kind === 'made', JSON.stringify(view));
  assert.deepEqual(view.handles, ['article-a']);
  assert.deepEqual(view.urls, [{ url: '/articles/one', redirects: null }]);
  assert.equal(
    view.value.texts.join('null'),
    '{"title":"One","related":[],"author":null,"comments":null,"seo":{"title":"One | Example","description":null}}',
  );
  const item = await run('index');
  assert.ok(item.kind === 'made', JSON.stringify(item));
  assert.equal(item.value.texts[0], '{"title":"One","published":"2020-02-02T00:00:00.000Z"}');
});
