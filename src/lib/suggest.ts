import { distance } from 'fastest-levenshtein';

/** Names longer than this are not compared: a guess is of no help there. */
const comparedCharactersMax = 64;

/**
 * Advice for a name that is not one of `known`: the nearest of them, then all of them.
 * `Did you mean "hostnames"? Known here: alias, hostnames.`
 */
export function adviceForUnknown(name: string, known: Iterable<string>): string {
  const names = [...known].sort();
  if (names.length === 0) return 'There is none here yet.';
  const nearest = nearestName(name, names);
  const list = names.length > 12 ? `${names.slice(0, 12).join(', ')}, … (${names.length})` : names.join(', ');
  return nearest === null ? `Known here: ${list}.` : `Did you mean "${nearest}"? Known here: ${list}.`;
}

/** The known name that `name` most likely was meant to be, or null when none is near. */
export function nearestName(name: string, known: Iterable<string>): string | null {
  if (name.length > comparedCharactersMax) return null;
  const wanted = name.toLowerCase();
  let nearest: string | null = null;
  let nearestEdits = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= nearestEdits) continue;
    const edits = distance(wanted, candidate.toLowerCase());
    if (edits < nearestEdits) {
      nearest = candidate;
      nearestEdits = edits;
    }
  }
  return nearest;
}
