/** Previews the view of an entity: built as in a worker, but neither stored nor registered. */

import { performance } from 'node:perf_hooks';
import { AutoTypes } from '../../actors/batch/auto-types.ts';
import { diagnosticsOf } from '../../actors/batch/batch-diagnostics.ts';
import { storedOutput } from '../../actors/batch/build-turns.ts';
import { builderOf } from '../../actors/batch/builder.ts';
import type { CodeSandbox } from '../../actors/batch/code-replies.ts';
import { buildOutputs, Output } from '../../actors/batch/output.ts';
import type { Turn } from '../../actors/batch/turn.ts';
import { claimsOfOutput } from '../../actors/batch/view-claims.ts';
import type { Environment, Source, Tenant } from '../../config/configuration.ts';
import type { StoredEntity } from '../../contract/entity.ts';
import { formatViewId } from '../../contract/ids.ts';
import type { Json, JsonObject } from '../../contract/json.ts';
import { previewEntitiesMax, previewMs, sliceMs } from '../../contract/limits.ts';
import { grouped } from '../../lib/message-text.ts';
import { Slice } from '../../lib/slices/slice.ts';
import type { FullSchema, IndexSchema } from '../../schemas/schema.ts';
import { readLayouts } from '../../store/configuration/layouts.ts';
import { viewsAreThere } from '../../store/derived/views.ts';
import { AutoFields } from '../../store/entities/auto-fields.ts';
import { isUrlField } from '../../store/keys.ts';
import type { Store } from '../../store/store.ts';
import { type LocatedDiagnostic, locate } from '../../verify/diagnostics/located-diagnostic.ts';
import { checkReferences, isItself } from '../../verify/diagnostics/reference-check.ts';
import { ReadOnlyLookups } from '../../verify/read-only-lookups.ts';
import { PlannedCandidates, ScanTooLongError, type WalkBounds } from '../planned-candidates.ts';
import { viewJson } from '../view-json.ts';

/** Records the console output of schema code during a build. */
class ConsoleRecorder implements CodeSandbox {
  readonly #lines = new Map<string, readonly string[]>();

  constructor(private readonly sandbox: CodeSandbox) {}

