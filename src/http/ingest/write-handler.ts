/** What all writes share: backpressure, the version header, and waiting until they are visible. */

import { ProblemError, problems } from '../../contract/errors.ts';
import { formatEntityId } from '../../contract/ids.ts';
import { visibilityWaitMsMax } from '../../contract/limits.ts';
import { grouped } from '../../lib/message-text.ts';
import { formatVersion, type VersionVector } from '../../store/visibility/version.ts';
import { recordTraces } from '../../store/webhooks/webhook-states.ts';
import type { Answer, HeaderField } from '../answer.ts';
import type { Call, Handler } from '../call.ts';
import { validTraceparent } from '../request-record.ts';
import type { Services } from '../services.ts';
import { percentDecoded } from '../uws/request-headers.ts';

/** Stores a valid `traceparent`, so that webhooks can continue the trace. A failure is ignored. */
export async function recordTraceOf(
  { store }: Services,
  call: Call,
  originIds: readonly string[],
): Promise<void> {
  const { tenant, source } = call.source;
  const traceparent = tenant.webhooks.length === 0 ? null : validTraceparent(call.header('traceparent'));
  if (traceparent === null) return;
  const entityIds = originIds.map((originId) => formatEntityId({ sourceId: source.id, originId }));
  await recordTraces(store, tenant.alias, entityIds, traceparent).catch(() => {});
}

export interface Written {
  readonly answer: Answer;
  /** Positions of the write in the streams; null if nothing was accepted. */
  readonly version: VersionVector | null;
}

/** @param write throws what a handler throws */
export function writeHandler(services: Services, write: (call: Call) => Promise<Written>): Handler {
  return async (call) => {
    services.pace.refuseWhenBusy(call.source.tenant.alias);
    const waitMs = requestedWaitMs(services, call);
    const { answer, version } = await write(call);
    if (version === null) return answer;
    // While the write waits for visibility, other bodies may use its memory.
    call.requestBody?.release();
    return { ...answer, headers: await headersOf(services, call, version, waitMs) };
  };
}

const millisecondsPattern = /^\d{1,5}$/;

/** Null if the request does not have the header. @throws ProblemError `requestInvalid` */
function requestedWaitMs({ headerPrefixes }: Services, call: Call): number | null {
  const text = call.header('wait');
  if (text === '') return null;
  const waitMs = millisecondsPattern.test(text) ? Number(text) : Number.NaN;
  if (waitMs <= visibilityWaitMsMax) return waitMs;
  const name = `${headerPrefixes[0] ?? 'X-Service'}-Wait`;
  const range = `a whole number of milliseconds from 0 to ${grouped(visibilityWaitMsMax)}`;
  throw new ProblemError(problems.requestInvalid({ wait: `${name} must be ${range}` }));
}

/** See docs/reference/http.md "Reading your own writes". */
async function headersOf(
  services: Services,
  call: Call,
  written: VersionVector,
  waitMs: number | null,
): Promise<HeaderField[]> {
  const { alias } = call.source.tenant;
  const version = services.progress.recordWritten(alias, written);
  const headers = underBothNames(services, 'Version', formatVersion(version));
  if (waitMs === null) return headers;
  const isVisible = await services.visibilityWaits.isVisible(alias, written, waitMs);
  return [...headers, ...underBothNames(services, 'Visible', String(isVisible))];
}

/** A header under the first prefix and under the platform's own name. */
function underBothNames({ headerPrefixes }: Services, name: string, value: string): HeaderField[] {
  const names = new Set([`${headerPrefixes[0] ?? 'X-Service'}-${name}`, `X-Service-${name}`]);
  return [...names].map((full) => [full, value]);
}

/** Only these values count as true (docs/reference/http.md "Changing the type"). */
const trueTexts = new Set(['true', 'TRUE', '1']);

/** True when the request lets entities change their type. */
export function forcesType(call: Call): boolean {
  return trueTexts.has(call.header('force-type'));
}

/** The originId in the path. @throws ProblemError if it is not percent-encoded UTF-8 */
export function pathOriginId(call: Call): string {
  const originId = percentDecoded(call.parameters[0] ?? '');
  if (originId !== null) return originId;
  throw new ProblemError(
    problems.requestInvalid({ originId: 'The originId in the path must be percent-encoded UTF-8' }),
  );
}

/** Error message for a save that would change the type of an entity (docs/reference/http.md "Changing the type"). */
export function typeConflictText(services: Services): string {
  const header = `${services.headerPrefixes[0] ?? 'X-Service'}-Force-Type`;
  return `The type of an entity cannot change: send the header ${header}: true, or delete the entity and ingest it again`;
}
