/** Error messages for invalid configurations. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfiguration } from '../../../src/config/documents/load.ts';
import { hashKey } from '../../../src/config/tenant/api-keys.ts';
import { client, type Files, issuesOf, site, source, warningsOf } from '../support/loading.ts';
import { documentsOf, pageSchema, siteTenant } from '../support/site.ts';

test('config issues: every error is reported with file, path, message and hint', () => {
  const cases: [string, Files, string, string, RegExp, RegExp][] = [
    [
      'tenant.json',
      site({ domain: [] }),
      'tenant.json',
      '$.domain',
      /unknown key "domain"/,
      /Did you mean "domains"/,
    ],
    [
      'tenant.json',
      { 'tenants/site/tenant.json': '[]' },
      'tenant.json',
      '$',
      /must be an object/,
      /environments/,
    ],
    ['tenant.json', { 'tenants/site/tenant.json': '{' }, 'tenant.json', '$', /line 1, column 2/, /bracket/],
    [
      'no tenant.json',
      { 'tenants/site/schemas/a.json': pageSchema },
      'tenant.json',
      '$',
      /missing/,
      /tenant has one/,
    ],
    [
      'environment id',
      site({ environments: [{ id: 'a/b', alias: 'production' }] }),
      'tenant.json',
      '$.environments[0].id',
      /not an id/,
      /letters/,
    ],
    [
      'environment alias',
      site({ environments: [{ id: 'a', alias: 'pro duction' }] }),
      'tenant.json',
      '$.environments[0].alias',
      /not an alias/,
      /letters/,
    ],
    [
      'no id',
      site({ environments: [{ alias: 'production' }] }),
      'tenant.json',
      '$.environments[0].id',
      /missing/,
      /string/,
    ],
    [
      'long id',
      site({ environments: [{ id: 'a'.repeat(101), alias: 'production' }] }),
      'tenant.json',
      '$.environments[0].id',
      /not an id/,
      /100/,
    ],
    [
      'environment id twice',
      site({
        environments: [
          { id: 'a', alias: 'production' },
          { id: 'a', alias: 'b' },
        ],
      }),
      'tenant.json',
      '$.environments[1].id',
      /"a" appears twice/,
      /\$\.environments\[0\]\.id/,
    ],
    [
      'environment alias twice',
      site({
        environments: [
          { id: 'a', alias: 'production' },
          { id: 'b', alias: 'production' },
        ],
      }),
      'tenant.json',
      '$.environments[1].alias',
      /twice/,
      /rename/,
    ],
    [
      'group alias twice',
      site({ sourceGroups: [{ alias: 'cms' }, { alias: 'cms' }] }),
      'tenant.json',
      '$.sourceGroups[1].alias',
      /source group "cms" appears twice/,
      /rename/,
    ],
    [
      'source id twice',
      site({
        sourceGroups: [
          { alias: 'a', sources: [source({})] },
          { alias: 'b', sources: [source({})] },
        ],
      }),
      'tenant.json',
      '$.sourceGroups[1].sources[0].id',
      /source id "src-1" appears twice/,
      /sourceGroups\[0\]/,
    ],
    [
      'environment of a source',
      site({ sourceGroups: [{ alias: 'a', sources: [source({ environments: ['prodution'] })] }] }),
      'tenant.json',
      '$.sourceGroups[0].sources[0].environments[0]',
      /unknown environment "prodution"/,
      /Did you mean "production"/,
    ],
    [
      'environments missing',
      site({ sourceGroups: [{ alias: 'a', sources: [{ id: 'x' }] }] }),
      'tenant.json',
      '$.sourceGroups[0].sources[0].environments',
      /missing/,
      /aliases/,
    ],
    [
      'environment used twice',
      site({ sourceGroups: [{ alias: 'a', sources: [source({ name: 'One' }), source({ id: 'src-2' })] }] }),
      'tenant.json',
      '$.sourceGroups[0].sources[1].environments[0]',
      /used by source "One"/,
      /at most one source/,
    ],
    [
      'autoIndex',
      site({ sourceGroups: [{ alias: 'a', autoIndex: 'yes' }] }),
      'tenant.json',
      '$.sourceGroups[0].autoIndex',
      /true or false, is a string/,
      /without quotes/,
    ],
    [
      'sources',
      site({ sourceGroups: [{ alias: 'a', sources: {} }] }),
      'tenant.json',
      '$.sourceGroups[0].sources',
      /must be a list, is an object/,
      /\[ \]/,
    ],
    [
      'unknown key of a source',
      site({ sourceGroups: [{ alias: 'a', sources: [source({ apikeys: [] })] }] }),
      'tenant.json',
      '$.sourceGroups[0].sources[0].apikeys',
      /unknown key/,
      /"apiKeys"/,
    ],
    [
      'hostname',
      site({ domains: [{ alias: 'site', hostnames: ['https://a.com'] }] }),
      'tenant.json',
      '$.domains[0].hostnames[0]',
      /not a hostname/,
      /no scheme, port/,
    ],
    [
      'wildcard',
      site({ domains: [{ alias: 'site', hostnames: ['*.a.com'] }] }),
      'tenant.json',
      '$.domains[0].hostnames[0]',
      /not a hostname/,
      /wildcard/,
    ],
    [
      'origin with a path',
      site({ environmentClients: [{ environment: 'production', origins: ['https://a.com/'] }] }),
      'tenant.json',
      '$.environmentClients[0].origins[0]',
      /is not an origin/,
      /the scheme, the host.*leave "origins" out/,
    ],
    [
      'origin of everybody',
      site({ environmentClients: [{ environment: 'production', origins: ['*'] }] }),
      'tenant.json',
      '$.environmentClients[0].origins[0]',
      /is not an origin/,
      /the scheme, the host.*leave "origins" out/,
    ],
    [
      'half a label',
      site({ environmentClients: [{ environment: 'production', origins: ['https://a*.com'] }] }),
      'tenant.json',
      '$.environmentClients[0].origins[0]',
      /is not an origin/,
      /the scheme, the host.*leave "origins" out/,
    ],
    [
      'key in the place of an origin',
      site({ environmentClients: [{ environment: 'production', origins: ['a-secret'] }] }),
      'tenant.json',
      '$.environmentClients[0].origins[0]',
      /is not an origin/,
      /the scheme, the host.*leave "origins" out/,
    ],
    [
      'a line end in cacheControl',
      site({
        environmentClients: [{ environment: 'production', cacheControl: 'public\r\nSet-Cookie: a=b' }],
      }),
      'tenant.json',
      '$.environmentClients[0].cacheControl',
      /not a valid Cache-Control value/,
      /visible ASCII/,
    ],
    [
      'cacheControl that ends in a space',
      site({ environmentClients: [{ environment: 'production', cacheControl: 'public ' }] }),
      'tenant.json',
      '$.environmentClients[0].cacheControl',
      /not a valid Cache-Control value/,
      /visible ASCII/,
    ],
    [
      'cacheControl that is too long',
      site({ environmentClients: [{ environment: 'production', cacheControl: 'x'.repeat(513) }] }),
      'tenant.json',
      '$.environmentClients[0].cacheControl',
      /not a valid Cache-Control value/,
      /at most 512/,
    ],
    [
      'cacheControl beyond ASCII',
      site({ environmentClients: [{ environment: 'production', cacheControl: 'público' }] }),
      'tenant.json',
      '$.environmentClients[0].cacheControl',
      /not a valid Cache-Control value/,
      /visible ASCII/,
    ],
    [
      'cacheControl that is no text',
      site({ environmentClients: [{ environment: 'production', cacheControl: 5 }] }),
      'tenant.json',
      '$.environmentClients[0].cacheControl',
      /must be a string/,
      /double quotes/,
    ],
    [
      'a header name with a line end',
      site({ environmentClients: [{ environment: 'production', cacheTags: 'Cache-Tag\r\nX' }] }),
      'tenant.json',
      '$.environmentClients[0].cacheTags',
      /not a header name/,
      /"Surrogate-Key"/,
    ],
    [
      'an empty header name',
      site({ environmentClients: [{ environment: 'production', cacheTags: '' }] }),
      'tenant.json',
      '$.environmentClients[0].cacheTags',
      /is empty/,
      /double quotes/,
    ],
    [
      'tags in a header that frames the answer',
      site({ environmentClients: [{ environment: 'production', cacheTags: 'Content-Length' }] }),
      'tenant.json',
      '$.environmentClients[0].cacheTags',
      /has another meaning/,
      /"Surrogate-Key"/,
    ],
    [
      'tags in Cache-Control',
      site({ environmentClients: [{ environment: 'production', cacheTags: 'CACHE-Control' }] }),
      'tenant.json',
      '$.environmentClients[0].cacheTags',
      /has another meaning/,
      /"Surrogate-Key"/,
    ],
    [
      'tags in our own header',
      site({ environmentClients: [{ environment: 'production', cacheTags: 'X-Service-Version' }] }),
      'tenant.json',
      '$.environmentClients[0].cacheTags',
      /has another meaning/,
      /"Surrogate-Key"/,
    ],
    [
      'a depth that is too large',
      site({ environmentClients: [{ environment: 'production', depth: 101 }] }),
      'tenant.json',
      '$.environmentClients[0].depth',
      /a whole number from 0 to 100/,
      /without quotes/,
    ],
    [
      'an unknown caching setting',
      site({ environmentClients: [{ environment: 'production', cacheTag: 'xkey' }] }),
      'tenant.json',
      '$.environmentClients[0].cacheTag',
      /unknown key/,
      /cacheTags/,
    ],
    [
      'no list of origins',
      site({ environmentClients: [{ environment: 'production', origins: 'https://a.com' }] }),
      'tenant.json',
      '$.environmentClients[0].origins',
      /must be a list/,
      /Put it in/,
    ],
    [
      'too many origins',
      site({
        environmentClients: [{ environment: 'production', origins: Array(101).fill('https://a.com') }],
      }),
      'tenant.json',
      '$.environmentClients[0].origins',
      /has 101 origins/,
      /At most 100/,
    ],
    [
      'no hostnames',
      site({ domains: [{ alias: 'site' }] }),
      'tenant.json',
      '$.domains[0].hostnames',
      /lists no host/,
      /\["\*"\]/,
    ],
    [
      'hostname twice',
      site({
        domains: [
          { alias: 'site', hostnames: ['a.com'] },
          { alias: 'b', hostnames: ['A.com'] },
        ],
      }),
      'tenant.json',
      '$.domains[1].hostnames[0]',
      /hostname "a.com" appears twice/,
      /domains\[0\]/,
    ],
    [
      'domain alias twice',
      site({
        domains: [
          { alias: 'site', hostnames: ['a.com'] },
          { alias: 'site', hostnames: ['b.com'] },
        ],
      }),
      'tenant.json',
      '$.domains[1].alias',
      /domain "site" appears twice/,
      /domains\[0\]/,
    ],
    [
      'client environment',
      site({ environmentClients: [client({ environment: 'x' })] }),
      'tenant.json',
      '$.environmentClients[0].environment',
      /unknown environment "x"/,
      /production/,
    ],
    [
      'client domain',
      site({ environmentClients: [client({ domains: ['sit'] })] }),
      'tenant.json',
      '$.environmentClients[0].domains[0]',
      /unknown domain "sit"/,
      /"site"/,
    ],
    [
      'two open domains',
      site({
        domains: [
          { alias: 'a', hostnames: ['*'] },
          { alias: 'b', hostnames: ['*'] },
        ],
        environmentClients: [client({})],
      }),
      'tenant.json',
      '$.environmentClients[0].domains',
      /several domains with hostname "\*": a, b/,
      /list/,
    ],
    [
      'scope',
      site({ environmentClients: [client({ scopes: ['deliver'] })] }),
      'tenant.json',
      '$.environmentClients[0].scopes[0]',
      /unknown scope/,
      /"delivery"/,
    ],
    [
      'key',
      site({ environmentClients: [client({ apiKeys: [''] })] }),
      'tenant.json',
      '$.environmentClients[0].apiKeys[0]',
      /empty/,
      /string/,
    ],
    [
      'key with space',
      site({ environmentClients: [client({ apiKeys: ['a b'] })] }),
      'tenant.json',
      '$.environmentClients[0].apiKeys[0]',
      /not an API key/,
      /ASCII/,
    ],
    [
      'key hash',
      site({ environmentClients: [client({ apiKeys: ['sha256:12'] })] }),
      'tenant.json',
      '$.environmentClients[0].apiKeys[0]',
      /not an API key/,
      /64 hex/,
    ],
    [
      'group of a trigger',
      site({}, { 'tenants/site/schemas/page.json': { ...pageSchema, triggers: { cns: ['page'] } } }),
      'schemas/page.json',
      '$.triggers.cns',
      /unknown source group "cns"/,
      /"cms"/,
    ],
    [
      'group of a lookup',
      site(
        {},
        {
          'tenants/site/partials/card.json': {
            properties: {
              a: {
                type: 'array',
                input: {
                  $lookup: { operator: 'equals', sourceEntityProperty: 'a', matchValue: 'b', source: 'pim' },
                },
              },
            },
          },
        },
      ),
      'partials/card.json',
      '$.properties.a.input.$lookup.source',
      /unknown source group "pim"/,
      /cms/,
    ],
    [
      'group of a reference',
      site(
        {},
        {
          'tenants/site/schemas/page.json': {
            ...pageSchema,
            properties: {
              a: {
                type: 'array',
                input: '{p.a}',
                items: { type: 'reference', alias: 'page', originId: '{item}', source: 'pim' },
              },
            },
          },
        },
      ),
      'schemas/page.json',
      '$.properties.a.items.source',
      /unknown source group "pim"/,
      /cms/,
    ],
    [
      'group of an action',
      site(
        {},
        {
          'tenants/site/schemas/page.json': { ...pageSchema, actions: [{ type: 'process', source: 'pim' }] },
        },
      ),
      'schemas/page.json',
      '$.actions[0].source',
      /unknown source group "pim"/,
      /cms/,
    ],
    [
      'unknown key of a schema',
      site({}, { 'tenants/site/schemas/page.json': { ...pageSchema, propertys: {} } }),
      'schemas/page.json',
      '$.propertys',
      /propertys/,
      /properties/,
    ],
    [
      'broken schema',
      site({}, { 'tenants/site/schemas/page.json': '{\n "triggers": {},,' }),
      'schemas/page.json',
      '$',
      /line 2, column 17/,
      /double quotes/,
    ],
    [
      'reserved index',
      site(
        {},
        {
          'tenants/site/indexes/source.json': {
            triggers: { cms: ['page'] },
            properties: {},
            index: { fields: {} },
          },
        },
      ),
      'indexes/source.json',
      '$',
      /reserved/,
      /Rename/,
    ],
    [
      'path',
      site({}, { 'tenants/site/schema/page.json': pageSchema }),
      'schema/page.json',
      '$',
      /not a place/,
      /Remove/,
    ],
  ];
  for (const [name, files, file, path, message, advice] of cases) {
    const issues = issuesOf(files);
    const issue = issues.find((found) => found.file === `tenants/site/${file}` && found.path === path);
    assert.ok(issue, `${name}: ${JSON.stringify(issues)}`);
    assert.match(issue.message, message, name);
    assert.match(issue.advice, advice, name);
  }
});

test('config issues: a value of the wrong type is one error, not one for each of its members', () => {
  const issues = issuesOf(
    site({ environments: ['production'], sourceGroups: [1], domains: [null], environmentClients: [[]] }),
  );
  assert.deepEqual(
    issues.map(({ path, message }) => `${path} ${message}`),
    [
      '$.environments[0] must be an object, is a string',
      '$.domains[0] must be an object, is null',
      '$.sourceGroups[0] must be an object, is a number',
      '$.environmentClients[0] must be an object, is a list',
    ],
  );
});

test('config issues: errors in all files and tenants are reported together, file by file', () => {
  const issues = issuesOf({
    'tenants/b/tenant.json': { environments: [{}] },
    'tenants/a/tenant.json': '{,}',
    'tenants/a/schemas/page.json': '{"triggers": 1, "triggers": 2}',
    'tenants/b/schemas/page.json': { ...pageSchema, x: 1 },
  });
  assert.deepEqual(
    [...new Set(issues.map(({ file }) => file))],
    [
      'tenants/a/schemas/page.json',
      'tenants/a/tenant.json',
      'tenants/b/schemas/page.json',
      'tenants/b/tenant.json',
    ],
  );
});

test('config issues: an invalid tenant.json does not make all groups in its schemas unknown', () => {
  const issues = issuesOf({ 'tenants/site/tenant.json': '{', 'tenants/site/schemas/page.json': pageSchema });
  assert.deepEqual(
    issues.map(({ file }) => file),
    ['tenants/site/tenant.json'],
  );
});

test('config issues: keys are unique over all tenants, plain or hashed, and no message repeats one', () => {
  const twin = (key: string) =>
    siteTenant({ sourceGroups: [], environmentClients: [client({ apiKeys: [key] })] });
  for (const key of ['client-key', hashKey('client-key'), hashKey('client-key').toUpperCase()]) {
    const issues = issuesOf(site({}, { 'tenants/twin/tenant.json': twin(key) }));
    assert.equal(issues.length, 1);
    assert.deepEqual(
      [issues[0]?.file, issues[0]?.path],
      ['tenants/twin/tenant.json', '$.environmentClients[0].apiKeys[0]'],
    );
    assert.match(
      issues[0]?.advice ?? '',
      /environmentClients\[0\]\.apiKeys\[0\] of tenants\/site\/tenant\.json/,
    );
    assert.doesNotMatch(JSON.stringify(issues), /client-key|sha256/);
  }
  const same = issuesOf(site({ environmentClients: [client({ apiKeys: ['source-key'] })] }));
  assert.deepEqual(
    same.map(({ path }) => path),
    ['$.environmentClients[0].apiKeys[0]'],
  );
});

test('config issues: a valid but probably unintended configuration is a warning', () => {
  const messages = (files: Files) => warningsOf(files).map(({ path, message }) => `${path} ${message}`);
  assert.deepEqual(
    messages(site({ sourceGroups: [{ alias: 'cms', sources: [{ id: 'a', environments: [] }] }] })),
    [
      '$.sourceGroups[0].sources[0] a source without API keys',
      '$.sourceGroups[0].sources[0] a source without environments',
    ],
  );
  assert.deepEqual(messages(site({ environmentClients: [client({ scopes: [] })] })), [
    '$.environmentClients[0] an environment client without API keys',
    '$.environmentClients[0] an environment client without scopes',
  ]);
  assert.match(messages({})[0] ?? '', /no tenant/);
  const schema = {
    ...pageSchema,
    properties: {
      // Properties can have the names of parts of a definition.
      type: 'reference',
      source: 'nowhere',
      author: { type: 'reference', alias: 'autor', originId: '{p.author}' },
      editor: { type: 'reference', view: 'athor', originId: '{p.editor}' },
      card: { type: 'partial', input: '{root}', alias: 'crd' },
      any: { type: 'partial', input: '{root}', alias: '{p.kind}' },
    },
  };
  const files = site(
    {},
    {
      'tenants/site/schemas/page.json': schema,
      'tenants/site/schemas/author.json': pageSchema,
      'tenants/site/partials/card.json': { properties: { a: 'x' } },
    },
  );
  const warnings = warningsOf(files);
  assert.deepEqual(
    warnings.map(({ path, message }) => `${path} ${message}`),
    [
      '$.properties.author.alias there is no schema "autor"',
      '$.properties.editor.view there is no schema "athor"',
      '$.properties.card.alias there is no partial "crd"',
    ],
  );
  assert.match(warnings[0]?.advice ?? '', /Did you mean "author"/);
  assert.match(warnings[2]?.advice ?? '', /Did you mean "card"/);
});

const cities = {
  triggers: { cms: ['city'] },
  properties: { name: '{p.name}', poplation: '{p.population}' },
  index: { fields: { name: { type: 'text' }, population: { type: 'long' } } },
};

test('config issues: a field without a property and a property without a field are errors, each with its path and a suggestion', () => {
  const issues = issuesOf(site({}, { 'tenants/site/indexes/cities.json': cities }));
  assert.deepEqual(
    issues.map(({ file, path, message, advice }) => `${file} ${path} ${message} ${advice}`),
    [
      'tenants/site/indexes/cities.json $.index.fields.population no property fills the field "population" ' +
        'Did you mean "poplation"? Add it to properties, or remove this field.',
      'tenants/site/indexes/cities.json $.properties.poplation the property "poplation" has no field ' +
        'Did you mean "population"? Add it to index.fields with its type, or remove this property.',
    ],
  );
});

test('config issues: members that `*` adds can fill any field', () => {
  const properties = { '*': 'p.facts', name: '{p.name}' };
  assert.deepEqual(issuesOf(site({}, { 'tenants/site/indexes/cities.json': { ...cities, properties } })), []);
});

test('config issues: what an earlier version accepted and stored keeps working, though it is an error in a folder', () => {
  const documents = documentsOf(site({}, { 'tenants/site/indexes/cities.json': cities }));
  assert.equal(loadConfiguration(documents, 'stored').ok, true);
  assert.equal(loadConfiguration(documents).ok, false);
});

test('config issues: an entity type that only one file names and that resembles another one is a warning', () => {
  const triggered = (...types: string[]) => ({ ...pageSchema, triggers: { cms: types } });
  const warningTexts = (files: Files) =>
    warningsOf(site({}, files)).map(
      ({ file, path, message, advice }) => `${file} ${path} ${message} ${advice}`,
    );
  assert.deepEqual(
    warningTexts({
      'tenants/site/schemas/article.json': triggered('article'),
      'tenants/site/schemas/teaser.json': triggered('article'),
      'tenants/site/schemas/amp.json': triggered('news', 'artcle'),
    }),
    [
      'tenants/site/schemas/amp.json $.triggers.cms[1] no other schema of source group "cms" names the entity type "artcle" ' +
        'Did you mean "article"? Ignore this if both exist.',
    ],
  );
  const ofAnyGroup = (...types: string[]) => ({ sourceEntityTypes: types, properties: {} });
  assert.deepEqual(
    warningTexts({
      'tenants/site/schemas/article.json': triggered('article'),
      'tenants/site/schemas/teaser.json': ofAnyGroup('article', 'author'),
      'tenants/site/schemas/amp.json': ofAnyGroup('artcle'),
      'tenants/site/schemas/by.json': triggered('autor'),
      'tenants/site/schemas/card.json': ofAnyGroup('author'),
    }),
    [
      'tenants/site/schemas/amp.json $.sourceEntityTypes[0] no other schema names the entity type "artcle" ' +
        'Did you mean "article"? Ignore this if both exist.',
      'tenants/site/schemas/by.json $.triggers.cms[0] no other schema of source group "cms" names the entity type "autor" ' +
        'Did you mean "author"? Ignore this if both exist.',
    ],
  );
  // Types that have nothing in common, or only numbers, are intended.
  assert.deepEqual(
    warningTexts({
      'tenants/site/schemas/a.json': triggered('section1', 'page'),
      'tenants/site/schemas/b.json': triggered('section2', 'author'),
    }),
    [],
  );
});

test('config issues: an action for an unknown schema is a warning, and so is an alias written as an expression', () => {
  const schema = {
    ...pageSchema,
    properties: { card: { type: 'partial', input: '{root}', alias: { $exp: 'crd' } } },
    actions: [{ type: 'process', alias: 'pge' }],
  };
  const files = site(
    {},
    {
      'tenants/site/schemas/page.json': schema,
      'tenants/site/partials/card.json': { properties: { a: 'x' } },
    },
  );
  assert.deepEqual(
    warningsOf(files).map(({ path, message, advice }) => `${path} ${message} ${advice.split('?')[0]}`),
    [
      '$.properties.card.alias.$exp there is no partial "crd" Did you mean "card"',
      '$.actions[0].alias there is no schema "pge" Did you mean "page"',
    ],
  );
});
