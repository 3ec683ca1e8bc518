/** A tenant that uses everything that is stored: views, claims, redirects, lookups, partials, both kinds of indexes. */
import type { SourceEntity } from '../../../src/contract/entity.ts';
import type { Json } from '../../../src/contract/json.ts';
import { type Files, page, siteFiles, siteTenant } from '../../jobs/support/platform.ts';

const schemasWith = (pageProperties: Files): Files => ({
  page: {
    triggers: { cms: ['page'] },
    route: { url: '{url}', handles: ['page-{originId}', '{p.shared}'] },
    properties: {
      title: '{p.name}',
      card: { type: 'partial', input: '{root}', alias: "{p.card ?? 'card'}" },
      next: { type: 'reference', alias: 'page', originId: '{p.next}' },
      ...pageProperties,
    },
  },
  group: {
    triggers: { cms: ['group'] },
    properties: {
      members: {
        type: 'array',
        input: {
          $lookup: {
            filter: "type eq 'page' and properties.group eq {originId}",
            orderBy: { property: 'name', sort: 'asc' },
          },
        },
        items: '{item.p.name}',
      },
    },
  },
});

/** @param pageProperties further properties of pages */
export const configurationWith = (pageProperties: Files): Files =>
  siteFiles({
    tenant: siteTenant({
      sourceGroups: [
        {
          alias: 'cms',
          autoIndex: true,
          sources: [{ id: 'src-1', name: 'CMS', environments: ['production'], apiKeys: ['source-key'] }],
        },
      ],
    }),
    schemas: schemasWith(pageProperties),
    partials: { card: { properties: { label: 'card of {name}', group: '{item.p.group}' } } },
    indexes: {
      pages: {
        triggers: { cms: ['page'] },
        properties: { name: '{p.name}', group: '{p.group}' },
        index: { fields: { name: { type: 'text' }, group: { type: 'keyword' } } },
      },
    },
  });

export const configurationFiles = configurationWith({});

export const groups = ['g0', 'g1', 'g2'].map((originId) => page(originId, {}, { type: 'group' }));

export function pageEntity(index: number, changes: { [name: string]: Json } = {}): SourceEntity {
  return page(
    `p${index}`,
    { name: `Page ${index}`, group: `g${index % 3}`, next: `p${index + 1}`, ...changes },
    { url: `/pages/${index}`, redirects: [`/old/${index}`] },
  );
}

export const pages = Array.from({ length: 30 }, (_, index) => pageEntity(index));
