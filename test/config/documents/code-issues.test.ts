/** Errors in JavaScript schemas: file, line, column, and what to do. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { readConfiguration } from '../../../src/config/documents/read-documents.ts';
import { codeProgramsCharactersMax } from '../../../src/contract/limits.ts';
import { siteTenant } from '../support/site.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'millrace-code-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const triggers = "triggers(context) { context.triggers('cms', ['page']); },";
const sound = `export default { ${triggers} properties: () => ({}) };`;

let folders = 0;

/** Errors, or warnings if there are none. */
async function issuesOf(
  files: Readonly<Record<string, string>>,
  link?: readonly [target: string, at: string],
) {
  folders += 1;
  const dir = path.join(folder, String(folders));
  const all = { 'tenant.json': JSON.stringify(siteTenant()), ...files };
  for (const [file, text] of Object.entries(all)) {
    const place = path.join(dir, 'tenants/site', file);
    mkdirSync(path.dirname(place), { recursive: true });
    writeFileSync(place, text);
  }
  if (link !== undefined) symlinkSync(link[0], path.join(dir, 'tenants/site', link[1]));
  const outcome = await readConfiguration(dir);
  return outcome.ok ? outcome.warnings : outcome.issues;
}

/** Lines `file path message`. */
async function reported(...given: Parameters<typeof issuesOf>): Promise<string[]> {
  const issues = await issuesOf(...given);
  return issues.map(
    ({ file, path: place, message }) => `${file.replace('tenants/site/', '')} ${place} ${message}`,
  );
}

test('code issues: the hint about imports is given only for imports', async () => {
  const adviceOn = async (code: string) =>
    (await issuesOf({ 'schemas/a.full.js': code })).map(({ advice }) => advice);
  assert.deepEqual(await adviceOn('export default {'), ['Correct the code there.']);
  const [advice] = await adviceOn(`import fs from 'node:fs';\n${sound}`);
  assert.match(advice ?? '', /relative path/);
});

test('code issues: an error in code is reported with file, line and column', async () => {
  const cases: [string, Readonly<Record<string, string>>, string[]][] = [
    ...(
      [
        ['/(/', 'Invalid regular expression: /(/: Unterminated group'],
        ['/(?i:a)/', 'Invalid regular expression: /(?i:a)/: Invalid group'],
      ] as const
    ).map(([pattern, message]): [string, Readonly<Record<string, string>>, string[]] => [
      pattern,
      { 'schemas/a.full.js': `${sound}\n\nexport const pattern = 1 ? ${pattern} : 0;` },
      [`schemas/a.full.js 3:28 ${message}`],
    ]),
    [
      'a line for the shell',
      { 'schemas/a.full.js': `#!/usr/bin/env node\n${sound}` },
      ["schemas/a.full.js $ Unexpected character '!'"],
    ],
    [
      'members and calls that every object has',
      {
        'schemas/a.full.js': sound.replace(
          'properties:',
          'valueOf(entity, context) { return context.toString(entity) + context.constructor("x"); }, properties:',
        ),
      },
      [],
    ],
    [
      'syntax',
      { 'schemas/a.full.js': 'export default {\n  a b\n};' },
      ['schemas/a.full.js 2:5 Expected "}" but found "b"'],
    ],
    [
      'no default',
      { 'schemas/a.full.js': 'export const a = 1;' },
      ['schemas/a.full.js $ the default export is missing'],
    ],
    [
      'it throws',
      {
        'schemas/a.full.ts':
          'interface A { a: string }\nconst a = null as unknown as A;\nexport default { b: a.a };',
      },
      ["schemas/a.full.ts 3:23 Cannot read properties of null (reading 'a')"],
    ],
    [
      'members of context',
      {
        'schemas/a.full.js': `export default {\n  ${triggers}\n  routes(entity, context) {\n    context.urll('/');\n  },\n  properties(entity, { lookup, partiall }) { return {}; },\n};`,
      },
      [
        'schemas/a.full.js 4:13 context has no member "urll" in routes',
        'schemas/a.full.js 6:32 context has no member "partiall" in properties',
      ],
    ],
    [
      'an unknown group, in a file that is imported',
      {
        'schemas/a.full.js': `import { find } from '../lib/find.js';\nexport default { ${triggers} properties: (entity, context) => find(context) };`,
        'lib/find.ts':
          "export const find = (context) => ({\n  a: context.lookup('type eq 1').sourceGroup('cmss'),\n});",
      },
      ['lib/find.ts 2:46 unknown source group "cmss"'],
    ],
    [
      'triggers of an unknown group',
      {
        'schemas/a.full.js':
          "export default {\n  triggers(context) { context.triggers('cmss', ['page']); },\n};",
      },
      ['schemas/a.full.js 2:40 unknown source group "cmss"'],
    ],
    [
      'no triggers',
      { 'schemas/a.full.js': 'export default { properties: () => ({}) };' },
      ['schemas/a.full.js $ the function triggers(context) is missing'],
    ],
    [
      'a filter',
      {
        'schemas/a.full.js': `export default { ${triggers}\n  properties: (entity, context) => ({ a: context.lookup('type eqq 1') }) };`,
      },
      ['schemas/a.full.js 2:57 at character 6: there is no operator `eqq`'],
    ],
    [
      'a package',
      { 'schemas/a.full.js': `import fs from 'node:fs';\n${sound}` },
      ['schemas/a.full.js 1:16 packages cannot be imported: "node:fs"'],
    ],
    [
      'outside',
      { 'schemas/a.full.js': `import a from '../../other/a.js';\n${sound}` },
      ['schemas/a.full.js 1:15 "../../other/a.js" is outside the tenant\'s folder'],
    ],
    [
      'not there',
      { 'schemas/a.full.js': `import a from './b.js';\n${sound}` },
      ['schemas/a.full.js 1:15 there is no file "./b.js"'],
    ],
    [
      'two with one alias',
      { 'schemas/a.full.js': sound, 'schemas/a.json': JSON.stringify({ triggers: {}, properties: {} }) },
      ['schemas/a.json $ "a" is the alias of two files of the kind schemas'],
    ],
    [
      'an index without fields',
      { 'schemas/a.index.js': sound },
      ['schemas/a.index.js $.index must be an object, is missing'],
    ],
    [
      'a file that nothing imports',
      { 'schemas/a.full.js': sound, 'schemas/helper.js': '' },
      ['schemas/helper.js $ not a name for a schema file'],
    ],
    [
      'unknown aliases are warnings',
      {
        'schemas/a.full.js': `export default { ${triggers}\n  properties: (entity, context) => ({ a: context.reference('nope').self(), b: context.partial('none', 1) }) };`,
      },
      [
        'schemas/a.full.js 2:60 there is no schema "nope"',
        'schemas/a.full.js 2:95 there is no partial "none"',
      ],
    ],
    [
      'unknown aliases in constants and choices',
      {
        'schemas/a.full.js': `const card = 'crad';
let either = 'a'; either = 'b';
export default { ${triggers}
  properties: (entity, context) => ({ a: context.reference(card).self(), b: context.reference(either).self() }),
  actions(entity, context) {
    context.reprocess(entity.p ? 'a' : 'aa');
    context.destination('hoook');
    ((card) => context.reprocess(card))('a');
  } };`,
      },
      [
        'schemas/a.full.js 4:60 there is no schema "crad"',
        'schemas/a.full.js 6:40 there is no schema "aa"',
        'schemas/a.full.js 7:25 there is no webhook "hoook"',
      ],
    ],
    ['sound', { 'schemas/a.full.js': sound }, []],
  ];
  for (const [name, files, expected] of cases) assert.deepEqual(await reported(files), expected, name);
});

