/** Decodes strings in the head of a request. */

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const beyondAscii = /[\x80-\xff]/;

/**
 * Decodes a header value of `getHeader` of uWebSockets.js, which has one character per byte: as UTF-8 if it is valid, otherwise
 * as Latin-1, which many HTTP clients send. The library strips bytes beyond ASCII at either end, so such values must be
 * percent-encoded.
 */
export function headerText(raw: string): string {
  if (!beyondAscii.test(raw)) return raw;
  try {
    return utf8.decode(Buffer.from(raw, 'latin1'));
  } catch {
    return raw;
  }
}

/** The character with which uWebSockets.js replaces bytes that are not UTF-8. */
export const replacement = '\ufffd';

/**
 * Decodes a percent-encoded path segment or query component, which uWebSockets.js has decoded as UTF-8. Null if it is not valid
 * UTF-8. `+` is a plus sign.
 */
export function percentDecoded(raw: string): string | null {
  if (raw.includes(replacement)) return null;
  try {
    return decodeURIComponent(raw);
  } catch {
    return null;
  }
}

/**
 * The parameters of a query string, in order. `+` is a space (application/x-www-form-urlencoded). Null if one of them is not
 * percent-encoded UTF-8.
 */
export function queryParameters(query: string): [name: string, value: string][] | null {
  const parameters: [string, string][] = [];
  for (const part of query.split('&')) {
    if (part === '') continue;
    const at = part.indexOf('=');
    const name = percentDecoded(plusAsSpace(at === -1 ? part : part.slice(0, at)));
    const value = percentDecoded(plusAsSpace(at === -1 ? '' : part.slice(at + 1)));
    if (name === null || value === null) return null;
    parameters.push([name, value]);
  }
  return parameters;
}

function plusAsSpace(text: string): string {
  return text.includes('+') ? text.replaceAll('+', ' ') : text;
}
