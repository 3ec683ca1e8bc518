/** Findings about the data that one build met (contract section 2): never failures. Pure. */
import type { Diagnostic } from '../contract/diagnostic.ts';
import { lookupResultsMax } from '../contract/limits.ts';
import { type Build, outcomeOf } from './build.ts';
import type { Misfit } from './items.ts';
import type { LookupDemand } from './lookup-source.ts';

/** Clashes are not among them: they belong to a URL or a handle, not to one view. */
export function diagnosticsOf(
  { built, demands, maker }: Build,
  misfits: readonly Misfit[],
  isCut: (demand: LookupDemand) => boolean,
): Diagnostic[] {
  return [
    ...(outcomeOf(built)?.diagnostics ?? []),
    ...misfits.map(({ field, type }) => ({
      kind: 'valueDoesNotFit' as const,
      place: placeOfField(field),
      message: `a value of the field ${JSON.stringify(field)} is no ${type} and was left out of the index ${maker.name}`,
    })),
    ...demands.filter(isCut).map(({ query }) => ({
      kind: 'lookupCut' as const,
      place: query.place,
      message: `more than ${lookupResultsMax} entities match this lookup; only the first are there`,
    })),
  ];
}

function placeOfField(field: string): string {
  return /^[A-Za-z_]\w*$/.test(field) ? `$.properties.${field}` : `$.properties[${JSON.stringify(field)}]`;
}
