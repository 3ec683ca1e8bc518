/**
 * Finds what is odd in the data of a store (docs/guide/operating.md "Diagnostics"). Builds all outputs once more and
 * stores none.
 */

import { AutoTypes } from '../../actors/batch/auto-types.ts';
import { diagnosticsOf, typeWithoutRoom } from '../../actors/batch/batch-diagnostics.ts';
import { buildTurns, storedOutput } from '../../actors/batch/build-turns.ts';
import type { CodeSandbox } from '../../actors/batch/code-replies.ts';
import type { Output } from '../../actors/batch/output.ts';
import { loadTurns, type Turn } from '../../actors/batch/turn.ts';
import type { Configuration, Environment, Tenant } from '../../config/configuration.ts';
import type { Diagnostic } from '../../contract/diagnostic.ts';
import { formatViewId } from '../../contract/ids.ts';
import { sliceMs } from '../../contract/limits.ts';
import { portions } from '../../lib/portions.ts';
import { Slice } from '../../lib/slices/slice.ts';
import { Sandbox } from '../../sandbox/sandbox.ts';
import type { Claim } from '../../store/claims/claim-records.ts';
import { readClaimFields } from '../../store/claims/read-claims.ts';
import { type LayoutStates, readLayouts } from '../../store/configuration/layouts.ts';
import { scanFields } from '../../store/derived/keyspace.ts';
import { AutoFields } from '../../store/entities/auto-fields.ts';
import { countEntities, scanOriginIds } from '../../store/entities/entities.ts';
import type { EnvironmentScope } from '../../store/environment-scope.ts';
import { keys } from '../../store/keys.ts';
import { wholeTurn } from '../../store/partitions/intake.ts';
import { readOwner } from '../../store/partitions/owners.ts';
import type { Store } from '../../store/store.ts';
import { IndexedCandidates, ReadOnlyLookups } from '../read-only-lookups.ts';
import { type DiagnosedOutput, type LocatedDiagnostic, locate } from './located-diagnostic.ts';
import type { NullPaths } from './null-paths.ts';
import { checkReferences } from './reference-check.ts';
import { TypeCounts } from './type-counts.ts';

const entitiesPerPortion = 50;

export interface DiagnoseOptions {
  readonly store: Store;
  readonly configuration: Configuration;
  /** Null for all. */
  readonly tenant: string | null;
  onProgress(done: number, total: number): void;
  /** Called with every single finding; `DiagnosticGroups` makes a list of them for people. */
  onDiagnostic(diagnostic: LocatedDiagnostic): void;
  /** Observer of the paths of the configuration's schemas; absent: nothing is said of them. */
  readonly nullPaths?: NullPaths;
}

/** @returns number of entities looked at. @throws StoreUnavailableError */
export async function diagnose(options: DiagnoseOptions): Promise<number> {
  const sandbox = new Sandbox();
  try {
    return await diagnoseWith(options, sandbox);
  } finally {
    sandbox.close();
  }
}

async function diagnoseWith(options: DiagnoseOptions, sandbox: CodeSandbox): Promise<number> {
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
  const typeCounts = new TypeCounts();
  let done = 0;
  for (const { tenant, sourceId, partition } of places) {
    for await (const originIds of scanOriginIds(store, partition, tenant, sourceId)) {
      for (const portion of portions(originIds, entitiesPerPortion)) {
        await diagnosePortion(
          options,
          { layouts, lookups, autoFields, sandbox, typeCounts, partition, tenant, sourceId },
          portion,
        );
        done += portion.length;
        options.onProgress(done, total);
      }
    }
  }
  for (const finding of typeCounts.findings(tenants)) options.onDiagnostic(finding);
  for (const finding of options.nullPaths?.findings(typeCounts) ?? []) options.onDiagnostic(finding);
  for (const tenant of tenants) await diagnoseClaims(options, tenant);
  return done;
}

