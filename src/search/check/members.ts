/** Reads and checks the objects of a query by their shapes. */
import { getOwn, isJsonObject, type Json, type JsonObject } from '../../contract/json.ts';
import type { Shape } from '../../contract/shape.ts';
import { conditionShape, groupKinds } from '../../contract/shapes-query.ts';
import { EditDistance } from '../text/edit-distance.ts';
import { describeObject, type MemberRule, memberRule } from './member-rule.ts';
import { type QueryErrors, quote } from './query-errors.ts';

/** A name within this many edits of a known one counts as a misspelling. */
const nearEditsMax = 2;
/** Maximum number of unknown members of an object that are compared with the known ones. */
const comparedMax = 100;

type ObjectShape = Shape & { readonly properties: Readonly<Record<string, Shape>> };

/**
 * The valid members of an object. Lists and objects are not checked further: their items and members have their own readers.
 */
export type Members<S extends ObjectShape> = {
  readonly [Name in keyof S['properties']]?: Sent<S['properties'][Name]> | null;
};

type Sent<S extends Shape> = S extends { readonly enum: readonly (infer Value)[] }
  ? Exclude<Value, null>
  : S extends { readonly type: infer Type }
    ? SentOf<Exclude<Type extends readonly (infer One)[] ? One : Type, 'null'>>
    : Json;

type SentOf<Type> = [Type] extends ['boolean']
  ? boolean
  : [Type] extends ['string']
    ? string
    : [Type] extends ['number' | 'integer']
      ? number
      : [Type] extends ['array']
        ? readonly Json[]
        : [Type] extends ['object']
          ? JsonObject
          : Json;

/** How to treat members that are not in the shape. */
export type UnknownMembers =
  /** Ignores all, because all known ones are required and none is misspelled unnoticed. */
  | 'ignored'
  /** Rejects members that look like a misspelling of a known one. Others and nulls are ignored. */
  | 'near'
  /** Rejects all, because a filter without one of its conditions would find too much. */
  | 'rejected';

/** @returns null, after adding an error, if the value is not an object */
export type MembersReader<S extends ObjectShape> = (
  value: Json,
  place: string,
  errors: QueryErrors,
) => Members<S> | null;

/** @param elsewhere names that are valid in other requests, so they are not misspellings */
export function readerOf<const S extends ObjectShape>(
  shape: S,
  unknownMembers: UnknownMembers,
  elsewhere: readonly string[] = [],
): MembersReader<S> {
  const known = Object.keys(shape.properties);
  const rules: ReadonlyMap<string, MemberRule> = new Map(
    known.map((name) => [name, memberRule(name, shape)]),
  );
  const required = [...rules].filter(([, { isRequired }]) => isRequired);

  const rejectMissing = (object: JsonObject, place: string, errors: QueryErrors): void => {
    for (const [name, { missingError }] of required) {
      if (!isSent(object, name)) errors.add(placeOf(place, name), missingError);
    }
  };

  const rejectUnknown = (object: JsonObject, place: string, errors: QueryErrors): void => {
    if (unknownMembers === 'near') {
      for (const [name, error] of misspelledMembers(object, known, elsewhere)) {
        errors.add(placeOf(place, name), error);
      }
    } else if (unknownMembers === 'rejected') rejectUnknownMembers(object, known, place, errors);
  };

  return (value, place, errors) => {
    if (!isJsonObject(value)) {
      errors.add(place, `must be ${describeObject(shape)}, not ${quote(value)}`);
      return null;
    }
    let valid = value;
    let hasUnknown = false;
    let missing = required.length;
    // Faster than `Object.keys`. JSON has no inherited members.
    for (const name in value) {
      const rule = rules.get(name);
      const member = value[name];
      if (rule === undefined) hasUnknown = true;
      if (rule === undefined || member === undefined || member === null) continue;
      if (rule.isRequired) missing -= 1;
      if (!rule.accepts(member)) {
        errors.add(placeOf(place, name), rule.errorFor(member));
        if (valid === value) valid = copyOf(value, known);
        delete valid[name];
      }
    }
    if (hasUnknown) rejectUnknown(value, place, errors);
    if (missing > 0) rejectMissing(value, place, errors);
    return valid as Members<S>;
  };
}

/** True if an object has a member that is not null. */
export function isSent(object: Json | undefined, name: string): boolean {
  return isJsonObject(object) && (getOwn(object, name) ?? null) !== null;
}

/** Copies only known members, because the object may have half a million. */
function copyOf(object: JsonObject, names: readonly string[]): JsonObject {
  const copy: JsonObject = {};
  for (const name of names) copy[name] = getOwn(object, name) ?? null;
  return copy;
}

/** The path of the whole query is empty. */
function placeOf(place: string, name: string): string {
  return place === '' ? name : `${place}.${name}`;
}

/** The unknown members that look like a misspelling of a known one, and the error for each. */
export function* misspelledMembers(
  object: JsonObject,
  known: readonly string[],
  elsewhere: readonly string[],
): Iterable<readonly [name: string, error: string]> {
  let compared = 0;
  for (const name of Object.keys(object)) {
    if (known.includes(name) || elsewhere.includes(name) || getOwn(object, name) === null) continue;
    compared += 1;
    if (compared > comparedMax) return;
    const meant = nearMember(name, known);
    if (meant !== null) yield [name, `unknown member; did you mean \`${meant}\`?`];
  }
}

/** Rejects members that are neither known nor a null of a typed client. */
export function rejectUnknownMembers(
  object: JsonObject,
  known: readonly string[],
  place: string,
  errors: QueryErrors,
): void {
  for (const name of Object.keys(object)) {
    if (known.includes(name)) continue;
    if (filterMembers.has(name) && getOwn(object, name) === null) continue;
    if (errors.isFull) return;
    const meant = nearMember(name, known);
    const advice = meant === null ? `use ${known.join(', ')}` : `did you mean \`${meant}\`?`;
    errors.add(place, `unknown member ${quote(name)}; ${advice}`);
  }
}

/** Typed clients may use one class for groups and conditions, with null for unset members. */
const filterMembers: ReadonlySet<string> = new Set([
  ...groupKinds,
  ...Object.keys(conditionShape.properties),
]);

const edits = new EditDistance();

function nearMember(name: string, known: readonly string[]): string | null {
  const near = known.filter((candidate) => Math.abs(candidate.length - name.length) <= nearEditsMax);
  if (near.length === 0) return null;
  edits.setWord(name);
  let nearest: string | null = null;
  let nearestDistance = Infinity;
  for (const candidate of near) {
    if (candidate.toLowerCase() === name.toLowerCase()) return candidate;
    // Two edits turn any short word into another: `not` is not a misspelling of `or`.
    const bound = Math.min(nearEditsMax, Math.floor(candidate.length / 2), nearestDistance - 1);
    const distance = edits.within(candidate, bound);
    if (distance > bound) continue;
    nearest = candidate;
    nearestDistance = distance;
  }
  return nearest;
}
