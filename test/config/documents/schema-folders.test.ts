/** Schema files in subfolders of `schemas`, and with extensions that determine their kind. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDocumentPath } from '../../../src/config/document-path.ts';
import type { JsonObject } from '../../../src/contract/json.ts';
import { type Files, issuesOf, load, site, warningsOf } from '../support/loading.ts';
import { pageSchema } from '../support/site.ts';

const card: JsonObject = { properties: { headline: '{title}' } };
const pages: JsonObject = {
  triggers: { cms: ['page'] },
  index: { fields: { title: { type: 'text' } } },
  properties: { title: '{p.title}' },
};
const withCard: JsonObject = {
  triggers: { cms: ['page'] },
  properties: { card: { type: 'partial', input: '{p}', alias: 'card' } },
};

function under(folder: string, files: Record<string, JsonObject>): Files {
  const entries = Object.entries(files).map(([name, json]) => [`tenants/site/${folder}/${name}`, json]);
  return site({}, Object.fromEntries(entries));
}

test('schema folders: an alias includes neither its folders nor its extension', () => {
  const files = under('schemas', {
    'page.full.json': pageSchema,
    'Blog/entry.json': withCard,
    'Blog/Parts and more/card.partial.json': card,
    'Blog/Parts and more/pages.index.json': pages,
  });
  const tenant = load(files).tenants.get('site');
  assert.deepEqual([...(tenant?.schemas.keys() ?? [])].sort(), ['entry', 'page']);
  assert.deepEqual([...(tenant?.partials.keys() ?? [])], ['card']);
  assert.deepEqual([...(tenant?.indexes.keys() ?? [])], ['pages']);
  assert.deepEqual(warningsOf(files), []);
});

test('schema folders: moving a schema into a folder does not change it', () => {
  const flat = load(under('schemas', { 'page.json': pageSchema }))
    .tenants.get('site')
    ?.schemas.get('page');
  const moved = load(under('schemas', { 'a/b/page.full.json': pageSchema }))
    .tenants.get('site')
    ?.schemas.get('page');
  assert.ok(flat && moved);
  assert.equal(moved.digest, flat.digest);
});

test('schema folders: two files of one kind with the same alias are an error that names both; of two kinds they are separate', () => {
  const twice: Files = {
    ...under('schemas', {
      'Blog/page.full.json': pageSchema,
      'page.json': pageSchema,
      'card.partial.json': card,
    }),
    'tenants/site/partials/card.json': card,
  };
  const found = issuesOf(twice).map(
    ({ file, path, message, advice }) => `${file} ${path} ${message} ${advice}`,
  );
  assert.equal(found.length, 2, found.join('\n'));
  assert.match(
    found[0] ?? '',
    /schemas\/card\.partial\.json \$ .*"card".* tenants\/site\/partials\/card\.json/,
  );
  assert.match(
    found[1] ?? '',
    /schemas\/page\.json \$ .*"page".* tenants\/site\/schemas\/Blog\/page\.full\.json/,
  );
  load(
    under('schemas', { 'page.full.json': pageSchema, 'page.partial.json': card, 'page.index.json': pages }),
  );
});

test('schema folders: no path leads out of the configuration, or to a hidden file', () => {
  const nowhere = [
    '../page.json',
    '../../page.json',
    'a/../page.json',
    './page.json',
    '/page.json',
    '.git/page.json',
    'a\\b/page.json',
    'a\u0000/page.json',
    `${'a'.repeat(101)}/page.json`,
    'a/b/c/page.json',
    'a/.json',
    'a/.full.json',
    'page.Full.json',
    'page.full.json.bak',
  ];
  for (const path of nowhere) {
    assert.equal(parseDocumentPath(`tenants/site/schemas/${path}`), null, path);
    const [issue] = issuesOf(site({}, { [`tenants/site/schemas/${path}`]: pageSchema }));
    assert.match(issue?.message ?? '', /not a place/, path);
  }
  for (const path of ['partials/a/card.json', 'indexes/a/pages.json', 'partials/card.partial.json']) {
    assert.equal(parseDocumentPath(`tenants/site/${path}`), null, path);
  }
  const place = { kind: 'indexes', tenant: 'site', alias: 'pages', language: 'json' };
  assert.deepEqual(parseDocumentPath('tenants/site/schemas/Über uns/x/pages.index.json'), place);
});