test('code issues: types that code triggers on count as named, in either language', async () => {
  const code = (type: string) =>
    `export default { triggers: (context) => context.triggers('cms', ['${type}']), properties: () => ({}) };`;
  const json = (...types: string[]) => JSON.stringify({ triggers: { cms: types }, properties: {} });
  assert.deepEqual(
    await reported({ 'schemas/a.json': json('article'), 'schemas/b.full.ts': code('artcle') }),
    ['schemas/b.full.ts $.triggers no other schema of source group "cms" names the entity type "artcle"'],
  );
  // There is no warning about `author`, because code names it too.
  const files = { 'schemas/a.json': json('authors', 'author'), 'schemas/b.json': json('authors') };
  assert.equal((await reported(files)).length, 1);
  assert.deepEqual(await reported({ ...files, 'schemas/c.full.js': code('author') }), []);
});

test('code issues: programs that are too large together are rejected once, even if imports inflate small files', async () => {
  const large = `export const text = '${'x'.repeat(codeProgramsCharactersMax / 4)}';`;
  const importing = `import { text } from '../lib/large.js';\nexport default { ${triggers} properties: () => ({ text }) };`;
  const schemas = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, number) => [`schemas/s${number}.full.js`, importing]),
    );
  assert.deepEqual(await reported({ 'lib/large.js': large, ...schemas(3) }), []);
  const issues = await issuesOf({ 'lib/large.js': large, ...schemas(6) });
  assert.deepEqual(
    issues.map(({ file, message }) => `${file} ${message}`),
    [
      'tenants/site/schemas/s3.full.js with it the programs of tenant "site" have more than 8388608 characters',
    ],
  );
  assert.match(issues[0]?.advice ?? '', /each schema contains everything that it imports/i);
});

test('code issues: a link that leads out of the folder is not imported', async () => {
  const outside = path.join(folder, 'outside.js');
  writeFileSync(outside, 'export default 1;');
  const files = { 'schemas/a.full.js': `import a from './link.js';\n${sound}` };
  const [first] = await reported(files, [outside, 'schemas/link.js']);
  assert.match(first ?? '', /1:15 "\.\/link\.js" is a link to a file outside the tenant's folder/);
});

test('code issues: the tenant file is not imported, by any path', async () => {
  const secret = 'whsec_c2VjcmV0';
  const importing = (target: string) =>
    `import file from '${target}';\nexport default { triggers() { throw new Error(JSON.stringify(file)); }, properties: () => ({}) };`;
  const tenant = { 'tenant.json': JSON.stringify({ ...siteTenant(), secret }) };
  for (const target of ['../tenant.json', '../tenant', './../schemas/../tenant.json']) {
    const lines = await reported({ ...tenant, 'schemas/a.full.js': importing(target) });
    const refused = `schemas/a.full.js 1:18 "${target}" contains secrets and cannot be imported`;
    assert.ok(lines.includes(refused), lines.join('\n'));
    assert.ok(!lines.join().includes(secret));
  }
  const ofLink = { ...tenant, 'lib/other.json': '1', 'schemas/a.full.js': importing('../lib/link.json') };
  const linked = await reported(ofLink, ['../tenant.json', 'lib/link.json']);
  assert.ok(
    linked.some((line) => line.endsWith('"../lib/link.json" contains secrets and cannot be imported')),
  );
  assert.ok(!linked.join().includes(secret));
});
