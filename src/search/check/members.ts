import { getOwn, type JsonObject } from '../../contract/json.ts';
import { EditDistance } from '../text/edit-distance.ts';
import type { Mistakes } from './mistakes.ts';
import { quote } from './mistakes.ts';

/** A name within so many edits of a known one is taken for a misspelling of it. */
const nearEditsMax = 2;
/** Of more unknown members of one object, the others are not compared with the known ones. */
const comparedMax = 100;

/**
 * Refuses members that look like a misspelling of a known one. Other unknown members, and those that are null, are ignored.
 * @param known names that a mistake may propose
 * @param ignored further names that have a meaning elsewhere
 */
export function checkNearMembers(
  object: JsonObject,
  known: readonly string[],
  prefix: string,
  mistakes: Mistakes,
  ignored: readonly string[] = [],
): void {
  let compared = 0;
  for (const name of Object.keys(object)) {
    if (known.includes(name) || ignored.includes(name) || getOwn(object, name) === null) continue;
    compared += 1;
    if (compared > comparedMax) return;
    const meant = nearMember(name, known, nearEditsMax);
    if (meant !== null) mistakes.add(`${prefix}${name}`, `unknown member; did you mean \`${meant}\`?`);
  }
}

const edits = new EditDistance();

function nearMember(name: string, known: readonly string[], editsMax: number): string | null {
  const near = known.filter((candidate) => Math.abs(candidate.length - name.length) <= editsMax);
  if (near.length === 0) return null;
  edits.setWord(name);
  let nearest: string | null = null;
  let bound = editsMax;
  for (const candidate of near) {
    if (candidate.toLowerCase() === name.toLowerCase()) return candidate;
    const distance = edits.within(candidate, bound);
    if (distance > bound || (nearest !== null && distance === bound)) continue;
    nearest = candidate;
    bound = distance;
  }
  return nearest;
}

/** Refuses every member that is neither known nor null, because a filter without a condition finds more than was asked for. */
export function checkKnownMembers(
  object: JsonObject,
  known: readonly string[],
  place: string,
  mistakes: Mistakes,
): void {
  for (const name of Object.keys(object)) {
    if (known.includes(name)) continue;
    if (filterMembers.has(name) && getOwn(object, name) === null) continue;
    if (mistakes.isFull) return;
    // Two edits make any short word of another one: `not` is not a misspelling of `or`.
    const meant = nearMember(name, known, Math.min(nearEditsMax, Math.floor(name.length / 2)));
    const advice = meant === null ? `use ${known.join(', ')}` : `did you mean \`${meant}\`?`;
    mistakes.add(place, `unknown member ${quote(name)}; ${advice}`);
  }
}

/** Typed clients send one class for groups and conditions, with null for what is not set. */
const filterMembers: ReadonlySet<string> = new Set([
  'and',
  'or',
  'field',
  'operator',
  'value',
  'caseInsensitive',
]);
