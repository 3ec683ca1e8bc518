/**
 * A small world of two tenants with lookups of every kind, and a naive implementation of the expected outputs: plain loops over
 * all entities, sharing no code with the mapping language, the store or the actors.
 */
import type { SourceEntity } from '../../../src/contract/entity.ts';
import type { Json, JsonObject } from '../../../src/contract/json.ts';

export const environmentIds = ['env-1', 'env-2'] as const;
export type EnvironmentId = (typeof environmentIds)[number];

const shopSources: Readonly<Record<EnvironmentId, string>> = { 'env-1': 'src-shop', 'env-2': 'src-draft' };
export const sourceIds = ['src-cms', 'src-shop', 'src-draft'] as const;
export type SourceId = (typeof sourceIds)[number];

/** Environments in which the entities of a source have outputs. */
export function environmentsOf(sourceId: SourceId): readonly EnvironmentId[] {
  return environmentIds.filter((id) => sourceId === 'src-cms' || shopSources[id] === sourceId);
}

function tenantFile(tenant: string): Json {
  const source = (id: string, environments: string[]) => ({
    id,
    name: id,
    environments,
    apiKeys: [`${tenant}-${id}`],
  });
  return {
    environments: [
      { id: 'env-1', alias: 'production' },
      { id: 'env-2', alias: 'preview' },
    ],
    sourceGroups: [
      { alias: 'cms', sources: [source('src-cms', ['production', 'preview'])] },
      {
        alias: 'shop',
        autoIndex: true,
        sources: [source('src-shop', ['production']), source('src-draft', ['preview'])],
      },
    ],
    domains: [{ alias: 'site', hostnames: ['*'] }],
    environmentClients: [
      { name: 'site', environment: 'production', domains: ['site'], apiKeys: [`${tenant}-client`] },
    ],
  };
}

const childrenLookup = {
  operator: 'equals',
  sourceEntityProperty: 'originParentId',
  matchValue: '{originId}',
  orderBy: { property: 'rank', sort: 'desc' },
  top: 3,
};

const page = {
  triggers: { cms: ['page'] },
  route: { url: '{url}', handles: ['{p.slug}', 'page-{originId}'] },
  properties: {
    title: '{p.title}',
    parent: { type: 'reference', alias: 'page', originId: '{originParentId}' },
    children: { type: 'array', input: { $lookup: childrenLookup }, items: '{item.originId}:{item.p.title}' },
    tagged: {
      type: 'array',
      input: {
        $lookup: { filter: 'properties.tags/any(t: t eq {p.topic}) and originId ne {originId}', top: 4 },
      },
      items: { type: 'partial', input: '{item}', alias: 'card' },
    },
    products: {
      type: 'array',
      input: { $lookup: { filter: 'properties.page eq {originId}', source: 'shop' } },
      items: '{item.p.title}',
    },
  },
};

const summary = {
  triggers: { cms: ['page', 'note'] },
  properties: {
    kind: '{type}',
    peers: {
      type: 'array',
      input: {
        $lookup: {
          filter: 'type eq {type}',
          orderBy: { property: 'title', sort: 'asc' },
          top: 5,
        },
      },
      items: {
        type: 'object',
        properties: {
          id: '{item.originId}',
          kids: {
            type: 'array',
            var: 'kid',
            input: {
              $lookup: {
                operator: 'equals',
                sourceEntityProperty: 'originParentId',
                matchValue: '{item.originId}',
              },
            },
            items: '{kid.originId}',
          },
        },
      },
    },
  },
};

const product = {
  triggers: { shop: ['product'] },
  route: { url: '/products/{p.title}' },
  properties: {
    title: '{p.title}',
    pages: {
      type: 'array',
      input: { $lookup: { filter: 'originId eq {p.page}', source: 'cms' } },
      items: '{item.p.title} at {item.url}',
    },
  },
};

