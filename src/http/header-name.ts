/**
 * Names of request headers. uWebSockets.js takes text and bytes alike, but encodes a text anew at each look, and a warm
 * page is five looks: so names are encoded once.
 */

export interface HeaderName {
  /** Lower-cased. */
  readonly text: string;
  readonly bytes: ArrayBuffer;
}

const known = new Map<string, HeaderName>();

/** One object for each name, so that names can be compared by identity. @param written ASCII, in any case */
export function headerName(written: string): HeaderName {
  const text = written.toLowerCase();
  const name = known.get(text) ?? { text, bytes: Uint8Array.from(Buffer.from(text)).buffer };
  known.set(text, name);
  return name;
}
