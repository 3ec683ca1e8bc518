import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { documentsDigest, hashKeys } from '../../../src/config/documents/canonical.ts';
import { readDocuments } from '../../../src/config/documents/read-documents.ts';
import { hashKey } from '../../../src/config/tenant/api-keys.ts';
import { folderWith } from '../support/folder.ts';
import { documentsOf, pageSchema, siteTenant } from '../support/site.ts';

test('folder: reads tenant files and the three folders, without hidden files and notes', async (t) => {
  const folder = await folderWith(t, {
    'README.md': 'ours',
    'tenants/site/tenant.json': '{}',
    'tenants/site/NOTES.md': 'ours too',
    'tenants/site/.DS_Store': '',
    'tenants/site/schemas/page.json': '\uFEFF{"a": 1}',
    'tenants/site/schemas/.page.json.swp': '',
    'tenants/site/partials/card.json': '{}',
    'tenants/site/indexes/pages.json': '{}',
    'tenants/.git/x': '',
  });
  const { documents, issues } = await readDocuments(folder);
  assert.deepEqual(issues, []);
  assert.deepEqual([...documents.keys()].sort(), [
    'tenants/site/indexes/pages.json',
    'tenants/site/partials/card.json',
    'tenants/site/schemas/page.json',
    'tenants/site/tenant.json',
  ]);
  assert.equal(documents.get('tenants/site/schemas/page.json'), '{"a": 1}');
});

test('folder: backup and swap files of editors are ignored everywhere', async (t) => {
  const kept = ['tenants/site/tenant.json', 'tenants/site/schemas/Blog/page.json'];
  const left = kept.flatMap((file) => {
    const [folder, name] = [path.dirname(file), path.basename(file)];
    return [`${name}~`, `${name}.~1~`, `#${name}#`, `.${name}.swp`, `.#${name}`].map(
      (one) => `${folder}/${one}`,
    );
  });
  const files = [...kept, ...left, 'tenants/notes~'];
  const folder = await folderWith(t, Object.fromEntries(files.map((file) => [file, '{}'])));
  const { documents, issues } = await readDocuments(folder);
  assert.deepEqual(issues, []);
  assert.deepEqual([...documents.keys()].sort(), kept.sort());
});

test('folder: a folder and a file that only resemble those of editors are read, or reported', async (t) => {
  const folder = await folderWith(t, {
    'tenants/site/tenant.json': '{}',
    'tenants/site/schemas/old~/page.json': '{}',
    'tenants/site/schemas/#page.json': '{}',
    'tenants/site/schemas/page.json.bak': '{}',
  });
  const { documents, issues } = await readDocuments(folder);
  assert.deepEqual([...documents.keys()].sort(), [
    'tenants/site/schemas/old~/page.json',
    'tenants/site/tenant.json',
  ]);
  assert.deepEqual(
    issues.map(({ file }) => file),
    ['tenants/site/schemas/#page.json', 'tenants/site/schemas/page.json.bak'],
  );
});

test('folder: files in subfolders of schemas are read, and their extensions determine their kind', async (t) => {
  const files = [
    'page.full.json',
    'Blog posts/entry.json',
    'Blog posts/Parts/card.partial.json',
    'Blog posts/Parts/entries.index.json',
  ].map((file) => `tenants/site/schemas/${file}`);
  const folder = await folderWith(t, {
    'tenants/site/tenant.json': '{}',
    'tenants/site/schemas/.git/config': '',
    'tenants/site/schemas/empty/.keep': '',
    ...Object.fromEntries(files.map((file) => [file, '{}'])),
  });
  const { documents, issues } = await readDocuments(folder);
  assert.deepEqual(issues, []);
  assert.deepEqual([...documents.keys()].sort(), [...files, 'tenants/site/tenant.json'].sort());
});

test('folder: symbolic links are followed; broken and circular ones are issues', async (t) => {
  const folder = await folderWith(t, { 'elsewhere/tenant.json': '{}', 'tenants/.keep': '' });
  await symlink('../elsewhere', `${folder}/tenants/site`);
  await mkdir(`${folder}/elsewhere/schemas`);
  await symlink('nowhere.json', `${folder}/elsewhere/schemas/gone.json`);
  await symlink('self.json', `${folder}/elsewhere/schemas/self.json`);
  const { documents, issues } = await readDocuments(folder);
  assert.deepEqual([...documents.keys()], ['tenants/site/tenant.json']);
  assert.deepEqual(
    issues.map(({ file }) => file),
    ['tenants/site/schemas/gone.json', 'tenants/site/schemas/self.json'],
  );
});

