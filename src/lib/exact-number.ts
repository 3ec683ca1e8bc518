/** Numbers of JSON text that a 64-bit double would change. */

const zero = 0x30;

/** Significant digits without leading and trailing zeros, and the power of ten of the last one. */
function decimalOf(token: string): string {
  const [mantissa = '', exponent = '0'] = token
    .replace('-', '')
    .toLowerCase()
    .split(/e(?=[+-]?\d+$)/);
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  // A loop, because a regular expression for zeros at the end takes quadratic time.
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === zero) end -= 1;
  const kept = digits.slice(0, end);
  return `${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`;
}

/** True for a number whose integer part a double may not hold exactly. Only these are compared with their text. */
export function isBeyondSafe(value: number): boolean {
  return Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

/**
 * True for a number beyond 2^53 that a double changes, or has no place for. One that is held exactly, or is written as a double is written,
 * is not changed.
 * @param token in the syntax of JSON, without a sign in front of its exponent's digits that JSON does not allow
 */
export function isInexact(token: string): boolean {
  const value = Number(token);
  if (!isBeyondSafe(value)) return false;
  if (!Number.isFinite(value)) return true;
  const written = decimalOf(token);
  return written !== decimalOf(String(value)) && written !== decimalOf(BigInt(value).toString());
}

const quote = 0x22;
const backslash = 0x5c;
const minus = 0x2d;

/**
 * The JSON text with each inexact number written as a string: `mark` and its digits. Null when it has none.
 * @param text valid JSON
 * @param mark begins the strings, as it is written within a string of JSON
 */
export function quoteInexact(text: string, mark: string): string | null {
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; ) {
    const unit = text.charCodeAt(at);
    if (unit === quote) at = endOfString(text, at);
    else if (unit === minus || isDigit(unit)) {
      const end = endOfNumber(text, at);
      const token = text.slice(at, end);
      if (isInexact(token)) {
        parts.push(text.slice(from, at), `"${mark}${token}"`);
        from = end;
      }
      at = end;
    } else at += 1;
  }
  return from === 0 ? null : parts.join('') + text.slice(from);
}

function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at;
    while (text.charCodeAt(before - 1) === backslash) before -= 1;
    if ((at - before) % 2 === 0) return at + 1;
  }
  return text.length;
}

function endOfNumber(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && '0123456789.eE+-'.includes(text.charAt(at))) at += 1;
  return at;
}

function isDigit(unit: number): boolean {
  return unit >= zero && unit <= 0x39;
}
