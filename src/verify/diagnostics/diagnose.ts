/**
 * Finds problems in the data of a store (docs/guide/operating.md "Diagnostics"): all of them, or those of a tenant page by page,
 * with bounded work per page, for requests over HTTP. Findings that need all entities (paths that are always null) are only in
 * `npm run diagnostics`.
 */

import { performance } from 'node:perf_hooks';
import type { Turn } from '../../actors/batch/turn.ts';
import type { Configuration, Tenant } from '../../config/configuration.ts';
import { type EntityRef, formatEntityId } from '../../contract/ids.ts';
import { diagnosedEntitiesMax, diagnosedMsMax, explainedClaimsMax } from '../../contract/limits.ts';
import { groupBy, portions, sum } from '../../lib/lists.ts';
import { readClaimFields } from '../../store/claims/claims.ts';
import { scanFields } from '../../store/derived/keyspace.ts';
import { listOriginIds } from '../../store/entities/directory.ts';
import { countEntities, scanOriginIds } from '../../store/entities/entities.ts';
import { keys } from '../../store/keys.ts';
import type { EnvironmentScope } from '../../store/scopes.ts';
import type { Store } from '../../store/store.ts';
import { clashesOn, type DiagnosisOptions, type EntityDiagnosis, withDiagnosis } from './entity-diagnosis.ts';
import { DiagnosticGroups, type LocatedDiagnostic } from './located-diagnostic.ts';
import { type NullPaths, TypeCounts } from './type-counts.ts';

const entitiesPerPortion = 50;

export interface DiagnoseOptions extends DiagnosisOptions {
  /** Null for all. */
  readonly tenant: string | null;
  onProgress(done: number, total: number): void;
  /** Observer of the paths in the configuration's schemas; absent: paths are not checked. */
  readonly nullPaths?: NullPaths;
}

/**
 * @returns number of checked entities
 * @throws StoreUnavailableError
 */
export async function diagnose(options: DiagnoseOptions): Promise<number> {
  return await withDiagnosis(options, (diagnosis) => diagnoseAll(options, diagnosis));
}

async function diagnoseAll(options: DiagnoseOptions, diagnosis: EntityDiagnosis): Promise<number> {
  const { store, configuration } = options;
  const tenants = tenantsOf(configuration, options.tenant);
  const places = tenants.flatMap((tenant) =>
    [...tenant.sources.keys()].flatMap((sourceId) =>
      store.partitions.tags.map((_, partition) => ({ tenant: tenant.alias, sourceId, partition })),
    ),
  );
  const counts = await Promise.all(
    places.map(({ tenant, sourceId, partition }) => countEntities(store, partition, tenant, sourceId)),
  );
  const total = sum(counts);
  let done = 0;
  options.onProgress(done, total);
  for (const place of places) {
    for await (const originIds of scanOriginIds(store, place.partition, place.tenant, place.sourceId)) {
      for (const portion of portions(originIds, entitiesPerPortion)) {
        await diagnosis.check(place, portion);
        done += portion.length;
        options.onProgress(done, total);
      }
    }
  }
  const { typeCounts } = diagnosis;
  for (const finding of typeCounts.findings(tenants)) options.onDiagnostic(finding);
  for (const finding of options.nullPaths?.findings(typeCounts) ?? []) options.onDiagnostic(finding);
  for (const tenant of tenants) await diagnoseClaims(options, tenant);
  return done;
}

function tenantsOf({ tenants }: Configuration, asked: string | null): Tenant[] {
  return [...tenants.values()].filter(({ alias }) => asked === null || alias === asked);
}

async function diagnoseClaims(options: DiagnoseOptions, { alias, environments }: Tenant): Promise<void> {
  const { store } = options;
  for (const environment of environments) {
    const scope: EnvironmentScope = { tenant: alias, environmentId: environment.id };
    for (const tag of store.partitions.tags) {
      for await (const portion of scanFields(store, keys.clashes(tag, alias, environment.id))) {
        const fields = portion.map(({ field }) => field);
        const lists = await readClaimFields(store, scope, fields);
        fields.forEach((field, index) => {
          const where = { tenant: alias, environment };
          for (const finding of clashesOn(where, field, lists[index] ?? [])) options.onDiagnostic(finding);
        });
      }
    }
  }
}