test('folder: unexpected files are issues with a hint, all at once', async (t) => {
  const folder = await folderWith(t, {
    'tenants/loose.json': '',
    'tenants/bad name/tenant.json': '{}',
    'tenants/bare/schemas/page.json': '{}',
    'tenants/site/tenant.json': Buffer.from([0x7b, 0xff, 0x7d]),
    'tenants/site/schema/page.json': '{}',
    'tenants/site/tenants.json': '',
    'tenants/site/schemas/page.txt': '',
    'tenants/site/schemas/a.b.json': '{}',
    'tenants/site/schemas/page.ful.json': '{}',
    'tenants/site/schemas/.full.json': '{}',
    'tenants/site/schemas/one/two/three/page.json': '{}',
    'tenants/site/schemas/one/wh?t/page.json': '{}',
    'tenants/site/partials/page.partial.json': '{}',
    'tenants/site/partials/deeper/page.json': '{}',
    'tenants/site/indexes/large.json': ' '.repeat(5 * 1024 * 1024),
  });
  const { issues } = await readDocuments(folder);
  const messages = new Map(issues.map((issue) => [issue.file, `${issue.message}: ${issue.advice}`]));
  const expected: [string, RegExp][] = [
    ['tenants/loose.json', /is a file, not a folder/],
    ['tenants/bad name', /not a name for a tenant.*letters, digits/],
    ['tenants/bare/tenant.json', /missing/],
    ['tenants/site/tenant.json', /UTF-8/],
    ['tenants/site/schema', /Did you mean "schemas"/],
    ['tenants/site/tenants.json', /Did you mean "tenant.json"/],
    ['tenants/site/schemas/page.txt', /<alias>\.json/],
    ['tenants/site/schemas/a.b.json', /"a.b" is not an alias.*<alias>\.full\.json/],
    ['tenants/site/schemas/page.ful.json', /"page.ful" is not an alias/],
    ['tenants/site/schemas/one/two/three', /a folder that does not belong here.*at most 2 deep/],
    ['tenants/site/schemas/one/wh?t', /a folder that does not belong here.*cannot contain/],
    ['tenants/site/partials/page.partial.json', /"page.partial" is not an alias: Name it <alias>\.json\./],
    ['tenants/site/partials/deeper', /a folder that does not belong here.*only the folder schemas/],
    ['tenants/site/indexes/large.json', /larger than/],
  ];
  for (const [file, text] of expected) assert.match(messages.get(file) ?? 'no issue', text, file);
  assert.equal(issues.length, expected.length);
});

test('folder: a pipe is not opened', async (t) => {
  const folder = await folderWith(t, { 'tenants/site/schemas/.keep': '' });
  execFileSync('mkfifo', [`${folder}/tenants/site/tenant.json`]);
  const { issues } = await readDocuments(folder);
  assert.match(issues[0]?.message ?? '', /a thing that does not belong/);
});

test('folder: a missing folder is an issue that says what to do', async (t) => {
  const { issues } = await readDocuments(`${await folderWith(t, {})}/nowhere`);
  assert.deepEqual(
    issues.map(({ file, message }) => [file, message]),
    [['tenants', 'not found']],
  );
  assert.match(issues[0]?.advice ?? '', /CONFIG_DIR/);
});

test('folder: plain keys are hashed before they are sent, and hashed ones stay', () => {
  const path = 'tenants/site/tenant.json';
  const hashed = hashKey('client-key');
  const documents = documentsOf({
    [path]: siteTenant({ misplaced: { apiKeys: ['third-key', hashed.toUpperCase()] } }),
  });
  const text = hashKeys(documents).get(path) ?? '';
  for (const key of ['source-key', 'client-key', 'third-key']) {
    assert.ok(!text.includes(key));
    if (key !== 'third-key') assert.ok(text.includes(hashKey(key)));
  }
  assert.deepEqual(hashKeys(hashKeys(documents)), hashKeys(documents));
});

test('folder: invalid documents and unusable keys are passed on for the loader to reject', () => {
  const documents = documentsOf({
    'tenants/a/tenant.json': '{"apiKeys": ["plain"]',
    'tenants/b/tenant.json': '{"apiKeys":["","with space","sha256:12"]}',
  });
  assert.deepEqual(hashKeys(documents), documents);
});

test('folder: the digest depends on everything relevant, and not on white space, file order or the form of keys', () => {
  const tenant = 'tenants/site/tenant.json';
  const schema = 'tenants/site/schemas/page.json';
  const documents = documentsOf({ [tenant]: siteTenant(), [schema]: pageSchema });
  const rewritten = documentsOf({
    [schema]: JSON.stringify(pageSchema, null, 2),
    [tenant]: JSON.stringify(Object.fromEntries(Object.entries(siteTenant()).reverse()), null, '\t'),
  });
  assert.equal(documentsDigest(rewritten), documentsDigest(documents));
  assert.equal(documentsDigest(hashKeys(documents)), documentsDigest(documents));
  const reordered = documentsOf({
    [tenant]: siteTenant(),
    [schema]: { ...pageSchema, properties: { b: 'x', a: 'y' } },
  });
  const ordered = documentsOf({
    [tenant]: siteTenant(),
    [schema]: { ...pageSchema, properties: { a: 'y', b: 'x' } },
  });
  assert.notEqual(documentsDigest(reordered), documentsDigest(ordered));
  assert.notEqual(documentsDigest(documentsOf({ [tenant]: siteTenant() })), documentsDigest(documents));
});