/** What a portion of entities of one source in one partition is looked at with. */
export interface PortionContext {
  readonly layouts: LayoutStates;
  readonly lookups: ReadOnlyLookups;
  readonly autoFields: AutoFields;
  readonly sandbox: CodeSandbox;
  readonly typeCounts: TypeCounts;
  readonly partition: number;
  readonly tenant: string;
  readonly sourceId: string;
}

/**
 * Looks at some entities; competing claims are not among the findings.
 * @returns the turns of the entities. @throws StoreUnavailableError
 */
export async function diagnosePortion(
  { store, configuration, onDiagnostic }: Pick<DiagnoseOptions, 'store' | 'configuration' | 'onDiagnostic'>,
  { layouts, lookups, autoFields, sandbox, typeCounts, partition, tenant, sourceId }: PortionContext,
  originIds: readonly string[],
): Promise<readonly Turn[]> {
  lookups.beginPortion();
  const works = originIds.map((originId) => wholeTurn({ tenant, sourceId, originId }));
  const { clockMs } = await readOwner(store, partition);
  const tag = store.partitions.tag(partition);
  const turns = await loadTurns(store, tag, { configuration, layouts }, works, clockMs);
  for (const { place, entity, originId } of turns) {
    if (place !== null && entity !== null) typeCounts.add(place.tenant, place.source, entity.type, originId);
  }
  const read = (asked: readonly Output[]) => AutoTypes.read(autoFields, asked);
  const { outputs, withoutRoom, autoTypes } = await buildTurns(turns, lookups, sandbox, read);
  const tell = (output: Output, diagnostic: Diagnostic) => onDiagnostic(locate(outputOf(output), diagnostic));
  for (const output of withoutRoom) tell(output, typeWithoutRoom(output));
  const current = outputs.filter(({ isDeferred }) => !isDeferred);
  const slice = new Slice(sliceMs);
  for (const output of current) {
    const stored = output.failure === null ? await slice.whole(() => storedOutput(output, autoTypes)) : null;
    const misfits = stored?.misfits ?? [];
    for (const diagnostic of diagnosticsOf(output, misfits, (demand) => lookups.isCut(demand))) {
      tell(output, diagnostic);
    }
  }
  for (const { output, diagnostic } of await checkReferences(store, current)) tell(output, diagnostic);
  return turns;
}

function outputOf({ turn, builder }: Output): DiagnosedOutput {
  const { tenantAlias: tenant, sourceId, originId, place } = turn;
  const { kind, name, environmentId } = builder;
  return { tenant, environment: environmentIn(place?.tenant, environmentId), sourceId, originId, kind, name };
}

function environmentIn(tenant: Tenant | undefined, id: string): Environment {
  return tenant?.environments.find((environment) => environment.id === id) ?? { id, alias: id };
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

/** The claims on a field that are not served, each with the view that is served instead. @param claims best first */
export function* clashesOn(
  { tenant, environment }: Pick<DiagnosedOutput, 'tenant' | 'environment'>,
  field: string,
  claims: readonly Claim[],
): Generator<LocatedDiagnostic> {
  const isHandle = field.startsWith('h:');
  // The claim that is served on each host.
  const firsts = new Map<string | null, Claim>();
  for (const claim of claims) {
    const served = firsts.get(claim.host) ?? firsts.get(null);
    firsts.set(claim.host, served ?? claim);
    const { kind, display, view } = claim;
    if (served === undefined) continue;
    const what = isHandle ? 'handle' : kind === 'page' ? 'URL' : 'redirect URL';
    const servedId = formatViewId({ environmentId: environment.id, ...served.view });
    const { sourceId, originId, alias: name } = view;
    yield locate(
      { tenant, environment, sourceId, originId, kind: 'view', name },
      {
        kind: isHandle ? 'handleClash' : 'urlClash',
        place: isHandle ? '$.route.handles' : '$.route.url',
        message: `the ${what} ${JSON.stringify(display)} is claimed by ${servedId} too, which is served`,
      },
    );
  }
}
