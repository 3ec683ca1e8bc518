import type { LookupLayout } from '../../schemas/lookup/layout.ts';
import type { LookupPlan } from '../../schemas/lookup/plan.ts';
import type { CompiledSchemas, FullSchema, IndexSchema, PartialSchema } from '../../schemas/schema.ts';
import type { Environment, Source, SourceGroup, Tenant } from '../configuration.ts';
import type { TenantFile } from './tenant-file.ts';

interface Triggered {
  readonly alias: string;
  readonly triggers: ReadonlyMap<string, ReadonlySet<string>>;
  readonly lookupPlans: readonly LookupPlan[];
}

/** Source group alias -> entity type -> schemas. */
type TriggerTable<S> = ReadonlyMap<string, ReadonlyMap<string, readonly S[]>>;

/** A tenant that keeps its answers in tables, because each entity asks for them. */
export class LoadedTenant implements Tenant {
  readonly alias: string;
  readonly environments: readonly Environment[];
  readonly sourceGroups: ReadonlyMap<string, SourceGroup>;
  readonly sources: ReadonlyMap<string, Source>;
  readonly schemas: ReadonlyMap<string, FullSchema>;
  readonly partials: ReadonlyMap<string, PartialSchema>;
  readonly indexes: ReadonlyMap<string, IndexSchema>;
  readonly lookupLayouts: ReadonlyMap<string, LookupLayout>;
  readonly #sourceIn: ReadonlyMap<string, ReadonlyMap<string, Source>>;
  readonly #schemasFor: TriggerTable<FullSchema>;
  readonly #indexesFor: TriggerTable<IndexSchema>;

  /** @param layoutOf makes the lookup indexes that a source must keep for the plans that read it */
  constructor(
    alias: string,
    file: TenantFile,
    compiled: CompiledSchemas,
    layoutOf: (plans: LookupPlan[]) => LookupLayout,
  ) {
    this.alias = alias;
    this.environments = file.environments;
    this.sourceGroups = file.sourceGroups;
    this.sources = new Map(file.sources.map(({ source }) => [source.id, source]));
    this.schemas = compiled.schemas;
    this.partials = compiled.partials;
    this.indexes = compiled.indexes;
    this.#sourceIn = sourceTable(file.sourceGroups.values());
    this.#schemasFor = triggerTable(compiled.schemas.values());
    this.#indexesFor = triggerTable(compiled.indexes.values());
    const readers = [...compiled.schemas.values(), ...compiled.indexes.values()];
    this.lookupLayouts = lookupLayouts(file.sourceGroups.values(), readers, layoutOf);
  }

  sourceIn(sourceGroup: string, environmentId: string): Source | null {
    return this.#sourceIn.get(sourceGroup)?.get(environmentId) ?? null;
  }

  schemasFor(sourceGroup: string, type: string): readonly FullSchema[] {
    return this.#schemasFor.get(sourceGroup)?.get(type) ?? [];
  }

  indexesFor(sourceGroup: string, type: string): readonly IndexSchema[] {
    return this.#indexesFor.get(sourceGroup)?.get(type) ?? [];
  }
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

/** Every plan goes to the group that it names, or else to each group that triggers its schema. */
function lookupLayouts(
  groups: Iterable<SourceGroup>,
  readers: readonly Triggered[],
  layoutOf: (plans: LookupPlan[]) => LookupLayout,
): ReadonlyMap<string, LookupLayout> {
  const plansOf = new Map<string, LookupPlan[]>();
  for (const { triggers, lookupPlans } of readers) {
    for (const plan of lookupPlans) {
      const targets = plan.sourceGroup === null ? triggers.keys() : [plan.sourceGroup];
      for (const target of targets) mapIn(plansOf, target, () => []).push(plan);
    }
  }
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
