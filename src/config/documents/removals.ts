/** Finds what a new configuration removes, by the names that users know. Pure. */
import { groupBy } from '../../lib/lists.ts';
import type { Configuration, Source, Tenant } from '../configuration.ts';

/** The source, environment and schema of an output. */
export interface MadeOf {
  readonly sourceId: string;
  readonly environmentId: string;
  readonly kind: 'view' | 'item';
  /** Schema alias, or `indexName`. */
  readonly name: string;
}

export interface Removal {
  readonly tenant: string;
  readonly kind:
    | 'tenant'
    | 'source group'
    | 'source'
    | 'environment'
    | 'source in an environment'
    | 'schema'
    | 'index'
    | 'auto-index';
  /** The name in the configuration: `blog`, `production`; empty for a tenant. */
  readonly name: string;
  /** Ids of the sources whose entities become unreachable. */
  readonly sourceIds: ReadonlySet<string>;
  /** True for outputs of the tenant that are removed with it. */
  readonly takes: (made: MadeOf) => boolean;
}

/**
 * Larger removals come first, and their parts are not listed again: a removed tenant, but not its sources and schemas.
 * @param itemIndex `indexName` of a higher layer
 */
export function removalsBetween(
  before: Configuration,
  after: Configuration,
  itemIndex: {
    readonly schema: (alias: string) => string;
    readonly auto: (group: string, type: string) => string;
  },
): Removal[] {
  return [...before.tenants.values()].flatMap((tenant) => {
    const next = after.tenants.get(tenant.alias);
    if (next === undefined) return [wholeTenant(tenant)];
    return [
      ...groupsAndSources(tenant, next),
      ...environments(tenant, next),
      ...uses(tenant, next),
      ...gone(tenant.schemas, next.schemas).map((alias) =>
        removal(tenant, 'schema', alias, ({ kind, name }) => kind === 'view' && name === alias),
      ),
      ...gone(tenant.indexes, next.indexes).map((alias) =>
        removal(
          tenant,
          'index',
          alias,
          ({ kind, name }) => kind === 'item' && name === itemIndex.schema(alias),
        ),
      ),
      ...autoIndexes(tenant, next, itemIndex.auto),
    ];
  });
}

function removal(
  { alias: tenant }: Tenant,
  kind: Removal['kind'],
  name: string,
  takes: Removal['takes'],
  sourceIds: Iterable<string> = [],
): Removal {
  return { tenant, kind, name, takes, sourceIds: new Set(sourceIds) };
}

function wholeTenant(tenant: Tenant): Removal {
  return removal(tenant, 'tenant', '', () => true, tenant.sources.keys());
}

function gone(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): string[] {
  return [...before.keys()].filter((name) => !after.has(name));
}

/** Sources that are removed with their group are listed as the group. A source that moved to another group is not removed. */
function groupsAndSources(tenant: Tenant, next: Tenant): Removal[] {
  const lost = [...tenant.sources.values()].filter(({ id }) => !next.sources.has(id));
  const ofGroups = groupBy(lost, ({ sourceGroup }) => sourceGroup);
  const goneGroups = new Set(
    gone(tenant.sourceGroups, next.sourceGroups).filter((group) => ofGroups.has(group)),
  );
  return [
    ...[...goneGroups].map((group) => ofSources(tenant, 'source group', group, ofGroups.get(group) ?? [])),
    ...lost
      .filter(({ sourceGroup }) => !goneGroups.has(sourceGroup))
      .map((source) => ofSources(tenant, 'source', source.name, [source])),
  ];
}

function ofSources(tenant: Tenant, kind: Removal['kind'], name: string, sources: readonly Source[]): Removal {
  const ids = new Set(sources.map(({ id }) => id));
  return removal(tenant, kind, name, ({ sourceId }) => ids.has(sourceId), ids);
}

function environments(tenant: Tenant, next: Tenant): Removal[] {
  const kept = new Set(next.environments.map(({ id }) => id));
  return tenant.environments
    .filter(({ id }) => !kept.has(id))
    .map(({ id, alias }) =>
      removal(tenant, 'environment', alias, ({ environmentId }) => environmentId === id),
    );
}

/** Sources that an environment no longer uses, although both still exist. */
function uses(tenant: Tenant, next: Tenant): Removal[] {
  return [...tenant.sources.values()].flatMap((source) => {
    const after = next.sources.get(source.id);
    if (after === undefined) return [];
    const kept = new Set(after.environments.map(({ id }) => id));
    return source.environments
      .filter(({ id }) => !kept.has(id))
      .map(({ id, alias }) =>
        removal(
          tenant,
          'source in an environment',
          `${source.name} in ${alias}`,
          (made) => made.sourceId === source.id && made.environmentId === id,
        ),
      );
  });
}

/**
 * Groups that are no longer auto-indexed. This includes removed groups whose sources moved, because the other group has its own
 * indexes.
 */
function autoIndexes(
  tenant: Tenant,
  next: Tenant,
  indexOf: (group: string, type: string) => string,
): Removal[] {
  return [...tenant.sourceGroups.values()]
    .filter(({ alias, autoIndex }) => autoIndex && next.sourceGroups.get(alias)?.autoIndex !== true)
    .map(({ alias }) =>
      removal(
        tenant,
        'auto-index',
        alias,
        ({ kind, name }) => kind === 'item' && name.startsWith(indexOf(alias, '')),
      ),
    );
}
