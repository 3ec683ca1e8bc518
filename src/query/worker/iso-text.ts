/** Times as ISO 8601 text. Rows of a page tend to be of the same day, whose bytes are made once. */
import { asciiBytes, writeBytes } from './json-bytes.ts';

const dayMs = 86_400_000;
const timeLength = '00:00:00.000Z'.length;

/** A time far from now has two digits of its year more, and a sign. */
export const isoBytesMax = '+275760-09-13T00:00:00.000Z'.length;

let lastDay = Number.NaN;
/** Up to the `T` behind it. */
let lastDayBytes: Uint8Array = new Uint8Array(0);

/** Writes as `Date.prototype.toISOString`. @param timeMs milliseconds since 1970. @returns the place behind it */
export function writeIsoText(timeMs: number, into: Uint8Array, at: number): number {
  const ms = Math.trunc(timeMs);
  const day = Math.floor(ms / dayMs);
  if (day !== lastDay) {
    lastDayBytes = asciiBytes(new Date(day * dayMs).toISOString().slice(0, -timeLength));
    lastDay = day;
  }
  const inDay = ms - day * dayMs;
  const seconds = Math.floor(inDay / 1000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  let end = writeBytes(lastDayBytes, into, at);
  end = writeTwoDigits(hours, colon, into, end);
  end = writeTwoDigits(minutes - hours * 60, colon, into, end);
  end = writeTwoDigits(seconds - minutes * 60, point, into, end);
  const thousandths = inDay - seconds * 1000;
  const hundredths = Math.floor(thousandths / 10);
  end = writeTwoDigits(hundredths, zero + (thousandths - hundredths * 10), into, end);
  into[end] = zulu;
  return end + 1;
}

const zero = 0x30;
const colon = 0x3a;
const point = 0x2e;
const zulu = 0x5a;

function writeTwoDigits(number: number, behind: number, into: Uint8Array, at: number): number {
  const tens = Math.floor(number / 10);
  into[at] = zero + tens;
  into[at + 1] = zero + number - tens * 10;
  into[at + 2] = behind;
  return at + 3;
}
