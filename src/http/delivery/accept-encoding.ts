/** Content coding of an answer by the `Accept-Encoding` header (RFC 9110, section 12.5.3). */

export type Coding = 'br' | 'gzip' | 'identity';

/** The coding that the client likes best of those we have; br before gzip before none at equal weight. */
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
