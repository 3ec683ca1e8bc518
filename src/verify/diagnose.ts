/** Every finding about the data of a store (contract section 2), by making everything once more without storing it. */
import { buildsOf, runBuilds } from '../actors/build.ts';
import { diagnosticsOf, typeWithoutRoom } from '../actors/diagnostics.ts';
import { AutoTypes, storedItem } from '../actors/items.ts';
import { loadTurns } from '../actors/turn.ts';
import type { Configuration, Tenant } from '../config/types.ts';
import type { Diagnostic } from '../contract/diagnostic.ts';
import { formatViewId } from '../contract/ids.ts';
import { AutoFields } from '../store/auto-fields.ts';
import { readClaimFields } from '../store/claims.ts';
import { countEntities, scanOriginIds } from '../store/entities.ts';
import { keys } from '../store/keys.ts';
import { scanFields } from '../store/keyspace.ts';
import { type LayoutStates, readLayouts } from '../store/layouts.ts';
import type { Store } from '../store/store.ts';
import type { Claim, EnvironmentScope } from '../store/types.ts';
import { thingSubject } from './finding.ts';
import { IndexedCandidates, ReadOnlyLookups } from './read-only-lookups.ts';

const entitiesPerPortion = 50;

/** A finding with what it was found about. */
export interface LocatedDiagnostic extends Diagnostic {
  readonly tenant: string;
  /** View id; for an index item its entity and index. */
  readonly subject: string;
}

export interface DiagnoseOptions {
  readonly store: Store;
  readonly configuration: Configuration;
  /** Null for all. */
  readonly tenant: string | null;
  onProgress(done: number, total: number): void;
  onDiagnostic(diagnostic: LocatedDiagnostic): void;
}

/** @returns number of entities looked at. @throws StoreUnavailableError */
export async function diagnose(options: DiagnoseOptions): Promise<number> {
  const { store, configuration, tenant: asked } = options;
  const tenants = [...configuration.tenants.values()].filter(
    ({ alias }) => asked === null || alias === asked,
  );
  const layouts = await readLayouts(store);
  const lookups = new ReadOnlyLookups(store, new IndexedCandidates(store, layouts));
  const autoFields = new AutoFields(store);
  const places = tenants.flatMap((tenant) =>
    [...tenant.sources.keys()].flatMap((sourceId) =>
      store.partitions.tags.map((_, partition) => ({ tenant: tenant.alias, sourceId, partition })),
    ),
  );
  const counts = await Promise.all(
    places.map(({ tenant, sourceId, partition }) => countEntities(store, partition, tenant, sourceId)),
  );
  const total = counts.reduce((sum, count) => sum + count, 0);
  let done = 0;
  for (const { tenant, sourceId, partition } of places) {
    for await (const originIds of scanOriginIds(store, partition, tenant, sourceId)) {
      for (let at = 0; at < originIds.length; at += entitiesPerPortion) {
        const portion = originIds.slice(at, at + entitiesPerPortion);
        await diagnosePortion(
          options,
          { layouts, lookups, autoFields, partition, tenant, sourceId },
          portion,
        );
        done += portion.length;
        options.onProgress(done, total);
      }
    }
  }
  for (const tenant of tenants) await diagnoseClaims(options, tenant);
  return done;
}

interface PortionContext {
  readonly layouts: LayoutStates;
  readonly lookups: ReadOnlyLookups;
  readonly autoFields: AutoFields;
  readonly partition: number;
  readonly tenant: string;
  readonly sourceId: string;
}

async function diagnosePortion(
  { store, configuration, onDiagnostic }: DiagnoseOptions,
  { layouts, lookups, autoFields, partition, tenant, sourceId }: PortionContext,
  originIds: readonly string[],
): Promise<void> {
  lookups.beginPortion();
  const works = originIds.map((originId) => ({ tenant, sourceId, originId, only: null, repair: null }));
  const turns = await loadTurns(store, store.partitions.tag(partition), { configuration, layouts }, works);
  const asked = buildsOf(turns);
  const autoTypes = new AutoTypes();
  await autoTypes.read(autoFields, asked);
  const builds = asked.filter((build) => autoTypes.admits(build));
  await runBuilds(builds, lookups);
  for (const build of asked.filter((one) => !autoTypes.admits(one))) {
    onDiagnostic({ tenant, subject: thingSubject(build.turn, build.maker), ...typeWithoutRoom(build) });
  }
  for (const build of builds) {
    if (build.isDeferred) continue;
    const misfits = storedItem(build, autoTypes)?.misfits ?? [];
    const subject = thingSubject(build.turn, build.maker);
    for (const diagnostic of diagnosticsOf(build, misfits, (demand) => lookups.isCut(demand))) {
      onDiagnostic({ tenant, subject, ...diagnostic });
    }
  }
}

async function diagnoseClaims(options: DiagnoseOptions, { alias, environments }: Tenant): Promise<void> {
  const { store } = options;
  for (const { id: environmentId } of environments) {
    const scope: EnvironmentScope = { tenant: alias, environmentId };
    for (const tag of store.partitions.tags) {
      for await (const portion of scanFields(store, keys.clashes(tag, alias, environmentId))) {
        const fields = portion.map(({ field }) => field);
        const lists = await readClaimFields(store, scope, fields);
        fields.forEach((field, index) => {
          tellClash(options, scope, field, lists[index] ?? []);
        });
      }
    }
  }
}

/** Each claim that is not served, with the view that is served instead of it. */
function tellClash(
  { onDiagnostic }: DiagnoseOptions,
  { tenant, environmentId }: EnvironmentScope,
  field: string,
  claims: readonly Claim[],
): void {
  const isHandle = field.startsWith('h:');
  for (const [index, claim] of claims.entries()) {
    const served = claims.slice(0, index).find(({ host }) => host === claim.host || host === null);
    if (served === undefined) continue;
    const what = isHandle ? 'handle' : claim.kind === 'page' ? 'URL' : 'redirect URL';
    onDiagnostic({
      tenant,
      subject: formatViewId({ environmentId, ...claim.view }),
      kind: isHandle ? 'handleClash' : 'urlClash',
      place: isHandle ? '$.route.handles' : '$.route.url',
      message: `the ${what} ${JSON.stringify(claim.display)} is claimed by ${formatViewId({ environmentId, ...served.view })} too, which is served`,
    });
  }
}
