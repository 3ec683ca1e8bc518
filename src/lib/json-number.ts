/** Groups: the sign, the digits before and after the decimal point, and the exponent (RFC 8259, section 6). */
export const jsonNumberSyntax = String.raw`(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?`;
const space = String.raw`[ \t\n\r]*`;
const jsonNumber = new RegExp(`^${space}${jsonNumberSyntax}${space}$`);

/** A decimal number: (-1 if `negative`) · `digits` · 10^`exponent`; `digits` has no leading zeros. */
interface Decimal {
  readonly negative: boolean;
  readonly digits: string;
  readonly exponent: number;
}

/**
 * Parses a text in JSON number syntax, ignoring surrounding white space, and rounds it half-to-even to `precision` fractional
 * digits. It rounds the decimal value as written (docs/reference/mapping-language.md "number"): `0.35` at 1 is 0.4, `2.675` at
 * 2 is 2.68. Null if the text is not a number or is beyond the range of a 64-bit floating-point number.
 */
export function roundText(text: string, precision: number): number | null {
  const decimal = parseDecimal(text);
  if (decimal === null || !Number.isFinite(Number(text))) return null;
  return roundDecimal(decimal, precision) ?? plainZero(Number(text));
}

/** The same for a number, from its shortest decimal form. Null if JSON cannot represent it. */
export function roundNumber(value: number, precision: number): number | null {
  if (Number.isInteger(value)) return plainZero(value);
  if (!Number.isFinite(value)) return null;
  // Binary halves are exact in decimal, so rounding to whole numbers needs no decimal text.
  if (precision === 0) return roundToWhole(value);
  const text = String(value);
  return hasAtMost(precision, text) ? value : roundText(text, precision);
}

/** True if the text has a decimal point and at most so many digits after it, so that rounding changes nothing. */
function hasAtMost(fractionDigits: number, text: string): boolean {
  const point = text.indexOf('.');
  return point !== -1 && text.length - point - 1 <= fractionDigits && !text.includes('e');
}

/** Parses a text in JSON number syntax without rounding; null if it is not a number. */
export function parseJsonNumber(text: string): number | null {
  if (!jsonNumber.test(text)) return null;
  const value = Number(text);
  return Number.isFinite(value) ? plainZero(value) : null;
}

function roundToWhole(value: number): number {
  const below = Math.floor(value);
  const fraction = value - below;
  if (fraction < 0.5) return plainZero(below);
  if (fraction > 0.5) return plainZero(below + 1);
  return plainZero(below % 2 === 0 ? below : below + 1);
}

function parseDecimal(text: string): Decimal | null {
  const match = jsonNumber.exec(text);
  if (match === null) return null;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = (whole + fraction).replace(/^0+/, '');
  return { negative: sign === '-', digits, exponent: Number(exponent) - fraction.length };
}

/** The rounded number, or null if there is nothing to round. */
function roundDecimal({ negative, digits, exponent }: Decimal, precision: number): number | null {
  const cut = -precision - exponent;
  if (cut <= 0 || digits === '') return null;
  if (digits.length < cut) return 0;
  const kept = digits.slice(0, digits.length - cut);
  const rounded = roundsUp(kept, digits.slice(digits.length - cut)) ? increment(kept) : kept;
  return plainZero(Number(`${negative ? '-' : ''}${rounded === '' ? '0' : rounded}e${-precision}`));
}

function roundsUp(kept: string, dropped: string): boolean {
  const first = dropped.charAt(0);
  if (first !== '5') return first > '5';
  if (/[1-9]/.test(dropped.slice(1))) return true;
  return /[13579]$/.test(kept);
}

/** Adds one to an integer given as decimal digits. */
function increment(digits: string): string {
  let end = digits.length;
  while (digits.charAt(end - 1) === '9') end -= 1;
  const last = end === 0 ? 1 : Number(digits.charAt(end - 1)) + 1;
  return `${digits.slice(0, Math.max(0, end - 1))}${last}${'0'.repeat(digits.length - end)}`;
}

/** Converts negative zero to zero. */
function plainZero(value: number): number {
  return value === 0 ? 0 : value;
}
