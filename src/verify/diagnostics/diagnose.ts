/** Finds problems in the data of a store (docs/guide/operating.md "Diagnostics"). */
import type { Configuration, Tenant } from '../../config/configuration.ts';
import { portions, sum } from '../../lib/lists.ts';
import { readClaimFields } from '../../store/claims/claims.ts';
import { scanFields } from '../../store/derived/keyspace.ts';
import { countEntities, scanOriginIds } from '../../store/entities/entities.ts';
import { keys } from '../../store/keys.ts';
import type { EnvironmentScope } from '../../store/scopes.ts';
import { clashesOn, type DiagnosisOptions, type EntityDiagnosis, withDiagnosis } from './entity-diagnosis.ts';
import type { NullPaths } from './null-paths.ts';

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
