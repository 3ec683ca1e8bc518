import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Configuration } from '../../../src/config/configuration.ts';
import { diffConfigurations } from '../../../src/config/documents/diff.ts';
import { loadConfiguration } from '../../../src/config/documents/load.ts';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { documentsOf, pageSchema, siteTenant } from '../support/site.ts';

const tenantPath = 'tenants/site/tenant.json';
const pagePath = 'tenants/site/schemas/page.json';

function load(files: Record<string, Json | string>): Configuration {
  const outcome = loadConfiguration(documentsOf(files));
  assert.ok(outcome.ok, JSON.stringify(outcome));
  return outcome.configuration;
}

const environments = ['production', 'test'].map((alias) => ({ id: `env-${alias}`, alias }));
function tenant(sources: JsonObject[], changes: JsonObject = {}, group: JsonObject = {}): JsonObject {
  const sourceGroups = [{ alias: 'cms', sources, ...group }];
  return siteTenant({ environments, sourceGroups, environmentClients: [], ...changes });
}

const base = { [tenantPath]: tenant([{ id: 'a', environments: ['production'] }]), [pagePath]: pageSchema };
const nothing = {
  schemas: [],
  indexes: [],
  lookupLayouts: [],
  sources: [],
  environments: [],
  resolutions: [],
  autoIndexes: [],
};

function shown(before: Record<string, Json | string>, after: Record<string, Json | string>) {
  const { isEmpty, ...lists } = diffConfigurations(load(before), load(after));
  assert.equal(
    isEmpty,
    Object.values(lists).every((list) => list.length === 0),
  );
  const side = (thing: unknown) =>
    JSON.parse(JSON.stringify(thing)) as { alias?: string; id?: string; sourceId?: string } | string | null;
  const name = (thing: unknown) => {
    const value = side(thing);
    return typeof value === 'string' || value === null ? value : (value.alias ?? value.sourceId ?? value.id);
  };
  return Object.fromEntries(
    Object.entries(lists).map(([kind, list]) => [
      kind,
      list.map(({ before, after }) => [name(before), name(after)]),
    ]),
  );
}

test('names, keys, clients, domains and white space change nothing that is stored', () => {
  const renamed = {
    [tenantPath]: JSON.stringify(
      tenant([{ id: 'a', name: 'New', environments: ['production'], apiKeys: ['k'] }], { domains: [] }),
      null,
      4,
    ),
    [pagePath]: JSON.stringify(pageSchema, null, 1),
  };
  assert.deepEqual(shown(base, renamed), nothing);
});

test('a schema that changes, comes or goes is named, and so are changed triggers', () => {
  const changed = { ...pageSchema, properties: { title: '{p.name}' } };
  assert.deepEqual(shown(base, { ...base, [pagePath]: changed }), {
    ...nothing,
    schemas: [['page', 'page']],
  });
  const triggered = { ...pageSchema, triggers: { cms: ['page', 'article'] } };
  assert.deepEqual(shown(base, { ...base, [pagePath]: triggered }), {
    ...nothing,
    schemas: [['page', 'page']],
  });
  const indexJson = {
    triggers: { cms: ['page'] },
    properties: { title: '{p.title}' },
    index: { fields: { title: { type: 'text' } } },
  };
  const more = {
    ...base,
    'tenants/site/schemas/b.json': pageSchema,
    'tenants/site/indexes/i.json': indexJson,
  };
  assert.deepEqual(shown(base, more), { ...nothing, schemas: [[null, 'b']], indexes: [[null, 'i']] });
  assert.deepEqual(shown(more, base), { ...nothing, schemas: [['b', null]], indexes: [['i', null]] });
});

test('a changed partial changes the schemas that reach it, and no other', () => {
  const using = { ...pageSchema, properties: { card: { type: 'partial', input: '{root}', alias: 'card' } } };
  const partial = (text: string) => ({ 'tenants/site/partials/card.json': { properties: { a: text } } });
  const files = { ...base, 'tenants/site/schemas/using.json': using };
  assert.deepEqual(shown({ ...files, ...partial('x') }, { ...files, ...partial('y') }), {
    ...nothing,
    schemas: [['using', 'using']],
  });
});

test('sources, environments and what a group means in an environment are compared', () => {
  const both = { ...base, [tenantPath]: tenant([{ id: 'a', environments: ['production', 'test'] }]) };
  assert.deepEqual(shown(base, both), { ...nothing, sources: [['a', 'a']], resolutions: [[null, 'a']] });
  const moved = {
    ...base,
    [tenantPath]: tenant([
      { id: 'a', environments: [] },
      { id: 'b', environments: ['production'] },
    ]),
  };
  assert.deepEqual(shown(base, moved), {
    ...nothing,
    sources: [
      ['a', 'a'],
      [null, 'b'],
    ],
    resolutions: [['a', 'b']],
  });
  const fewer = {
    ...base,
    [tenantPath]: tenant([{ id: 'a', environments: ['production'] }], {
      environments: environments.slice(0, 1),
    }),
  };
  assert.deepEqual(shown(base, fewer), { ...nothing, environments: [['env-test', null]] });
});

test('switching auto-indexing on or off is a change', () => {
  const indexed = {
    ...base,
    [tenantPath]: tenant([{ id: 'a', environments: ['production'] }], {}, { autoIndex: true }),
  };
  assert.deepEqual(shown(base, indexed), { ...nothing, autoIndexes: [[null, 'cms']] });
  assert.deepEqual(shown(indexed, base), { ...nothing, autoIndexes: [['cms', null]] });
});

test('a lookup that comes, goes or reads something else changes the layout of the sources it reads', () => {
  const lookup = (property: string) => ({
    type: 'array',
    input: { $lookup: { operator: 'equals', sourceEntityProperty: property, matchValue: '{originId}' } },
  });
  const withLookup = (property: string) => ({
    ...base,
    [pagePath]: { ...pageSchema, properties: { a: lookup(property) } },
  });
  const page = [['page', 'page']];
  assert.deepEqual(shown(base, withLookup('x')), { ...nothing, schemas: page, lookupLayouts: [[null, 'a']] });
  assert.deepEqual(shown(withLookup('x'), withLookup('y')), {
    ...nothing,
    schemas: page,
    lookupLayouts: [['a', 'a']],
  });
  assert.deepEqual(shown(withLookup('x'), base), { ...nothing, schemas: page, lookupLayouts: [['a', null]] });
});

test('at a first start, and with a new tenant, everything is added; with a lost one everything is removed', () => {
  const first = diffConfigurations(null, load(base));
  assert.deepEqual(
    [first.schemas, first.sources, first.environments, first.resolutions].map((list) => list.length),
    [1, 1, 2, 1],
  );
  assert.ok(!first.isEmpty && first.schemas.every(({ before }) => before === null));
  const lost = diffConfigurations(load(base), load({}));
  assert.deepEqual(
    lost.schemas.map(({ tenant: alias, before, after }) => [alias, before?.alias, after]),
    [['site', 'page', null]],
  );
  assert.equal(diffConfigurations(load(base), load(base)).isEmpty, true);
});
