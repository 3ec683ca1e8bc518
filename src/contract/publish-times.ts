/** Start and end of the publication of an entity (docs/reference/http.md "Scheduled publishing"). */

/** Milliseconds since 1970; null: no bound. */
export interface PublishTimes {
  readonly publishAt: number | null;
  readonly unpublishAt: number | null;
}

/** In the order in which an entity passes through them. */
export const publishStates = ['waiting', 'published', 'over'] as const;

export type PublishState = (typeof publishStates)[number];

/** The publication state of an entity at a moment: `waiting` before `publishAt`, `over` from `unpublishAt` on. */
export function stateAt(times: PublishTimes | undefined, nowMs: number): PublishState {
  if (times === undefined) return 'published';
  const { publishAt, unpublishAt } = times;
  if (unpublishAt !== null && unpublishAt <= nowMs) return 'over';
  return publishAt !== null && publishAt > nowMs ? 'waiting' : 'published';
}

/** The moment at which a state ends; null if it does not end. */
export function momentAfter(times: PublishTimes | undefined, state: PublishState): number | null {
  if (times === undefined || state === 'over') return null;
  return state === 'waiting' ? times.publishAt : times.unpublishAt;
}

export function laterState(a: PublishState, b: PublishState): PublishState {
  return publishStates.indexOf(a) > publishStates.indexOf(b) ? a : b;
}

const dateTime =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?:[Zz]|([+-])(\d\d)(?::?(\d\d))?)$/;
const yearMax = 9999;
const minuteMs = 60_000;

/**
 * Milliseconds since 1970 of an ISO 8601 date-time; null if it is invalid. Seconds are optional, but the offset is not: without
 * one, the time would be a different moment on each machine.
 */
export function parseMoment(text: string): number | null {
  const parts = dateTime.exec(text);
  if (parts === null) return null;
  const [year = 0, month = 0, day = 0, hours = 0, minutes = 0, seconds = 0] = parts.slice(1, 7).map(numberOf);
  const [, , , , , , , fraction = '', sign = '+', offsetHours = '0', offsetMinutes = '0'] = parts;
  const isInRange =
    hours < 24 && minutes < 60 && seconds < 60 && Number(offsetHours) < 24 && Number(offsetMinutes) < 60;
  if (!isInRange) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  date.setUTCHours(hours, minutes, seconds, Number(fraction.padEnd(3, '0').slice(0, 3)));
  const offsetMs = (Number(offsetHours) * 60 + Number(offsetMinutes)) * minuteMs;
  const momentMs = date.getTime() - (sign === '-' ? -offsetMs : offsetMs);
  const writtenYear = new Date(momentMs).getUTCFullYear();
  return writtenYear < 0 || writtenYear > yearMax ? null : momentMs;
}

function numberOf(text: string | undefined): number {
  return Number(text ?? 0);
}

/** ISO 8601 text of a moment in UTC; null for none. */
export function momentText(ms: number): string;
export function momentText(momentMs: number | null | undefined): string | null;
export function momentText(momentMs: number | null | undefined): string | null {
  return momentMs == null ? null : new Date(momentMs).toISOString();
}