export interface DiagnosePage {
  readonly diagnostics: readonly LocatedDiagnostic[];
  /** The entity after which the next page begins; sources are sorted by id. Null if all entities have been checked. */
  readonly next: EntityRef | null;
}

interface PageOptions {
  readonly store: Store;
  readonly configuration: Configuration;
  readonly tenant: Tenant;
  /** Null: the beginning. */
  readonly after: EntityRef | null;
  /** The page ends when it has this many findings. */
  readonly first: number;
}

/** @throws StoreUnavailableError */
export async function diagnosePage(options: PageOptions): Promise<DiagnosePage> {
  const groups = new DiagnosticGroups();
  const onDiagnostic = (diagnostic: LocatedDiagnostic) => groups.add(diagnostic);
  return await withDiagnosis({ ...options, onDiagnostic }, (diagnosis) =>
    new PageRun(options, groups, diagnosis).run(),
  );
}

class PageRun {
  readonly #untilMs = performance.now() + diagnosedMsMax;
  #lookedAt = 0;

  constructor(
    private readonly options: PageOptions,
    private readonly groups: DiagnosticGroups,
    private readonly diagnosis: EntityDiagnosis,
  ) {}

  async run(): Promise<DiagnosePage> {
    const { tenant, after } = this.options;
    if (after === null) await this.#addUnused();
    const sourceIds = [...tenant.sources.keys()].sort();
    for (const sourceId of sourceIds) {
      if (after !== null && sourceId < after.sourceId) continue;
      const from = after?.sourceId === sourceId ? after.originId : null;
      const next = await this.#lookThrough(sourceId, from);
      if (next !== null) return { diagnostics: this.groups.all, next: { sourceId, originId: next } };
    }
    return { diagnostics: this.groups.all, next: null };
  }

  /** @returns originId after which the next page continues; null when the source is finished */
  async #lookThrough(sourceId: string, from: string | null): Promise<string | null> {
    const { store, tenant } = this.options;
    for (let after = from; ; ) {
      if (this.#isFull) return after;
      const page = { type: null, after, limit: entitiesPerPortion };
      const originIds = await listOriginIds(store, { tenant: tenant.alias, sourceId }, page);
      const byPartition = groupBy(originIds, (originId) => store.partitions.ofEntity(sourceId, originId));
      for (const [partition, portion] of byPartition) {
        const place = { tenant: tenant.alias, sourceId, partition };
        await this.#addClashes(await this.diagnosis.check(place, portion));
      }
      this.#lookedAt += originIds.length;
      after = originIds.at(-1) ?? after;
      if (originIds.length < entitiesPerPortion) return null;
    }
  }

  get #isFull(): boolean {
    if (this.#lookedAt === 0) return false;
    return (
      this.groups.all.length >= this.options.first ||
      this.#lookedAt >= diagnosedEntitiesMax ||
      performance.now() >= this.#untilMs
    );
  }

  /** Adds the claims of these entities that are not served because of another claim. */
  async #addClashes(turns: readonly Turn[]): Promise<void> {
    const { store, tenant } = this.options;
    const own = new Set(turns.map((turn) => formatEntityId(turn)));
    for (const environment of tenant.environments) {
      const outputs = turns
        .flatMap(({ former }) => former?.outputs ?? [])
        .filter(({ environmentId }) => environmentId === environment.id);
      const fields = [...new Set(outputs.flatMap(({ claims }) => claims.map(({ field }) => field)))];
      const scope = { tenant: tenant.alias, environmentId: environment.id };
      const lists = await readClaimFields(store, scope, fields, explainedClaimsMax);
      fields.forEach((field, index) => {
        for (const finding of clashesOn({ tenant: tenant.alias, environment }, field, lists[index] ?? [])) {
          if (finding.entityId !== undefined && own.has(finding.entityId)) this.groups.add(finding);
        }
      });
    }
  }

  /** Adds types without a schema and schemas without entities, from the directory. */
  async #addUnused(): Promise<void> {
    const { store, tenant } = this.options;
    const counts = await TypeCounts.read(store, tenant);
    for (const finding of counts.findings([tenant])) this.groups.add(finding);
  }
}
