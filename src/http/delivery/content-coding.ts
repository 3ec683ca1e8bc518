/** Compresses an answer as its client likes it (contract section 5), off the main thread. */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { compressionBytesMin } from '../../contract/limits.ts';
import { chooseCoding } from './accept-encoding.ts';

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** Answers are made anew for each request: these levels cost about as much time as they save on the wire. */
const brotliQuality = 4;
const gzipLevel = 6;

/** What to write a body in: the client's choice when the body is worth it. */
export function codingFor(body: Uint8Array, acceptEncoding: string): 'identity' | 'br' | 'gzip' {
  return body.length > compressionBytesMin ? chooseCoding(acceptEncoding) : 'identity';
}

export function compressed(body: Uint8Array, coding: 'br' | 'gzip'): Promise<Uint8Array> {
  if (coding === 'gzip') return compressGzip(body, { level: gzipLevel });
  return compressBrotli(body, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
      [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
    },
  });
}
