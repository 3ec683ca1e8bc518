/** Compresses responses in the coding that the client prefers (docs/reference/http.md "Caching"), off the main thread. */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { compressionBytesMin } from '../contract/limits.ts';

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** At these levels compression takes about as much time as it saves in transfer. */
const brotliQuality = 4;
const gzipLevel = 6;

/** The coding that the client prefers, if the body is large enough. */
export function codingFor(body: Uint8Array, acceptEncoding: string): Coding {
  return body.length > compressionBytesMin ? chooseCoding(acceptEncoding) : 'identity';
}

/** Compresses a body in the thread pool of Node. */
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

/** The supported coding with the highest weight (RFC 9110, section 12.5.3). At equal weights, br before gzip before none. */
export function chooseCoding(acceptEncoding: string): Coding {
  if (acceptEncoding === '') return 'identity';
  const weights = weightsOf(acceptEncoding);
  const any = weights.get('*') ?? 0;
  const br = weights.get('br') ?? any;
  const gzip = weights.get('gzip') ?? weights.get('x-gzip') ?? any;
  // A client that does not name identity accepts it (RFC 9110), but prefers what it names.
  const identity = weights.get('identity') ?? 0;
  if (br > 0 && br >= gzip && br >= identity) return 'br';
  if (gzip > 0 && gzip >= identity) return 'gzip';
  return 'identity';
}

/** The first members of a header are read; further ones count as absent. */
const membersMax = 64;

/**
 * The weights of `Accept` or `Accept-Encoding` (RFC 9110, section 12.4.2): member in lower case, without parameters -> weight.
 * It is 1 if the member names none, 0 if it is not valid.
 */
export function weightsOf(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const member of header.toLowerCase().split(',', membersMax)) {
    const [name = '', ...parameters] = member.split(';', 8).map((piece) => piece.trim());
    weights.set(name, weightOf(parameters));
  }
  return weights;
}

function weightOf(parameters: readonly string[]): number {
  const written = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  if (written === undefined) return 1;
  const weight = Number(written);
  return weight >= 0 && weight <= 1 ? weight : 0;
}
