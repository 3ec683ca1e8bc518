/** Finds numbers in JSON that a 64-bit double cannot represent. */

const zero = 0x30;

/** The significant digits without leading and trailing zeros, and the power of ten of the last digit. */
function decimalOf(token: string): string {
  const [mantissa = '', exponent = '0'] = token
    .replace('-', '')
    .toLowerCase()
    .split(/e(?=[+-]?\d+$)/);
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = (whole + fraction).replace(/^0+/, '');
  // A loop, because a regular expression for trailing zeros takes quadratic time.
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === zero) end -= 1;
  const kept = digits.slice(0, end);
  return `${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`;
}

/** True for a number whose integer part a double may not represent exactly. Only these are compared with their text. */
export function isBeyondSafe(value: number): boolean {
  return Math.abs(value) > Number.MAX_SAFE_INTEGER;
}

/**
 * True for a number beyond 2^53 that a double would change or cannot hold. It is false for numbers that are exact, and for the
 * shortest decimal form of a double.
 * @param token a number in JSON syntax
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
 * Replaces each inexact number in JSON by a string of `mark` and the number. Null if there are none.
 * @param text valid JSON
 * @param mark the prefix of these strings, escaped for JSON
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
