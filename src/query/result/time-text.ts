/** Times as ISO 8601 in UTC. A page has one in each row, and `Date` took half of the time that the text of a row takes. */

const dayMs = 86_400_000;
const minuteMs = 60_000;
const minutesPerHour = 60;

const twoDigits = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));

/** The day of the last time, which rows often share: its number from 1970 on, and its text with the `T`. */
let [lastDay, lastDayText] = [Number.NaN, ''];

/** As `Date.toISOString` writes it. @param ms from 1970 on */
export function timeText(ms: number): string {
  const day = Math.floor(ms / dayMs);
  if (day !== lastDay) [lastDay, lastDayText] = [day, dayTextOf(day)];
  const inDayMs = Math.floor(ms) - day * dayMs;
  const minutes = Math.floor(inDayMs / minuteMs);
  const inMinuteMs = inDayMs - minutes * minuteMs;
  const seconds = Math.floor(inMinuteMs / 1000);
  const hours = Math.floor(minutes / minutesPerHour);
  const [hour, minute] = [twoDigits[hours], twoDigits[minutes - hours * minutesPerHour]];
  return `${lastDayText}${hour}:${minute}:${twoDigits[seconds]}.${threeDigits(inMinuteMs - seconds * 1000)}Z`;
}

function dayTextOf(day: number): string {
  return new Date(day * dayMs).toISOString().replace(/T.*/, 'T');
}

function threeDigits(number: number): string {
  if (number >= 100) return String(number);
  return number >= 10 ? `0${number}` : `00${number}`;
}