const pages = {
  triggers: { cms: ['page'] },
  properties: {
    title: '{p.title}',
    childTitles: { type: 'array', input: { $lookup: childrenLookup }, items: '{item.p.title}' },
  },
  index: { fields: { title: { type: 'keyword' }, childTitles: { type: 'keyword[]' } } },
};

/** Documents of the whole configuration. */
export function worldDocuments(): Map<string, string> {
  const files = new Map<string, string>();
  for (const tenant of ['acme', 'other']) {
    const put = (name: string, content: Json) =>
      files.set(`tenants/${tenant}/${name}`, JSON.stringify(content));
    put('tenant.json', tenantFile(tenant));
    put('schemas/page.json', page);
    put('schemas/summary.json', summary);
    put('schemas/product.json', product);
    put('partials/card.json', { properties: { id: '{input.originId}', title: '{p.title}' } });
    put('indexes/pages.json', pages);
  }
  return files;
}

/** The entities of one tenant as they were last sent. */
export class World {
  readonly #entities = new Map<string, Map<string, SourceEntity>>();
  /** A saved state goes through its times once: when each was last checked, after which it does not go back. */
  readonly #lookedAtMs = new WeakMap<SourceEntity, number>();

  /** @param nowMs by the clock of Redis */
  constructor(private readonly nowMs: () => number = Date.now) {}

  of(sourceId: string): Map<string, SourceEntity> {
    const known = this.#entities.get(sourceId) ?? new Map<string, SourceEntity>();
    this.#entities.set(sourceId, known);
    return known;
  }

