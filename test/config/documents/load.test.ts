/** The result of loading a valid configuration. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashKeys } from '../../../src/config/documents/canonical.ts';
import { loadConfiguration } from '../../../src/config/documents/load.ts';
import { hashKey } from '../../../src/config/tenant/api-keys.ts';
import type { JsonObject } from '../../../src/contract/json.ts';
import { client, issuesOf, load, site, source } from '../support/loading.ts';
import { documentsOf, pageSchema, siteTenant } from '../support/site.ts';

test('load: a valid configuration loads the same with plain and with hashed keys', () => {
  const documents = documentsOf(site({}, { 'tenants/site/schemas/page.json': pageSchema }));
  const plain = loadConfiguration(documents);
  const hashed = loadConfiguration(hashKeys(documents));
  assert.ok(plain.ok && hashed.ok);
  assert.equal(plain.configuration.digest, hashed.configuration.digest);
  assert.equal(plain.keyCount, 2);
  assert.deepEqual(plain.warnings, []);
  for (const { configuration } of [plain, hashed]) {
    const tenant = configuration.tenants.get('site');
    assert.ok(tenant);
    assert.deepEqual(tenant.environments, [{ id: 'env-1', alias: 'production' }]);
    assert.equal(tenant.sources.get('src-1')?.name, 'CMS');
    assert.equal(configuration.authenticate('source-key')?.kind, 'source');
    assert.equal(configuration.authenticate('client-key')?.kind, 'client');
  }
});

test('load: a key identifies its source or client, in its tenant, with its scopes and domains', () => {
  const other = siteTenant({
    sourceGroups: [
      {
        alias: 'cms',
        sources: [source({ apiKeys: [hashKey('other-source').toUpperCase()] })],
      },
    ],
    environmentClients: [client({ scopes: ['query'], apiKeys: ['other-client'] })],
    domains: [],
  });
  const { authenticate } = load(site({}, { 'tenants/other/tenant.json': other }));
  const sourcePrincipal = authenticate('other-source');
  assert.ok(sourcePrincipal?.kind === 'source');
  assert.equal(sourcePrincipal.tenant.alias, 'other');
  assert.equal(sourcePrincipal.source.name, 'src-1');
  const narrow = authenticate('other-client');
  assert.ok(narrow?.kind === 'client');
  assert.deepEqual([...narrow.scopes], ['query']);
  assert.deepEqual(narrow.domains, [{ alias: 'default', hostnames: ['*'] }]);
  assert.equal(narrow.name, 'client 1');
  const website = authenticate('client-key');
  assert.ok(website?.kind === 'client');
  assert.equal(website.tenant.alias, 'site');
  assert.equal(website.environment.id, 'env-1');
  assert.deepEqual([...website.scopes], ['delivery', 'routes', 'query', 'source', 'changes']);
  assert.deepEqual(website.domains, [{ alias: 'site', hostnames: ['www.example.com', '*'] }]);
});

test('load: an unknown key identifies nobody', () => {
  const { authenticate } = load(site({}));
  for (const key of [
    '',
    'Source-key',
    'source-key ',
    hashKey('source-key'),
    '__proto__',
    'x'.repeat(1_000_000),
    '\ud800',
  ]) {
    assert.equal(authenticate(key), null);
  }
});

test('load: tenants can use the same ids, aliases and hostnames', () => {
  const twin = siteTenant({
    sourceGroups: [{ alias: 'cms', sources: [source({ apiKeys: ['twin'] })] }],
    environmentClients: [],
  });
  assert.deepEqual(issuesOf(site({}, { 'tenants/twin/tenant.json': twin })), []);
});

test('load: a source group and an environment identify one source', () => {
  const configuration = load(
    site({
      environments: [
        { id: 'env-1', alias: 'production' },
        { id: 'env-2', alias: 'test' },
      ],
      sourceGroups: [
        {
          alias: 'cms',
          autoIndex: true,
          sources: [source({}), source({ id: 'src-2', environments: ['test'] })],
        },
        { alias: 'pim', sources: [source({ id: 'src-3', environments: ['production', 'test'] })] },
      ],
    }),
  );
  const tenant = configuration.tenants.get('site');
  assert.equal(tenant?.sourceIn('cms', 'env-1')?.id, 'src-1');
  assert.equal(tenant?.sourceIn('cms', 'env-2')?.id, 'src-2');
  assert.equal(tenant?.sourceIn('pim', 'env-2')?.id, 'src-3');
  assert.equal(tenant?.sourceIn('pim', 'env-3'), null);
  assert.equal(tenant?.sourceIn('dam', 'env-1'), null);
  assert.equal(tenant?.sourceGroups.get('cms')?.autoIndex, true);
  assert.equal(tenant?.sourceGroups.get('pim')?.autoIndex, false);
});

test('load: schemas are found by source group and type, in the order of their aliases', () => {
  const schema = (types: string[]): JsonObject => ({ triggers: { cms: types }, properties: { a: 'x' } });
  const index: JsonObject = { ...schema(['page']), index: { fields: { a: { type: 'keyword' } } } };
  const tenant = load(
    site(
      {},
      {
        'tenants/site/schemas/b.json': schema(['page', 'article']),
        'tenants/site/schemas/a.json': schema(['page']),
        'tenants/site/indexes/pages.json': index,
      },
    ),
  ).tenants.get('site');
  const aliases = (found: readonly { alias: string }[] | undefined) => found?.map(({ alias }) => alias);
  assert.deepEqual(aliases(tenant?.schemasFor('cms', 'page')), ['a', 'b']);
  assert.deepEqual(aliases(tenant?.schemasFor('cms', 'article')), ['b']);
  assert.deepEqual(aliases(tenant?.schemasFor('cms', 'Page')), []);
  assert.deepEqual(aliases(tenant?.schemasFor('pim', 'page')), []);
  assert.deepEqual(aliases(tenant?.schemasFor('__proto__', 'constructor')), []);
  assert.deepEqual(aliases(tenant?.indexesFor('cms', 'page')), ['pages']);
});

test('load: types of any source group trigger in every group, and a lookup without a group reads each', () => {
  const listed = {
    type: 'array',
    input: { $lookup: { filter: 'originParentId eq {originId}', orderBy: { property: 'p.rank' } } },
  };
  const group = (alias: string) => ({ alias, sources: [source({ id: `src-${alias}`, apiKeys: [alias] })] });
  const { tenants } = load({
    'tenants/site/tenant.json': siteTenant({ sourceGroups: [group('cms'), group('pim')] }),
    'tenants/site/schemas/page.json': { sourceEntityTypes: ['page'], properties: { listed } },
    'tenants/site/indexes/pages.json': {
      sourceEntityTypes: ['page'],
      triggers: { pim: ['product'] },
      index: { fields: { title: { type: 'text' } } },
      properties: { title: '{p.title}' },
    },
  });
  const tenant = tenants.get('site');
  assert.ok(tenant);
  for (const alias of ['cms', 'pim']) {
    assert.deepEqual(
      tenant.schemasFor(alias, 'page').map((schema) => schema.alias),
      ['page'],
    );
    assert.equal(tenant.indexesFor(alias, 'page').length, 1);
    assert.equal(tenant.indexesFor(alias, 'product').length, alias === 'pim' ? 1 : 0);
    assert.ok(tenant.lookupLayouts.has(`src-${alias}`));
  }
});

test('load: every source of a group that a lookup reads has a layout, and no other source', () => {
  const lookup = (from: JsonObject): JsonObject => ({
    type: 'array',
    input: {
      $lookup: { operator: 'equals', sourceEntityProperty: 'kind', matchValue: '{originId}', ...from },
    },
  });
  const tenant = load(
    site(
      {
        sourceGroups: ['cms', 'pim', 'dam'].map((alias) => ({
          alias,
          sources: [source({ id: `src-${alias}` })],
        })),
      },
      {
        'tenants/site/schemas/page.json': { triggers: { cms: ['page'] }, properties: { a: lookup({}) } },
        'tenants/site/schemas/product.json': {
          triggers: { cms: ['x'] },
          properties: { a: lookup({ source: 'pim' }) },
        },
      },
    ),
  ).tenants.get('site');
  assert.deepEqual([...(tenant?.lookupLayouts.keys() ?? [])].sort(), ['src-cms', 'src-pim']);
});

test('load: names on Object.prototype are ordinary names', () => {
  const tenant = load({
    'tenants/__proto__/tenant.json': `{
      "environments": [{"id": "__proto__", "alias": "constructor"}],
      "sourceGroups": [{"alias": "__proto__",
        "sources": [{"id": "constructor", "environments": ["constructor"], "apiKeys": ["toString"]}]}]
    }`,
    'tenants/__proto__/schemas/__proto__.json':
      '{"triggers": {"__proto__": ["valueOf"]}, "properties": {"__proto__": "x"}}',
  }).tenants.get('__proto__');
  assert.equal(tenant?.sourceIn('__proto__', '__proto__')?.id, 'constructor');
  assert.equal(tenant?.schemasFor('__proto__', 'valueOf')[0]?.alias, '__proto__');
  assert.deepEqual(
    issuesOf(site({}, { 'tenants/site/schemas/a.json': '{"triggers": {"toString": []}, "properties": {}}' }))
      .length,
    1,
  );
});
