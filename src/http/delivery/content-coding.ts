/** Compresses an answer as its client likes it (docs/reference/http.md "Caching"), off the main thread. */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { compressionBytesMin } from '../../contract/limits.ts';

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** Answers are made anew for each request: these levels cost about as much time as they save on the wire. */
const brotliQuality = 4;
const gzipLevel = 6;

/** What to write a body in: the client's choice when the body is worth it. */
export function codingFor(body: Uint8Array, acceptEncoding: string): Coding {
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

export type Coding = 'br' | 'gzip' | 'identity';

/** The coding that the client likes best (RFC 9110, section 12.5.3) of those we have; br before gzip before none at equal weight. */
export function chooseCoding(acceptEncoding: string): Coding {
  if (acceptEncoding === '') return 'identity';
  const weights = new Map<string, number>();
  for (const part of acceptEncoding.toLowerCase().split(',', 64)) {
    const [name = '', ...parameters] = part.split(';', 8).map((piece) => piece.trim());
    weights.set(name === 'x-gzip' ? 'gzip' : name, weightOf(parameters));
  }
  const any = weights.get('*') ?? 0;
  const br = weights.get('br') ?? any;
  const gzip = weights.get('gzip') ?? any;
  // Without a word about it identity is acceptable, but a named coding is what the client came for.
  const identity = weights.get('identity') ?? 0;
  if (br > 0 && br >= gzip && br >= identity) return 'br';
  if (gzip > 0 && gzip >= identity) return 'gzip';
  return 'identity';
}

function weightOf(parameters: readonly string[]): number {
  const written = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  if (written === undefined) return 1;
  const weight = Number(written);
  return weight >= 0 && weight <= 1 ? weight : 0;
}
