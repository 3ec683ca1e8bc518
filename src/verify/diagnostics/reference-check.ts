/** Finds references in built views to a missing schema or view, and views whose response would have too many references. */
import type { Output } from '../../actors/batch/output.ts';
import type { Diagnostic } from '../../contract/diagnostic.ts';
import { formatViewId } from '../../contract/ids.ts';
import { deliveryReferencesMax, sliceMs } from '../../contract/limits.ts';
import { Slice } from '../../lib/slices/slice.ts';
import { nearestName } from '../../lib/suggest.ts';
import type { ReferencePiece } from '../../schemas/build/build-outcome.ts';
import type { ReferenceProperty } from '../../store/derived/stored-body.ts';
import { viewsAreThere, viewTarget } from '../../store/derived/views.ts';
import type { Store } from '../../store/store.ts';
import { AnswerReferences } from './answer-references.ts';

type Target = NonNullable<ReferencePiece['target']>;

/** A finding about one output. */
export interface ReferenceFinding {
  readonly output: Output;
  readonly diagnostic: Diagnostic;
}

/**
 * @param outputs of one tenant
 * @throws StoreUnavailableError
 */
export async function checkReferences(store: Store, outputs: readonly Output[]): Promise<ReferenceFinding[]> {
  const found = await Promise.all(outputs.map((output) => checkOutput(store, output)));
  return [...found.flat(), ...(await checkAnswers(store, outputs))];
}

/**
 * Finds views that delivery rejects unless the request or the client has a `depth`. Runs sequentially, because each may take
 * long.
 */
async function checkAnswers(store: Store, outputs: readonly Output[]): Promise<ReferenceFinding[]> {
  const slice = new Slice(sliceMs);
  const countsOf = new Map<string, AnswerReferences>();
  const findings: ReferenceFinding[] = [];
  for (const output of outputs) {
    const { result, turn, builder } = output;
    if (result.kind !== 'view' || turn.place === null) continue;
    const { environmentId, name: alias } = builder;
    const scope = { tenant: turn.place.tenant.alias, environmentId };
    const counts = countsOf.get(environmentId) ?? new AnswerReferences(store, scope);
    countsOf.set(environmentId, counts);
    const { sourceId, originId } = turn;
    const references = result.view.body.references.map(({ target, path }) => ({
      target: target && viewTarget(target),
      path,
    }));
    const target = viewTarget({ sourceId, originId, alias });
    const excess = await counts.excess({ target, references });
    if (slice.isOver) await slice.next();
    if (excess !== null) findings.push({ output, diagnostic: tooManyReferences(excess) });
  }
  return findings;
}

function tooManyReferences({ alias, property }: ReferenceProperty): Diagnostic {
  return {
    kind: 'limitReached',
    place: '$.properties',
    message:
      `the view cannot be delivered without a \`depth\`: its response would have more than ${deliveryReferencesMax} references, ` +
      `most of them in the property \`${property}\` of the schema \`${alias}\``,
  };
}

/** Whether a reference leads to the view that has it, which is there as soon as it is stored. */
export function isItself({ turn, builder }: Output, target: Target): boolean {
  const { sourceId, originId } = turn;
  return target.sourceId === sourceId && target.originId === originId && target.alias === builder.name;
}

async function checkOutput(store: Store, output: Output): Promise<ReferenceFinding[]> {
  const { result, turn, builder } = output;
  const { place } = turn;
  if (result.kind !== 'view' || place === null) return [];
  const { tenant } = place;
  const findings: ReferenceFinding[] = [];
  const asked: { readonly path: string; readonly target: Target }[] = [];
  for (const { target, viewId, path } of result.view.body.references) {
    if (target === null) {
      if (viewId !== null) findings.push({ output, diagnostic: missing(path, viewId) });
    } else if (!tenant.schemas.has(target.alias)) {
      findings.push({ output, diagnostic: unknownSchema(path, target.alias, [...tenant.schemas.keys()]) });
    } else if (!isItself(output, target)) asked.push({ path, target });
  }
  const scope = { tenant: tenant.alias, environmentId: builder.environmentId };
  const areThere = await viewsAreThere(
    store,
    scope,
    asked.map(({ target }) => target),
  );
  asked.forEach(({ path, target }, index) => {
    if (areThere[index] !== true) findings.push({ output, diagnostic: missing(path, formatViewId(target)) });
  });
  return findings;
}

function missing(path: string, viewId: string): Diagnostic {
  return {
    kind: 'viewMissing',
    place: placeOf(path),
    message: `the reference \`${shown(path)}\` refers to a view that does not exist`,
    example: viewId,
  };
}

function unknownSchema(path: string, alias: string, known: readonly string[]): Diagnostic {
  const nearest = nearestName(alias, known);
  const advice = nearest === null ? '' : `; did you mean ${JSON.stringify(nearest)}?`;
  return {
    kind: 'schemaUnknown',
    place: placeOf(path),
    message: `the reference \`${shown(path)}\` names the schema ${JSON.stringify(alias)}, which does not exist${advice}`,
  };
}

/** The schema property of a path in the view, because views have the same names. */
function placeOf(path: string): string {
  const [, name, quoted] = /^(?:\.([^.[]+)|(\[[^\]]*\]))/.exec(path) ?? [];
  return name === undefined ? `$.properties${quoted ?? ''}` : `$.properties.${name}`;
}

/** The path with `[*]` for every index, so that all items of a list are the same path. */
function shown(path: string): string {
  return path.replace(/^\./, '').replaceAll(/\[[0-9]+\]/g, '[*]');
}
