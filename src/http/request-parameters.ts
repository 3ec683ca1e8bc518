/** The query parameters of a request, and the version that it requires (docs/reference/http.md "Conventions"). */
import { ProblemError, problems } from '../contract/errors.ts';
import { managementPageDefault, managementPageMax } from '../contract/limits.ts';
import { parseVersion, type Version } from '../store/visibility/version.ts';
import type { Call } from './call.ts';
import type { Services } from './services.ts';
import { queryParameters } from './uws/request-headers.ts';

/** An empty parameter counts as absent. */
export class QueryParameters {
  readonly #given: readonly (readonly [name: string, value: string])[];

  /** @param query as received. @throws ProblemError `queryStringInvalid` */
  constructor(query: string) {
    const given = queryParameters(query);
    if (given === null) throw new ProblemError(problems.queryStringInvalid);
    this.#given = given.filter(([, value]) => value !== '');
  }

  /** The values of a parameter that can be repeated. */
  all(name: string): readonly string[] {
    return this.#given.filter(([known]) => known === name).map(([, value]) => value);
  }

  /** The value of any other parameter, or null. @throws ProblemError `parameterInvalid` if it is given twice */
  one(name: string): string | null {
    const [value = null, ...others] = this.all(name);
    if (others.length > 0) throw new ProblemError(problems.parameterInvalid(name, 'can be given only once'));
    return value;
  }
}

/** A query parameter; null if it is absent. @throws ProblemError `queryStringInvalid`, `parameterInvalid` */
export function requestedText(call: Call, name: string): string | null {
  return new QueryParameters(call.query).one(name);
}

/** The requested page of a list: `first` and `after`. @throws ProblemError `parameterInvalid` */
export function requestedPage(call: Call): { readonly first: number; readonly after: string | null } {
  const text = requestedText(call, 'first') ?? String(managementPageDefault);
  const first = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (first < 1 || first > managementPageMax) {
    const rule = `must be a whole number from 1 to ${managementPageMax}`;
    throw new ProblemError(problems.parameterInvalid('first', rule));
  }
  return { first, after: requestedText(call, 'after') };
}

/**
 * The version that a call requires (docs/reference/http.md "Reading your own writes"), or null.
 * @param invalidStatus status that the interface uses for a malformed token
 * @throws ProblemError of that status
 */
export function requestedVersion(call: Call, invalidStatus: 400 | 422): Version | null {
  const token = call.header('min-version');
  if (token === '') return null;
  const version = parseVersion(token);
  if (version !== null) return version;
  const { versionInvalid, queryInvalid } = problems;
  throw new ProblemError(invalidStatus === 422 ? versionInvalid : queryInvalid([versionInvalid.message]));
}

/** @throws ProblemError `versionNotReached` if the version is not visible in time */
export async function waitForVersion(
  { progress, limits }: Services,
  tenant: string,
  version: Version,
): Promise<void> {
  if (await progress.waitForVersion(tenant, version, limits.minVersionWaitMs)) return;
  throw new ProblemError(problems.versionNotReached);
}

/** Waits for the version that a call requires, if any. @throws ProblemError 422, `versionNotReached` */
export async function waitForRequestedVersion(services: Services, call: Call, tenant: string): Promise<void> {
  const version = requestedVersion(call, 422);
  if (version !== null) await waitForVersion(services, tenant, version);
}