  /** The entities that are published, in the order of their ids. */
  #all(sourceId: string): SourceEntity[] {
    return [...this.of(sourceId).values()]
      .filter((entity) => this.isPublished(entity))
      .sort((a, b) => (a.originId < b.originId ? -1 : 1));
  }

  isPublished(entity: SourceEntity): boolean {
    const { publishAt, unpublishAt } = entity.times ?? { publishAt: null, unpublishAt: null };
    const nowMs = this.#timeOf(entity);
    return (publishAt === null || publishAt <= nowMs) && (unpublishAt === null || nowMs < unpublishAt);
  }

  /** When the entity is published or taken back next; null if never. */
  nextMoment(entity: SourceEntity): number | null {
    const { publishAt = null, unpublishAt = null } = entity.times ?? {};
    const nowMs = this.#timeOf(entity);
    return [publishAt, unpublishAt].find((moment) => moment !== null && moment > nowMs) ?? null;
  }

  #timeOf(entity: SourceEntity): number {
    return Math.max(this.nowMs(), this.#lookedAtMs.get(entity) ?? 0);
  }

  /** From now on the clock may be set back. */
  recordTime(): void {
    for (const ofSource of this.#entities.values()) {
      for (const entity of ofSource.values()) this.#lookedAtMs.set(entity, this.#timeOf(entity));
    }
  }

  /** Every view of an environment by `<source>:<alias>:<originId>`; a reference is written `→<view id>`. */
  views(environmentId: EnvironmentId): Map<string, Json> {
    const views = new Map<string, Json>();
    const shop = shopSources[environmentId];
    for (const entity of this.#all('src-cms')) {
      if (entity.type === 'page') {
        views.set(`src-cms:page:${entity.originId}`, this.#page(entity, environmentId));
      }
      if (entity.type === 'page' || entity.type === 'note') {
        views.set(`src-cms:summary:${entity.originId}`, this.#summary(entity));
      }
    }
    for (const entity of this.#all(shop)) {
      if (entity.type === 'product') views.set(`${shop}:product:${entity.originId}`, this.#product(entity));
    }
    return views;
  }

  #children(originId: string): SourceEntity[] {
    const rank = ({ properties }: SourceEntity) =>
      typeof properties.rank === 'number' ? properties.rank : -1;
    return this.#all('src-cms')
      .filter(({ originParentId }) => originParentId === originId)
      .sort((a, b) => rank(b) - rank(a))
      .slice(0, 3);
  }

  #page({ originId, originParentId, properties }: SourceEntity, environmentId: EnvironmentId): Json {
    const { topic } = properties;
    const tagged = this.#all('src-cms').filter((other) => {
      const { tags } = other.properties;
      return topic != null && Array.isArray(tags) && tags.includes(topic) && other.originId !== originId;
    });
    const products = this.#all(shopSources[environmentId]).filter((one) => one.properties.page === originId);
    const parentId = `gid://Environment/${environmentId}/Source/src-cms/Entity/${originParentId}/View/page`;
    return {
      title: titleOf(properties),
      parent: originParentId === null ? null : `→${parentId}`,
      children: this.#children(originId).map(
        (child) => `${child.originId}:${titleOf(child.properties) ?? ''}`,
      ),
      tagged: tagged.slice(0, 4).map((other) => ({ id: other.originId, title: titleOf(other.properties) })),
      products: products.map((one) => titleOf(one.properties)),
    };
  }

  #summary({ type }: SourceEntity): Json {
    const peers = this.#all('src-cms').filter((other) => other.type === type);
    const text = ({ properties }: SourceEntity) => titleOf(properties) ?? '\uffff';
    peers.sort((a, b) => (text(a) === text(b) ? 0 : text(a) < text(b) ? -1 : 1));
    return {
      kind: type,
      peers: peers.slice(0, 5).map(({ originId }) => ({
        id: originId,
        kids: this.#all('src-cms')
          .filter(({ originParentId }) => originParentId === originId)
          .map((kid) => kid.originId),
      })),
    };
  }

  #product({ properties }: SourceEntity): Json {
    const found = this.#all('src-cms').filter(({ originId }) => originId === properties.page);
    return {
      title: titleOf(properties),
      pages: found.map((one) => `${titleOf(one.properties) ?? ''} at ${one.url ?? ''}`),
    };
  }

  /** Fields of every item of the index `pages`, by originId. */
  pageItems(): Map<string, JsonObject> {
    const items = new Map<string, JsonObject>();
    for (const { originId, type, properties } of this.#all('src-cms')) {
      if (type !== 'page') continue;
      const title = titleOf(properties);
      const childTitles = this.#children(originId).map((child) => titleOf(child.properties));
      items.set(originId, {
        ...(title === null ? {} : { title }),
        childTitles: childTitles.filter((one) => one !== null),
      });
    }
    return items;
  }

  /** Every claim of an environment: `<field> <kind> <alias> <originId> <display> <redirect>`. */
  claims(environmentId: EnvironmentId): string[] {
    const claims = new Set<string>();
    for (const { originId, type, url, redirects, properties } of this.#all('src-cms')) {
      if (type !== 'page') continue;
      const { slug } = properties;
      if (typeof slug === 'string' && slug !== '') claims.add(`h:${slug} page page ${originId} ${slug} -`);
      claims.add(`h:page-${originId} page page ${originId} page-${originId} -`);
      if (url === null) continue;
      claims.add(`u:${pathOf(url)} page page ${originId} ${url} -`);
      for (const from of redirects) {
        if (from !== url) claims.add(`u:${pathOf(from)} redirect page ${originId} ${from} ${url}`);
      }
    }
    for (const { originId, type, properties, redirects } of this.#all(shopSources[environmentId])) {
      if (type !== 'product') continue;
      const url = `/products/${titleOf(properties) ?? ''}`;
      const path = url === '/products/' ? '/products' : url;
      claims.add(`u:${path} page product ${originId} ${url} -`);
      for (const from of redirects) {
        claims.add(`u:${pathOf(from)} redirect product ${originId} ${from} ${url}`);
      }
    }
    return [...claims].sort();
  }
}

/** Of URLs that begin with `/`, or with `https://` and a host. */
function pathOf(url: string): string {
  return url.replace(/^https:\/\/[^/]*/, '');
}

function titleOf({ title }: JsonObject): string | null {
  return typeof title === 'string' ? title : null;
}
