/**
 * Two tenants with the same ids, aliases, handles and URLs: one is attacked, and the canary must not change. The schemas of the
 * attacked tenant insert the content of an entity into every kind of placeholder.
 */
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import type { ConfigFiles } from '../../system/support/processes/system.ts';
import { environmentId, siteFiles, sourceId } from '../../system/support/site.ts';

export { environmentId, sourceId };

export const apiKeys = {
  source: 'source-key-of-the-attacked-tenant',
  client: 'client-key-of-the-attacked-tenant',
  canarySource: 'source-key-of-the-canary-tenant',
  canaryClient: 'client-key-of-the-canary-tenant',
} as const;

function settings(source: string, client: string): JsonObject {
  return {
    sourceGroups: [
      {
        alias: 'cms',
        autoIndex: true,
        sources: [{ id: sourceId, name: 'CMS', environments: ['production'], apiKeys: [source] }],
      },
    ],
    environmentClients: [
      { name: 'website', environment: 'production', domains: ['site'], apiKeys: [client] },
    ],
  };
}

/** Entity types that trigger schemas of the attacked tenant. */
export const entityTypes = ['page', 'card', 'toString', '__proto__', 'a:b|c'] as const;
const triggers: Json = { cms: [...entityTypes] };

const page: Json = {
  triggers,
  route: { url: '{url}', handles: ['{p.handle}', 'of-{originId}'] },
  properties: {
    title: '{p.title}',
    id: '{id}',
    text: '{p.title}: {p.nested.a[0].b} {p["list"]} {{braces}}',
    number: { type: 'number', value: '{p.number}', precision: 3, default: 0 },
    flag: { type: 'boolean', value: '{p.flag}' },
    all: { '*': '$.properties' },
    deep: { '*': '$..name' },
    picked: { type: 'array', input: { $path: 'p.list[?@.name == {p.title}]' } },
    matched: { type: 'array', input: { $path: 'p.list[?match(@.name, {p.pattern})]' } },
    list: {
      type: 'array',
      input: '{p.list}',
      items: { type: 'object', properties: { name: '{item.name}', parent: '{parent.originId}' } },
    },
    found: {
      type: 'array',
      input: {
        $lookup: { operator: 'equals', sourceEntityProperty: 'title', matchValue: '{p.title}', top: 5 },
      },
      items: '{item.originId}',
    },
    filtered: {
      type: 'array',
      input: {
        $lookup: {
          filter:
            "type eq 'page' and (properties.title eq {p.title} or contains(properties.handle, {p.handle})) and originId in {p.ids}",
          top: '{p.top}',
        },
      },
      items: '{item.originId}',
    },
    related: { type: 'reference', alias: '{p.alias}', originId: '{p.related}' },
    byId: { type: 'reference', alias: 'page', id: '{p.relatedId}' },
    part: { type: 'partial', input: '{p.nested}', alias: 'part' },
  },
};

const part: Json = {
  properties: { name: '{name}', again: { type: 'partial', input: '{input.nested}', alias: 'part' } },
};

const fieldTypes = [
  'keyword',
  'text',
  'integer',
  'long',
  'float',
  'double',
  'boolean',
  'date',
  'keyword[]',
  'text[]',
  'double[]',
  'date[]',
  'integerRange',
  'longRange',
  'dateRange',
  'object',
] as const;

/** Fields of the index `things`: one of each type, all from the property `value`, and some for searches. */
export const indexFields: readonly string[] = [
  'title',
  'handle',
  ...fieldTypes.map((type) => `as_${type.replace('[]', 's')}`),
];

const things: Json = {
  triggers,
  properties: {
    title: '{p.title}',
    handle: '{p.handle}',
    ...Object.fromEntries(
      fieldTypes.map((type) => [`as_${type.replace('[]', 's')}`, { '*': '$.properties.value' }]),
    ),
  },
  index: {
    fields: {
      title: { type: 'text' },
      handle: { type: 'keyword' },
      ...Object.fromEntries(fieldTypes.map((type) => [`as_${type.replace('[]', 's')}`, { type }])),
    },
  },
};

/** @param tenant that is attacked */
export const hostileSite = (tenant: string): ConfigFiles => ({
  ...siteFiles({
    tenant,
    settings: settings(apiKeys.source, apiKeys.client),
    schemas: { page, constructor: { triggers, properties: { name: '{p.title}' } } },
    partials: { part },
    indexes: { things },
  }),
  ...siteFiles({
    tenant: `${tenant}-canary`,
    settings: settings(apiKeys.canarySource, apiKeys.canaryClient),
    schemas: { page },
    partials: { part },
    indexes: { things },
  }),
});

export function viewIdOf(originId: string, alias = 'page'): string {
  return `gid://Environment/${environmentId}/Source/${sourceId}/Entity/${originId}/View/${alias}`;
}
