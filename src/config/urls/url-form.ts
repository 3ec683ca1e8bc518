/** The two forms in which paths of URLs are compared (docs/reference/configuration.md "URLs and domains"). */
import { decodedCharacter, encodedCharacter, normalPath } from './url.ts';

/** `exact`: as they are normalized. `folded`: the path in lower case, the query string as it is, for a tenant whose URLs are case-insensitive. */
export type UrlForm = 'exact' | 'folded';

/** @param path as `normalizeUrl` gives it */
export function pathInForm(path: string, form: UrlForm): string {
  if (form === 'exact') return path;
  const queryAt = path.indexOf('?');
  return queryAt === -1 ? foldedPath(path) : foldedPath(path.slice(0, queryAt)) + path.slice(queryAt);
}

/**
 * A normal path in lower case, a normal path again. Letters beyond ASCII are lowered as Unicode has them. An encoded
 * byte that stands for no letter (`%2F`, or one that is not UTF-8) stays as it is.
 */
function foldedPath(path: string): string {
  if (!path.includes('%')) return path.toLowerCase();
  return normalPath(path.replace(encodedCharacter, decodedCharacter).toLowerCase());
}
