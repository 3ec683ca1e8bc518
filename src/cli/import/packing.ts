import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const compress = promisify(gzip);

/** The headers and bytes of a request body. */
export interface PackedBody {
  readonly bytes: Buffer;
  readonly headers: Readonly<Record<string, string | number>>;
}

/** A host that is this machine itself (RFC 6761, section 6.3): packing would cost more than sending. */
const ownHost = /^(?:localhost|.*\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** Packs what goes over a network with gzip, off the main thread. */
export async function packedFor({ hostname }: URL, body: Buffer): Promise<PackedBody> {
  if (ownHost.test(hostname)) return { bytes: body, headers: { 'Content-Length': body.length } };
  const bytes = await compress(body);
  return { bytes, headers: { 'Content-Length': bytes.length, 'Content-Encoding': 'gzip' } };
}
