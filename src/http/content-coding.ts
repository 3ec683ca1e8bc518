/** Compresses an answer as its client likes it (contract section 5), off the main thread. */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { compressionBytesMin } from '../contract/limits.ts';
import { chooseCoding } from './accept-encoding.ts';
import type { HeaderField } from './answer.ts';

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** Answers are made anew for each request: these levels cost about as much time as they save on the wire. */
const brotliQuality = 4;
const gzipLevel = 6;

export interface CodedBody {
  readonly body: Uint8Array;
  readonly headers: readonly HeaderField[];
}

/** Synchronous when there is nothing to compress. */
export function coded(body: Uint8Array, acceptEncoding: string): CodedBody | Promise<CodedBody> {
  const coding = body.length > compressionBytesMin ? chooseCoding(acceptEncoding) : 'identity';
  return coding === 'identity' ? { body, headers: [] } : compressed(body, coding);
}

async function compressed(body: Uint8Array, coding: 'br' | 'gzip'): Promise<CodedBody> {
  const bytes =
    coding === 'gzip'
      ? await compressGzip(body, { level: gzipLevel })
      : await compressBrotli(body, {
          params: {
            [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
            [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
          },
        });
  return { body: bytes, headers: [['Content-Encoding', coding]] };
}
