/** The diagnostics of one output (docs/guide/operating.md "Diagnostics"). Pure. */
import type { Diagnostic } from '../../contract/diagnostic.ts';
import {
  autoFieldsMax,
  autoIndexedNamesMax,
  codeUrlsPerViewMax,
  destinationOptionsCharactersMax,
  handleCodePointsMax,
  handlesPerViewMax,
  lookupResultsMax,
  urlCodePointsMax,
} from '../../contract/limits.ts';
import type { Misfit } from './item.ts';
import type { LookupDemand } from './lookup-source.ts';
import { type Output, outcomeOf } from './output.ts';

/** All except clashes, which belong to a URL or a handle and not to a single view. */
export function diagnosticsOf(
  { result, demands, builder }: Output,
  misfits: readonly Misfit[],
  isCut: (demand: LookupDemand) => boolean,
): readonly Diagnostic[] {
  const outcome = outcomeOf(result);
  const reported = outcome?.diagnostics ?? [];
  if (outcome?.failure != null) {
    const { message, place } = outcome.failure;
    return [...reported, { kind: 'schemaFailed', message, place }];
  }
  const lacksUrl = result.kind === 'view' && result.claims.url === null && claimsUrl(builder);
  const omitted = omittedOf(result);
  if (misfits.length === 0 && demands.length === 0 && !lacksUrl && omitted.length === 0) return reported;
  return [
    ...reported,
    ...(lacksUrl ? [urlMissing] : []),
    ...omitted,
    ...misfits.map((misfit) => misfitDiagnostic(misfit, builder.name)),
    ...demands.filter(isCut).map(({ query }) => ({
      kind: 'lookupCut' as const,
      place: query.place,
      message: `more than ${lookupResultsMax} entities match this lookup; only the first are included`,
    })),
  ];
}

const urlRule = `a URL begins with one / or http(s):// and a valid host, has no fragment (#) and at most ${urlCodePointsMax} characters`;

const urlMissing: Diagnostic = {
  kind: 'urlMissing',
  place: '$.route.url',
  message: `route.url is not a URL, so the view has none: ${urlRule}`,
};

const urlUnusable: Diagnostic = {
  kind: 'urlMissing',
  place: '$.routes',
  message: `routes gives the view a URL or redirect that is not a URL, and was left out: ${urlRule}`,
};

const claimsCut: Diagnostic = {
  kind: 'limitReached',
  place: '$.route',
  message:
    `handles or URLs of the view were left out: it can have at most ${handlesPerViewMax} handles of ${handleCodePointsMax} characters, ` +
    `and at most ${codeUrlsPerViewMax} URLs and redirects that a schema in JavaScript gives it`,
};

const optionsCut: Diagnostic = {
  kind: 'limitReached',
  place: '$.destinations',
  message: `options of a destination were left out: they can have at most ${destinationOptionsCharactersMax} characters`,
};

const noneOmitted: readonly Diagnostic[] = [];

/** Findings about omitted claims and destination options of a view. */
function omittedOf(result: Output['result']): readonly Diagnostic[] {
  if (result.kind !== 'view') return noneOmitted;
  const { claims, destinations } = result;
  const areOptionsCut = destinations.some(({ areCut }) => areCut);
  if (!claims.areCut && !claims.areUnusable && !areOptionsCut) return noneOmitted;
  return [
    ...(claims.areUnusable ? [urlUnusable] : []),
    ...(claims.areCut ? [claimsCut] : []),
    ...(areOptionsCut ? [optionsCut] : []),
  ];
}

function claimsUrl(builder: Output['builder']): boolean {
  return builder.kind === 'view' && builder.schema.claimsUrl;
}

function misfitDiagnostic({ field, type }: Misfit, index: string): Diagnostic {
  const place = placeOfField(field);
  const name = JSON.stringify(field);
  return type === null
    ? {
        kind: 'limitReached',
        place,
        message: `the field ${name} is not in the index ${index}: an auto-indexed type can have at most ${autoFieldsMax} fields, a source ${autoIndexedNamesMax} types and fields`,
      }
    : {
        kind: 'valueDoesNotFit',
        place,
        message: `a value of the field ${name} does not fit its type ${type}, and was left out of the index ${index}`,
      };
}

/** The finding about an item that is not built, because its source has no room for another entity type. */
export function typeWithoutRoom({ builder }: Output): Diagnostic {
  return {
    kind: 'limitReached',
    place: '$.type',
    message: `the index ${builder.name} does not exist: a source can have at most ${autoIndexedNamesMax} auto-indexed types and fields`,
  };
}

function placeOfField(field: string): string {
  return /^[A-Za-z_]\w*$/.test(field) ? `$.properties.${field}` : `$.properties[${JSON.stringify(field)}]`;
}
