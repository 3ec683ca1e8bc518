/** Decodes text from a request's head. */

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const beyondAscii = /[\x80-\xff]/;

/**
 * A header's value, of which `getHeader` of uWebSockets.js gives one character for each byte. The bytes are read as UTF-8 if they
 * are valid, else as Latin-1, which many HTTP clients send. The library cuts off bytes beyond ASCII at either end, so
 * such values must be percent-encoded.
 */
export function headerText(raw: string): string {
  if (!beyondAscii.test(raw)) return raw;
  try {
    return utf8.decode(Buffer.from(raw, 'latin1'));
  } catch {
    return raw;
  }
}

/** uWebSockets.js puts it where bytes are not UTF-8. */
export const replacement = '\ufffd';

/**
 * Text of a percent-encoded path segment or query component, whose bytes uWebSockets.js has read as UTF-8. Null when
 * something in it is not UTF-8. `+` stands for itself.
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
 * The parameters of a query string in order. `+` stands for a space (application/x-www-form-urlencoded). Null when one
 * of them is not percent-encoded UTF-8.
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
