/** Waits for the version in a Min-Version header (docs/reference/http.md "Reading your own writes"). */
import { ProblemError, problems } from '../../contract/errors.ts';
import { parseVersion, type Version } from '../../store/visibility/version.ts';
import type { Call } from '../call.ts';
import type { Services } from '../services.ts';

/**
 * The version that a call requires, or null.
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
