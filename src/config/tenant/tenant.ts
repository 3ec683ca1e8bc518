import type { LookupLayout, LookupPlan } from '../../schemas/lookup-layout.ts';
import type { CompiledSchemas } from '../../schemas/schema.ts';
import type { Source, SourceGroup, Tenant } from '../configuration.ts';
import type { TenantFile } from './tenant-file.ts';

/** A lookup that code requested at run time. */
export interface RuntimeLookup {
  readonly sourceGroup: string;
  readonly plan: LookupPlan;
}

interface Triggered {
  readonly alias: string;
  readonly triggers: ReadonlyMap<string, ReadonlySet<string>>;
  readonly lookupPlans: readonly LookupPlan[];
}

/** Source group alias -> entity type -> schemas. */
type TriggerTable<S> = ReadonlyMap<string, ReadonlyMap<string, readonly S[]>>;

/**
 * Builds a tenant with lookup tables for its queries, which run for every entity.
 * @param layoutOf returns the lookup indexes that a source must maintain for the plans that read it
 * @param runtimeLookups lookups that builds have requested at run time
 */
export function tenantOf(
  alias: string,
  { urlForm, environments, domains, sourceGroups, sources, webhooks }: TenantFile,
  { schemas, partials, indexes }: CompiledSchemas,
  layoutOf: (plans: Iterable<LookupPlan>) => LookupLayout,
  runtimeLookups: readonly RuntimeLookup[] = [],
): Tenant {
  const sourceIn = sourceTable(sourceGroups.values());
  const schemasFor = triggerTable(schemas.values());
  const indexesFor = triggerTable(indexes.values());
  const readers = [...schemas.values(), ...indexes.values()];
  return {
    alias,
    urlForm,
    environments,
    domains,
    webhooks: webhooks.map(({ webhook }) => webhook),
    sourceGroups,
    sources: new Map(sources.map(({ source }) => [source.id, source])),
    schemas,
    partials,
    indexes,
    lookupLayouts: lookupLayouts(sourceGroups.values(), readers, layoutOf, runtimeLookups),
    runtimeLookupCount: runtimeLookups.length,
    sourceIn: (sourceGroup, environmentId) => sourceIn.get(sourceGroup)?.get(environmentId) ?? null,
    schemasFor: (sourceGroup, type) => schemasFor.get(sourceGroup)?.get(type) ?? [],
    indexesFor: (sourceGroup, type) => indexesFor.get(sourceGroup)?.get(type) ?? [],
  };
}

function sourceTable(groups: Iterable<SourceGroup>): ReadonlyMap<string, ReadonlyMap<string, Source>> {
  return new Map(
    [...groups].map((group) => [
      group.alias,
      new Map(group.sources.flatMap((source) => source.environments.map(({ id }) => [id, source]))),
    ]),
  );
}

function triggerTable<S extends Triggered>(schemas: Iterable<S>): TriggerTable<S> {
  const table = new Map<string, Map<string, S[]>>();
  const ordered = [...schemas].sort((a, b) => (a.alias < b.alias ? -1 : 1));
  for (const schema of ordered) {
    for (const [group, types] of schema.triggers) {
      const byType = mapIn(table, group, () => new Map<string, S[]>());
      for (const type of types) mapIn(byType, type, () => []).push(schema);
    }
  }
  return table;
}

/** Assigns each plan to the group that it names, or else to each group that triggers its schema. */
function lookupLayouts(
  groups: Iterable<SourceGroup>,
  readers: readonly Triggered[],
  layoutOf: (plans: Iterable<LookupPlan>) => LookupLayout,
  runtimeLookups: readonly RuntimeLookup[],
): ReadonlyMap<string, LookupLayout> {
  const plansOf = new Map<string, Set<LookupPlan>>();
  for (const { triggers, lookupPlans } of readers) {
    for (const plan of lookupPlans) {
      const targets = plan.sourceGroup === null ? triggers.keys() : [plan.sourceGroup];
      for (const target of targets) mapIn(plansOf, target, () => new Set<LookupPlan>()).add(plan);
    }
  }
  for (const { sourceGroup, plan } of runtimeLookups)
    mapIn(plansOf, sourceGroup, () => new Set<LookupPlan>()).add(plan);
  const layouts = new Map<string, LookupLayout>();
  for (const { alias, sources } of groups) {
    const plans = plansOf.get(alias);
    if (plans === undefined) continue;
    const layout = layoutOf(plans);
    for (const { id } of sources) layouts.set(id, layout);
  }
  return layouts;
}

function mapIn<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
