/** A catalogue of packages shaped like the Debian one: sections, maintainers, source packages, packages. */
import type { SourceEntity } from '../../../../src/contract/entity.ts';
import type { Json } from '../../../../src/contract/json.ts';
import type { ConfigFiles } from '../processes/system.ts';
import type { Random } from '../random.ts';
import { type SiteParts, siteFiles } from '../site.ts';
import { entityOf } from './entities.ts';

const words =
  'library daemon client tools for fast small parser of streams and wheels über naïve 日本 text'.split(' ');
const priorities = ['optional', 'optional', 'required', 'important'];

export interface CatalogueSize {
  readonly sections: number;
  readonly maintainers: number;
  readonly sources: number;
  readonly packages: number;
}

/** In random order, so that references may come before their targets. */
export function catalogue(random: Random, size: CatalogueSize): SourceEntity[] {
  const sentence = (length: number) => Array.from({ length }, () => random.pick(words)).join(' ');
  const one = (kind: string, count: number) => `${kind}:${random.below(count)}`;
  const entities: SourceEntity[] = [];
  for (let n = 0; n < size.sections; n += 1) {
    const name = `section${n}`;
    entities.push(entityOf(`section:${n}`, 'section', { name }, { url: `/sections/${name}` }));
  }
  for (let n = 0; n < size.maintainers; n += 1) {
    const properties = { name: sentence(2), team: random.chance(0.2), emailDomain: 'example.org' };
    entities.push(entityOf(`maintainer:${n}`, 'maintainer', properties, { url: `/maintainers/${n}` }));
  }
  for (let n = 0; n < size.sources; n += 1) {
    const properties = {
      name: `source${n}`,
      version: `${random.below(9)}.${random.below(30)}-${random.below(4)}`,
      maintainerId: one('maintainer', size.maintainers),
      binaries: random.some(['a', 'b', 'c'], 0.5).map((letter) => `pkg${n}${letter}`),
    };
    entities.push(entityOf(`source:${n}`, 'sourcePackage', properties, { url: `/sources/source${n}` }));
  }
  for (let n = 0; n < size.packages; n += 1) {
    const section = random.below(size.sections);
    entities.push(
      entityOf(
        `pkg/${n} +`,
        'package',
        {
          name: `pkg${n}`,
          section: `section${section}`,
          priority: random.pick(priorities),
          installedSize: random.below(100_000),
          summary: sentence(5),
          description: `${sentence(30)}\n\n"${sentence(20)}"`,
          tags: random.some(['role::program', 'role::shared-lib', 'use::viewing'], 0.4),
          depends: Array.from({ length: random.below(4) }, () => `pkg/${random.below(size.packages)} +`),
          maintainerId: one('maintainer', size.maintainers),
          sourcePackageId: one('source', size.sources),
          ...(random.chance(0.5) ? { homepage: `https://example.org/${n}?a=1&b=${n}` } : {}),
        },
        {
          url: `/packages/pkg${n}`,
          originParentId: `section:${section}`,
          redirects: random.chance(0.3) ? [`/p/${n}`] : [],
        },
      ),
    );
  }
  return random.shuffled(entities);
}

/** The entity types of the catalogue and of the real files, all of which the schema `whole` shows. */
const types = ['section', 'maintainer', 'sourcePackage', 'package', 'continent', 'country', 'region', 'city'];

/** `whole` shows an entity unchanged, and `page` shows its related entities. */
const schemas: NonNullable<SiteParts['schemas']> = {
  whole: {
    triggers: { cms: types },
    route: { url: '{url}' },
    properties: {
      originId: '{originId}',
      type: '{type}',
      url: '{url}',
      originParentId: '{originParentId}',
      redirects: { type: 'array', input: '{redirects}' },
      properties: { type: 'object', properties: { '*': 'properties' } },
    },
  },
  page: {
    triggers: { cms: ['package', 'maintainer'] },
    route: { handles: ['{originId}'] },
    properties: {
      name: '{p.name}',
      maintainer: { type: 'reference', alias: 'page', originId: '{p.maintainerId}' },
      largest: {
        type: 'array',
        input: {
          $lookup: {
            operator: 'equals',
            sourceEntityType: 'package',
            sourceEntityProperty: 'maintainerId',
            matchValue: '{originId}',
            orderBy: { property: 'installedSize', sort: 'desc' },
            top: 5,
          },
        },
        items: '{item.p.name}',
      },
    },
  },
};

export const catalogueIndexFields = {
  name: 'keyword',
  summary: 'text',
  section: 'keyword',
  priority: 'keyword',
  installedSize: 'long',
  tags: 'keyword[]',
} as const;

const indexes: Readonly<Record<string, Json>> = {
  packages: {
    triggers: { cms: ['package'] },
    properties: {
      name: '{p.name}',
      summary: '{p.summary}',
      section: '{p.section}',
      priority: '{p.priority}',
      installedSize: { type: 'number', value: '{p.installedSize}' },
      tags: { type: 'array', input: '{p.tags}' },
    },
    index: {
      fields: Object.fromEntries(
        Object.entries(catalogueIndexFields).map(([name, type]) => [name, { type }]),
      ),
    },
  },
};

/** Several tenants with a catalogue each; the keys begin with the tenant's alias. */
export function catalogueFiles(tenants: readonly string[]): ConfigFiles {
  const files = tenants.map((tenant) => siteFiles({ tenant, schemas, indexes, keyPrefix: `${tenant}-` }));
  return Object.assign({}, ...files);
}
