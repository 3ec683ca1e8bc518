/** Text from a request's head. */

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const beyondAscii = /[\x80-\xff]/;

/**
 * A header's value, which uWebSockets.js hands over one byte a character: UTF-8 where the bytes are that, else Latin-1,
 * which many HTTP clients send. (Bytes beyond ASCII at either end it cuts off: such values must be percent-encoded.)
 */
export function headerText(raw: string): string {
  if (!beyondAscii.test(raw)) return raw;
  try {
    return utf8.decode(Buffer.from(raw, 'latin1'));
  } catch {
    return raw;
  }
}

/** What uWebSockets.js puts where the bytes of a path or query were no UTF-8. */
const replacement = '\ufffd';

/**
 * Text of a percent-encoded path segment or query component, whose bytes uWebSockets.js has read as UTF-8; null when
 * something in it is none. `+` stands for itself.
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
 * The parameters of a query string in order, `+` for a space (application/x-www-form-urlencoded), or null when one is
 * not percent-encoded UTF-8.
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
