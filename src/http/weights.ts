/** Reads the weights of `Accept` and `Accept-Encoding` (RFC 9110, section 12.4.2). */

/** The first members of a header are read; further ones count as absent. */
const membersMax = 64;

/** Member in lower case, without parameters -> weight: 1 if it names none, 0 if the weight is not valid. */
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
