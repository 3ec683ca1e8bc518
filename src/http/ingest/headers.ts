/** Reads and writes the path and headers of the ingest interface (docs/reference/http.md "Saving one entity"). */
import { ProblemError, problems } from '../../contract/errors.ts';
import type { Call } from '../call.ts';
import type { Services } from '../services.ts';
import { percentDecoded } from '../uws/text-decoding.ts';

/** Exactly these values (docs/reference/http.md "Changing the type"). */
const trueTexts = new Set(['true', 'TRUE', '1']);

/** True when the request lets entities change their type. */
export function forcesType(call: Call): boolean {
  return trueTexts.has(call.prefixedHeader('force-type'));
}

/** The originId in the path. @throws ProblemError when it is not percent-encoded UTF-8 */
export function pathOriginId(call: Call): string {
  const originId = percentDecoded(call.parameters[0] ?? '');
  if (originId !== null) return originId;
  throw new ProblemError(
    problems.requestInvalid({ originId: 'The originId in the path must be percent-encoded UTF-8' }),
  );
}

/** Why an entity cannot take another type (docs/reference/http.md "Changing the type"). */
export function typeConflictText(services: Services): string {
  const header = `${services.headerPrefixes[0] ?? 'X-Service'}-Force-Type`;
  return `The type of an entity cannot change: send the header ${header}: true, or delete the entity and ingest it again`;
}
