/** Rebuilds the outputs of entities without storing them, and finds problems in them. */
import { AutoTypes } from '../../actors/batch/auto-types.ts';
import { diagnosticsOf, typeWithoutRoom } from '../../actors/batch/batch-diagnostics.ts';
import { buildTurns, storedOutput } from '../../actors/batch/build-turns.ts';
import type { CodeSandbox } from '../../actors/batch/code-replies.ts';
import type { Output } from '../../actors/batch/output.ts';
import { type Turn, turnsNow } from '../../actors/batch/turn.ts';
import type { Configuration, Environment, Tenant } from '../../config/configuration.ts';
import type { Diagnostic } from '../../contract/diagnostic.ts';
import { formatViewId } from '../../contract/ids.ts';
import { sliceMs } from '../../contract/limits.ts';
import { Slice } from '../../lib/slices/slice.ts';
import { Sandbox } from '../../sandbox/sandbox.ts';
import type { Claim } from '../../store/claims/claim-records.ts';
import { type LayoutStates, readLayouts } from '../../store/configuration/layouts.ts';
import { AutoFields } from '../../store/entities/auto-fields.ts';
import { wholeTurn } from '../../store/partitions/intake.ts';
import type { SourceRef } from '../../store/scopes.ts';
import type { Store } from '../../store/store.ts';
import { IndexedCandidates, ReadOnlyLookups } from '../read-only-lookups.ts';
import { type DiagnosedOutput, type LocatedDiagnostic, locate } from './located-diagnostic.ts';
import { checkReferences } from './reference-check.ts';
import { TypeCounts } from './type-counts.ts';

export interface DiagnosisOptions {
  readonly store: Store;
  readonly configuration: Configuration;
  /** Called with each finding; `DiagnosticGroups` groups them for people. */
  onDiagnostic(diagnostic: LocatedDiagnostic): void;
  /** Runs tenant code; absent: a temporary sandbox. */
  readonly sandbox?: CodeSandbox;
}

/** Entities of one source in one partition. */
export interface DiagnosedPlace extends SourceRef {
  readonly partition: number;
}

/** @throws StoreUnavailableError */
export async function withDiagnosis<T>(
  options: DiagnosisOptions,
  use: (diagnosis: EntityDiagnosis) => Promise<T>,
): Promise<T> {
  const diagnosisIn = async (sandbox: CodeSandbox) =>
    use(new EntityDiagnosis(options, await readLayouts(options.store), sandbox));
  if (options.sandbox !== undefined) return await diagnosisIn(options.sandbox);
  const sandbox = new Sandbox();
  try {
    return await diagnosisIn(sandbox);
  } finally {
    sandbox.close();
  }
}

export class EntityDiagnosis {
  /** Counts of the checked entities. */
  readonly typeCounts = new TypeCounts();
  readonly #lookups: ReadOnlyLookups;
  readonly #autoFields: AutoFields;

  constructor(
    private readonly options: DiagnosisOptions,
    private readonly layouts: LayoutStates,
    private readonly sandbox: CodeSandbox,
  ) {
    const { store } = options;
    this.#lookups = new ReadOnlyLookups(store, new IndexedCandidates(store, layouts));
    this.#autoFields = new AutoFields(store);
  }

  /**
   * Checks some entities, except for competing claims.
   * @returns the turns of the entities
   * @throws StoreUnavailableError
   */
  async check(
    { tenant, sourceId, partition }: DiagnosedPlace,
    originIds: readonly string[],
  ): Promise<readonly Turn[]> {
    const { store, configuration, onDiagnostic } = this.options;
    const lookups = this.#lookups;
    lookups.beginPortion();
    const works = originIds.map((originId) => wholeTurn({ tenant, sourceId, originId }));
    const turns = await turnsNow(store, partition, { configuration, layouts: this.layouts }, works);
    for (const { place, entity, originId } of turns) {
      if (place !== null && entity !== null) {
        this.typeCounts.add(place.tenant, place.source, entity.type, originId);
      }
    }
    const read = (asked: readonly Output[]) => AutoTypes.read(this.#autoFields, asked);
    const { outputs, withoutRoom, autoTypes } = await buildTurns(turns, lookups, this.sandbox, read);
    const report = (output: Output, diagnostic: Diagnostic) =>
      onDiagnostic(locate(outputOf(output), diagnostic));
    for (const output of withoutRoom) report(output, typeWithoutRoom(output));
    const current = outputs.filter(({ isDeferred }) => !isDeferred);
    const slice = new Slice(sliceMs);
    for (const output of current) {
      const stored = output.failure === null ? await slice.run(storedOutput(output, autoTypes)) : null;
      const misfits = stored?.misfits ?? [];
      for (const diagnostic of diagnosticsOf(output, misfits, (demand) => lookups.isCut(demand))) {
        report(output, diagnostic);
      }
    }
    for (const { output, diagnostic } of await checkReferences(store, current)) report(output, diagnostic);
    return turns;
  }
}

function outputOf({ turn, builder }: Output): DiagnosedOutput {
  const { tenant, sourceId, originId, place } = turn;
  const { kind, name, environmentId } = builder;
  return { tenant, environment: environmentIn(place?.tenant, environmentId), sourceId, originId, kind, name };
}

function environmentIn(tenant: Tenant | undefined, id: string): Environment {
  return tenant?.environments.find((environment) => environment.id === id) ?? { id, alias: id };
}

/** The claims on a field that are not served, each with the view that is served instead. @param claims sorted by rank */
export function* clashesOn(
  { tenant, environment }: Pick<DiagnosedOutput, 'tenant' | 'environment'>,
  field: string,
  claims: readonly Claim[],
): Generator<LocatedDiagnostic> {
  const isHandle = field.startsWith('h:');
  // The served claim by host.
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
