const datePattern =
  /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/;
const longestDateText = 35;
/** The range of ECMAScript's time values. */
const epochMsMax = 8.64e15;

/**
 * Milliseconds since 1970 of an ISO 8601 calendar date or date-time (`yyyy-MM-dd`, `yyyy-MM-ddTHH:mm[:ss[.fff]]` with
 * `Z`, an offset or nothing, which means UTC). Digits beyond the millisecond are cut. Null: not such a text.
 */
export function parseDateText(text: string): number | null {
  if (text.length < 10 || text.length > longestDateText) return null;
  const match = datePattern.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone = 'Z'] = match;
  const dayMs = calendarDayMs(Number(year), Number(month), Number(day));
  if (dayMs === null) return null;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const offsetMinutes = parseZoneMinutes(zone);
  if (offsetMinutes === null) return null;
  const timeMs = ((Number(hour) * 60 + Number(minute) - offsetMinutes) * 60 + Number(second)) * 1000;
  return dayMs + timeMs + Number(fraction.padEnd(3, '0').slice(0, 3));
}

/** Milliseconds of a date as it may be sent: ISO 8601 text or epoch milliseconds. Null: neither. */
export function parseDate(value: unknown): number | null {
  if (typeof value === 'string') return parseDateText(value);
  if (typeof value !== 'number' || !(Math.abs(value) <= epochMsMax)) return null;
  return value;
}

function calendarDayMs(year: number, month: number, day: number): number | null {
  // `Date.UTC` reads the years 0 to 99 as 1900 to 1999; `setUTCFullYear` does not.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  return date.getTime();
}

function parseZoneMinutes(zone: string): number | null {
  if (zone === 'Z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', ''));
  if (hours > 23 || minutes > 59) return null;
  return (zone[0] === '-' ? -1 : 1) * (hours * 60 + minutes);
}
