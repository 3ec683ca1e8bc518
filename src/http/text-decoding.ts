/** Text from the bytes of a request's head. uWebSockets.js hands them over one byte a character. */

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const beyondAscii = /[\x80-\xff]/;

/** A header's value: UTF-8 where the bytes are that, else Latin-1, which many HTTP clients send. */
export function headerText(raw: string): string {
  if (!beyondAscii.test(raw)) return raw;
  try {
    return utf8.decode(Buffer.from(raw, 'latin1'));
  } catch {
    return raw;
  }
}

/** Text of percent-encoded UTF-8, or null when it is none. `+` stands for itself. */
export function percentDecoded(raw: string): string | null {
  if (!raw.includes('%') && !beyondAscii.test(raw)) return raw;
  const bytes = Buffer.allocUnsafe(raw.length);
  let length = 0;
  for (let at = 0; at < raw.length; at += 1) {
    let byte = raw.charCodeAt(at);
    if (byte === 0x25) {
      const hex = raw.slice(at + 1, at + 3);
      if (!/^[0-9a-fA-F]{2}$/.test(hex)) return null;
      byte = Number.parseInt(hex, 16);
      at += 2;
    }
    bytes[length] = byte;
    length += 1;
  }
  try {
    return utf8.decode(bytes.subarray(0, length));
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
