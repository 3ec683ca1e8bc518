import { distance } from 'fastest-levenshtein';

/** Longer names are not compared, because a suggestion would not help. */
const comparedCharactersMax = 64;
/** Only this many names are compared, to limit the time of a suggestion. */
const comparedNamesMax = 1000;
/** Maximum number of names in the advice. */
const listedNamesMax = 12;

/**
 * Advice for an unknown name: the nearest known name, then all known names.
 * `Did you mean "hostnames"? Known here: alias, hostnames.`
 */
export function adviceForUnknown(name: string, known: Iterable<string>): string {
  const names = firstOf(known).sort();
  if (names.length === 0) return 'None are defined yet.';
  const nearest = nearestName(name, names);
  const count = names.length === comparedNamesMax ? `at least ${names.length}` : names.length;
  const listed = names.slice(0, listedNamesMax).join(', ');
  const list = names.length > listedNamesMax ? `${listed}, … (${count})` : listed;
  return nearest === null ? `Known here: ${list}.` : `Did you mean "${nearest}"? Known here: ${list}.`;
}

/** The most similar known name, or null if none is close. */
export function nearestName(name: string, known: Iterable<string>): string | null {
  if (name.length > comparedCharactersMax) return null;
  const wanted = name.toLowerCase();
  let nearest: string | null = null;
  let nearestEdits = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of firstOf(known)) {
    if (Math.abs(candidate.length - name.length) >= nearestEdits) continue;
    const edits = distance(wanted, candidate.toLowerCase());
    if (edits < nearestEdits) {
      nearest = candidate;
      nearestEdits = edits;
    }
  }
  return nearest;
}

function firstOf(known: Iterable<string>): string[] {
  const names: string[] = [];
  for (const name of known) {
    if (names.length === comparedNamesMax) break;
    names.push(name);
  }
  return names;
}
