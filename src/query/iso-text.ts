/** Times as ISO 8601 text. Rows of a page tend to be of the same day, whose text is written once. */
const dayMs = 86_400_000;
const timeLength = '00:00:00.000Z'.length;

const twoDigits = digits(60, 2);
const threeDigits = digits(1000, 3);

/** Texts of the numbers below an end: making one anew for each row is most of what its time costs. */
function digits(end: number, width: number): string[] {
  return Array.from({ length: end }, (_, number) => String(number).padStart(width, '0'));
}

let lastDay = Number.NaN;
let lastDayText = '';

/** As `Date.prototype.toISOString`. @param timeMs milliseconds since 1970 */
export function isoText(timeMs: number): string {
  const ms = Math.trunc(timeMs);
  const day = Math.floor(ms / dayMs);
  if (day !== lastDay) {
    lastDayText = new Date(day * dayMs).toISOString().slice(0, -timeLength);
    lastDay = day;
  }
  const inDay = ms - day * dayMs;
  const seconds = Math.floor(inDay / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const clock = `${twoDigits[hours]}:${twoDigits[minutes - hours * 60]}:${twoDigits[seconds - minutes * 60]}`;
  return `${lastDayText}${clock}.${threeDigits[inDay - seconds * 1000]}Z`;
}