  /** In the order of the first calls. */
  get lines(): readonly string[] {
    return [...this.#lines.values()].flat();
  }

  async run(...asked: Parameters<CodeSandbox['run']>): ReturnType<CodeSandbox['run']> {
    const [calls] = asked;
    const replies = await this.sandbox.run(...asked);
    calls.forEach(({ task, alias, input }, at) => {
      // A call that waits for lookups is repeated from the start, so the last run has the complete output.
      this.#lines.set(JSON.stringify([task, alias, input]), replies[at]?.log ?? []);
    });
    return replies;
  }
}

/** A schema of the tenant, stored or not. */
export type PreviewedSchema =
  | { readonly kind: 'full'; readonly schema: FullSchema }
  | { readonly kind: 'index'; readonly schema: IndexSchema }
  /** The index of a type of an auto-indexed group. */
  | { readonly kind: 'auto'; readonly sourceGroup: string; readonly type: string };

export interface PreviewRequest {
  /** Contains the schema and its partials. */
  readonly tenant: Tenant;
  readonly environment: Environment;
  readonly source: Source;
  readonly entity: StoredEntity;
  readonly previewed: PreviewedSchema;
}

export interface Preview {
  /** Null for an index, and if the schema builds nothing for the entity. */
  readonly view: Json;
  /** URLs and redirects of the view. */
  readonly urls: readonly string[];
  readonly handles: readonly string[];
  /** For an index: the fields, converted to their types. */
  readonly item?: JsonObject;
  readonly lookups: readonly {
    readonly place: string;
    readonly matched: number;
    readonly cut: boolean;
  }[];
  /** References to missing views. */
  readonly missing: readonly { readonly path: string; readonly viewId: string }[];
  readonly diagnostics: readonly LocatedDiagnostic[];
  /** Console output of the schema's code; absent for none. */
  readonly console?: readonly string[];
  readonly milliseconds: number;
}

/** @throws ScanTooLongError, StoreUnavailableError */
export async function preview(store: Store, request: PreviewRequest, sandbox: CodeSandbox): Promise<Preview> {
  const startMs = performance.now();
  const { tenant, environment, source, entity } = request;
  const layouts = await readLayouts(store);
  const candidates = new PlannedCandidates(store, layouts, walkBounds(startMs));
  const lookups = new ReadOnlyLookups(store, candidates, entity);
  const output = new Output(turnOf(request), builderOf(tenant, environment.id, request.previewed));
  const recorder = new ConsoleRecorder(sandbox);
  await buildOutputs([output], lookups, recorder);
  const references = await checkReferences(store, [output]);
  const autoTypes = await AutoTypes.foresee(new AutoFields(store), [output]);
  const slice = new Slice(sliceMs);
  const stored = output.failure === null ? await slice.run(storedOutput(output, autoTypes)) : null;
  const found = [
    ...diagnosticsOf(output, stored?.misfits ?? [], (demand) => lookups.isCut(demand)),
    ...references.map(({ diagnostic }) => diagnostic),
  ];
  const { kind, name } = output.builder;
  const where = { tenant: tenant.alias, environment, sourceId: source.id, originId: entity.originId };
  return {
    ...(await madeOf(store, output)),
    ...(stored?.item == null ? {} : { item: stored.item.fields }),
    lookups: output.demands.map((demand) => ({
      place: demand.query.place,
      matched: lookups.matched(demand),
      cut: lookups.isCut(demand),
    })),
    diagnostics: found.map((diagnostic) => locate({ ...where, kind, name }, diagnostic)),
    ...(recorder.lines.length === 0 ? {} : { console: recorder.lines }),
    milliseconds: Math.round(performance.now() - startMs),
  };
}

/** A portion takes about a millisecond. */
const entitiesPerPortion = 50;

/** A preview scans the source for each lookup without an index, and only keeps matches, because it runs in a front. */
function walkBounds(startMs: number): WalkBounds {
  let entitiesLeft = previewEntitiesMax;
  return {
    keepsCopies: false,
    nextSize: () => entitiesPerPortion,
    spend(entities, { query }, { sourceGroup }) {
      entitiesLeft -= entities;
      if (entitiesLeft >= 0 && performance.now() < startMs + previewMs) return;
      throw new ScanTooLongError(
        `the lookup at ${query.place} asks for properties that no lookup index of the source group ${sourceGroup} has, ` +
          `and finding its entities takes more than ${grouped(previewEntitiesMax)} entities or ${previewMs / 1000} s; ` +
          'once the schema is applied there is an index',
      );
    },
  };
}

function turnOf({ tenant, source, entity }: PreviewRequest): Turn {
  return {
    tenant: tenant.alias,
    sourceId: source.id,
    originId: entity.originId,
    place: { tenant, source },
    layouts: [],
    urlForm: tenant.urlForm,
    entity,
    former: null,
    indexEntries: [],
    only: null,
    actions: new Set(),
    repair: null,
    isUncertain: false,
    causes: new Map(),
    isChange: false,
    // An unpublished entity is previewed as if it were published.
    state: 'published',
    isBySchedule: false,
    moments: [],
  };
}

type Made = Pick<Preview, 'view' | 'urls' | 'handles' | 'missing'>;

const nothing: Made = { view: null, urls: [], handles: [], missing: [] };

async function madeOf(store: Store, output: Output): Promise<Made> {
  const { turn, builder, result, failure } = output;
  if (result.kind !== 'view' || failure !== null || turn.entity === null) return nothing;
  if (builder.kind === 'view' && !builder.schema.makesView) return nothing;
  const { environmentId } = builder;
  const claims = claimsOfOutput(output);
  const { body } = result.view;
  return {
    view: viewJson(body, environmentId),
    urls: claims.filter(({ field }) => isUrlField(field)).map(({ display }) => display),
    handles: claims.filter(({ field }) => !isUrlField(field)).map(({ display }) => display),
    missing: await missingOf(store, output, body.references),
  };
}

async function missingOf(
  store: Store,
  output: Output,
  references: Extract<Output['result'], { kind: 'view' }>['view']['body']['references'],
): Promise<Preview['missing']> {
  const asked = references.flatMap(({ target, path }) =>
    target === null || isItself(output, target) ? [] : [{ target, path }],
  );
  const scope = { tenant: output.turn.tenant, environmentId: output.builder.environmentId };
  const areThere = await viewsAreThere(
    store,
    scope,
    asked.map(({ target }) => target),
  );
  const missing = asked.flatMap(({ target, path }, at) =>
    areThere[at] === true ? [] : [{ path, viewId: formatViewId(target) }],
  );
  const unreadable = references.flatMap(({ target, viewId, path }) =>
    target === null && viewId !== null ? [{ path, viewId }] : [],
  );
  return [...missing, ...unreadable].map(({ path, viewId }) => ({ path: path.replace(/^\./, ''), viewId }));
}
