/** Dates as answers show them. */

/** The earliest time that ECMAScript has, in milliseconds since 1970. */
export const earliestMs = -8.64e15;

/** ISO 8601 text in UTC with milliseconds. Fractions of a millisecond are cut. */
export function isoOf(epochMs: number): string {
  return new Date(Math.floor(epochMs)).toISOString();
}
