/**
 * Finds what a changed configuration changes in the store: live configuration rebuilds exactly this
 * (docs/guide/live-configuration.md "What happens").
 */
import type { LookupLayout } from '../../schemas/lookup/layout.ts';
import type { Configuration, Source, Tenant } from '../configuration.ts';

/** One thing of a tenant before and after. `before` null: added; `after` null: removed. */
export interface Change<T> {
  readonly tenant: string;
  readonly before: T | null;
  readonly after: T | null;
}

/** A schema as far as its results depend on it. */
export interface SchemaState {
  readonly alias: string;
  readonly digest: string;
  readonly triggers: ReadonlyMap<string, ReadonlySet<string>>;
}

export interface LayoutState {
  readonly sourceId: string;
  readonly layout: LookupLayout;
}

/** Which source a source group uses in an environment. */
export interface ResolutionState {
  readonly sourceGroup: string;
  readonly environmentId: string;
  readonly sourceId: string;
}

export interface ConfigurationDiff {
  /** Full schemas whose digest or triggers changed. */
  readonly schemas: readonly Change<SchemaState>[];
  readonly indexes: readonly Change<SchemaState>[];
  /** Sources whose lookup indexes must be made again. */
  readonly lookupLayouts: readonly Change<LayoutState>[];
  /** Sources that came, went, moved to another group or are used by other environments: their views come and go. */
  readonly sources: readonly Change<Source>[];
  /** Ids of environments that came or went. */
  readonly environments: readonly Change<string>[];
  /**
   * Groups that mean another source now. Every view of the environment that refers to such a group or looks into it may
   * differ.
   */
  readonly resolutions: readonly Change<ResolutionState>[];
  /** Aliases of source groups that index every type by themselves: `after` switched on, `before` switched off. */
  readonly autoIndexes: readonly Change<string>[];
  readonly isEmpty: boolean;
}

/** Compares two configurations; `before` null is a first start, where everything is added. */
export function diffConfigurations(before: Configuration | null, after: Configuration): ConfigurationDiff {
  const aliases = new Set([...(before?.tenants.keys() ?? []), ...after.tenants.keys()]);
  const pairs = [...aliases].sort().map((alias) => ({
    tenant: alias,
    before: before?.tenants.get(alias) ?? null,
    after: after.tenants.get(alias) ?? null,
  }));
  function changes<T>(
    things: (tenant: Tenant) => Iterable<readonly [string, T]>,
    same: (a: T, b: T) => boolean,
  ) {
    return pairs.flatMap((pair) =>
      changesBetween(
        pair.tenant,
        new Map(pair.before ? things(pair.before) : []),
        new Map(pair.after ? things(pair.after) : []),
        same,
      ),
    );
  }
  const diff = {
    schemas: changes<SchemaState>((tenant) => tenant.schemas, sameSchema),
    indexes: changes<SchemaState>((tenant) => tenant.indexes, sameSchema),
    lookupLayouts: changes(layoutStates, (a, b) => a.layout.id === b.layout.id),
    sources: changes((tenant) => tenant.sources, sameSource),
    environments: changes(
      (tenant) => tenant.environments.map(({ id }) => [id, id] as const),
      () => true,
    ),
    resolutions: changes(resolutionStates, (a, b) => a.sourceId === b.sourceId),
    autoIndexes: changes(autoIndexed, () => true),
  };
  return { ...diff, isEmpty: Object.values(diff).every((list) => list.length === 0) };
}

function changesBetween<T>(
  tenant: string,
  before: ReadonlyMap<string, T>,
  after: ReadonlyMap<string, T>,
  same: (a: T, b: T) => boolean,
): Change<T>[] {
  const changes: Change<T>[] = [];
  for (const [name, old] of before) {
    const next = after.get(name);
    if (next === undefined || !same(old, next)) changes.push({ tenant, before: old, after: next ?? null });
  }
  for (const [name, next] of after) {
    if (!before.has(name)) changes.push({ tenant, before: null, after: next });
  }
  return changes;
}

function sameSchema(a: SchemaState, b: SchemaState): boolean {
  if (a.digest !== b.digest || a.triggers.size !== b.triggers.size) return false;
  return [...a.triggers].every(([group, types]) => {
    const other = b.triggers.get(group);
    return other !== undefined && sameMembers(types, other);
  });
}

/** A source's name is for people; nothing stored depends on it. */
function sameSource(a: Source, b: Source): boolean {
  const ids = (source: Source) => new Set(source.environments.map(({ id }) => id));
  return a.sourceGroup === b.sourceGroup && sameMembers(ids(a), ids(b));
}

function sameMembers(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((member) => b.has(member));
}

function layoutStates(tenant: Tenant): [string, LayoutState][] {
  return [...tenant.lookupLayouts].map(([sourceId, layout]) => [sourceId, { sourceId, layout }]);
}

function resolutionStates(tenant: Tenant): [string, ResolutionState][] {
  return [...tenant.sources.values()].flatMap(({ id: sourceId, sourceGroup, environments }) =>
    environments.map(({ id: environmentId }): [string, ResolutionState] => [
      // Neither part can hold a slash.
      `${sourceGroup}/${environmentId}`,
      { sourceGroup, environmentId, sourceId },
    ]),
  );
}

function autoIndexed(tenant: Tenant): [string, string][] {
  return [...tenant.sourceGroups.values()]
    .filter((group) => group.autoIndex)
    .map(({ alias }) => [alias, alias]);
}
