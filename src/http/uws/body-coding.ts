/** Content codings of request bodies (docs/reference/http.md "Compressed bodies"; RFC 9110, section 8.4.1). */
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';

/** How the bytes of a body are packed; `identity`: not at all. */
export type BodyCoding = 'identity' | PackedCoding;
export type PackedCoding = 'gzip' | 'br' | 'deflate';

const codings: ReadonlyMap<string, BodyCoding> = new Map([
  ['', 'identity'],
  ['identity', 'identity'],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['br', 'br'],
  ['deflate', 'deflate'],
]);

/** The coding that a `Content-Encoding` header names; null for another one, and for several. */
export function codingOf(contentEncoding: string): BodyCoding | null {
  return codings.get(contentEncoding) ?? codings.get(contentEncoding.trim().toLowerCase()) ?? null;
}

/** The largest body whose packed form may have so many bytes. What cannot be packed grows by less than a hundredth. */
export function packedBytesMax(bytesMax: number): number {
  return Math.ceil(bytesMax * 1.01) + 1024;
}

/** Bytes that come out at a time: between two such pieces other requests have their turn. */
const chunkSize = 64 * 1024;
/** In the first byte of a zlib stream: the method (RFC 1950, section 2.2). */
const zlibMethodMask = 0x0f;
const zlibMethod = 8;

export type Unpacker = ReturnType<typeof unpackerFor>;

/**
 * A stream that unpacks, on helper threads of Node.
 * @param firstByte of what is packed: `deflate` is a zlib stream, but some send the bare data of it
 */
export function unpackerFor(coding: PackedCoding, firstByte: number) {
  if (coding === 'gzip') return createGunzip({ chunkSize });
  if (coding === 'br') return createBrotliDecompress({ chunkSize });
  const isZlib = (firstByte & zlibMethodMask) === zlibMethod;
  return isZlib ? createInflate({ chunkSize }) : createInflateRaw({ chunkSize });
}
