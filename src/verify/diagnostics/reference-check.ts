/** References of built views that lead nowhere: to a schema that does not exist, or to a view that is not there. */
import type { Output } from '../../actors/batch/output.ts';
import type { Diagnostic } from '../../contract/diagnostic.ts';
import { formatViewId } from '../../contract/ids.ts';
import { nearestName } from '../../lib/suggest.ts';
import type { ReferencePiece } from '../../schemas/build/view-body.ts';
import { viewsAreThere } from '../../store/derived/views.ts';
import type { Store } from '../../store/store.ts';

/** A finding about one output. */
export interface ReferenceFinding {
  readonly output: Output;
  readonly diagnostic: Diagnostic;
}

/** @param outputs of one tenant @throws StoreUnavailableError */
export async function checkReferences(store: Store, outputs: readonly Output[]): Promise<ReferenceFinding[]> {
  const found = await Promise.all(outputs.map((output) => checkOutput(store, output)));
  return found.flat();
}

async function checkOutput(store: Store, output: Output): Promise<ReferenceFinding[]> {
  const { result, turn, builder } = output;
  const { place } = turn;
  if (result.kind !== 'view' || place === null) return [];
  const { tenant } = place;
  const findings: ReferenceFinding[] = [];
  const asked: { readonly path: string; readonly target: NonNullable<ReferencePiece['target']> }[] = [];
  for (const { target, viewId, path } of result.view.body.references) {
    if (target === null) {
      if (viewId !== null) findings.push({ output, diagnostic: missing(path, viewId) });
    } else if (!tenant.schemas.has(target.alias)) {
      findings.push({ output, diagnostic: unknownSchema(path, target.alias, [...tenant.schemas.keys()]) });
    } else asked.push({ path, target });
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
    message: `the reference \`${shown(path)}\` leads to a view that is not there`,
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

/** The property of the schema that a place of the view comes from: views have the names that schemas give. */
function placeOf(path: string): string {
  const [, name, quoted] = /^(?:\.([^.[]+)|(\[[^\]]*\]))/.exec(path) ?? [];
  return name === undefined ? `$.properties${quoted ?? ''}` : `$.properties.${name}`;
}

/** The path with `[*]` for every index, because items of one list are one place. */
function shown(path: string): string {
  return path.replace(/^\./, '').replaceAll(/\[[0-9]+\]/g, '[*]');
}
