/** Parses and formats dates. */
const dayCharacters = 10;
const timePattern = /^T(\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|[+-]\d{2}(?::?\d{2})?)?$/;
const longestDateText = 35;
/** The range of ECMAScript's time values. */
const epochMsMax = 8.64e15;
/** The earliest of them, in milliseconds since 1970. */
export const earliestMs = -epochMsMax;

/**
 * Milliseconds since 1970 of an ISO 8601 calendar date or date-time: `yyyy-MM-dd`, or `yyyy-MM-ddTHH:mm[:ss[.fff]]` with `Z`,
 * an offset or nothing, which means UTC. Truncated to milliseconds. Null for any other text.
 */
export function parseDateText(text: string): number | null {
  if (text.length < dayCharacters || text.length > longestDateText) return null;
  const dayMs = parseDayMs(text);
  if (dayMs === null || text.length === dayCharacters) return dayMs;
  const timeMs = parseTimeMs(text.slice(dayCharacters));
  return timeMs === null ? null : dayMs + timeMs;
}

/** Milliseconds since 1970 of a date in ISO 8601 or as epoch milliseconds. Null for other values. */
export function parseDate(value: unknown): number | null {
  if (typeof value === 'string') return parseDateText(value);
  if (typeof value !== 'number' || !(Math.abs(value) <= epochMsMax)) return null;
  return value;
}

const hyphen = 0x2d;
const digitZero = 0x30;

/**
 * Parses the day in the first ten characters. Most dates have no more, and there are many, so it avoids regular expressions.
 */
function parseDayMs(text: string): number | null {
  if (text.charCodeAt(4) !== hyphen || text.charCodeAt(7) !== hyphen) return null;
  const [year, month, day] = [digitsIn(text, 0, 4), digitsIn(text, 5, 7), digitsIn(text, 8, dayCharacters)];
  return calendarDayMs(year, month, day);
}

/** The number of some digits; NaN if there is any other character. */
function digitsIn(text: string, from: number, to: number): number {
  let number = 0;
  for (let at = from; at < to; at += 1) {
    const digit = text.charCodeAt(at) - digitZero;
    if (digit < 0 || digit > 9) return Number.NaN;
    number = number * 10 + digit;
  }
  return number;
}

function parseTimeMs(text: string): number | null {
  const match = timePattern.exec(text);
  if (match === null) return null;
  const [, hour, minute, second = '0', fraction = '', zone = 'Z'] = match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const offsetMinutes = parseZoneMinutes(zone);
  if (offsetMinutes === null) return null;
  const minutes = Number(hour) * 60 + Number(minute) - offsetMinutes;
  return (minutes * 60 + Number(second)) * 1000 + Number(fraction.padEnd(3, '0').slice(0, 3));
}

function calendarDayMs(year: number, month: number, day: number): number | null {
  if (!(year >= 0 && month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month))) return null;
  // `Date.UTC` treats the years 0 to 99 as 1900 to 1999. The calendar repeats after 400 years.
  return Date.UTC(year + 400, month - 1, day) - fourCenturiesMs;
}

const fourCenturiesMs = 146_097 * 86_400_000;

function daysOf(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function parseZoneMinutes(zone: string): number | null {
  if (zone === 'Z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', ''));
  if (hours > 23 || minutes > 59) return null;
  return (zone[0] === '-' ? -1 : 1) * (hours * 60 + minutes);
}

/** ISO 8601 text in UTC, truncated to milliseconds. */
export function isoOf(epochMs: number): string {
  return new Date(Math.floor(epochMs)).toISOString();
}
