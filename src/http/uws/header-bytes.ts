/**
 * Names of request headers as bytes. uWebSockets.js takes text and bytes alike, but encodes a text anew at each look, and a
 * warm page is five looks: so names are encoded once.
 */
const known = new Map<string, ArrayBuffer>();

/** Always the same object for a name, so that names can be compared by identity. @param name ASCII, in any case */
export function headerBytes(name: string): ArrayBuffer {
  const text = name.toLowerCase();
  const bytes = known.get(text) ?? Uint8Array.from(Buffer.from(text)).buffer;
  known.set(text, bytes);
  return bytes;
}
