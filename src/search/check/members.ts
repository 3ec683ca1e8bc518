/** Reads the objects of a query by their shapes. */
import { getOwn, isJsonObject, type Json, type JsonObject } from '../../contract/json.ts';
import type { Shape } from '../../contract/shape.ts';
import { conditionShape, groupKinds } from '../../contract/shapes-query.ts';
import { EditDistance } from '../text/edit-distance.ts';
import { type MemberRule, memberRule, objectWords } from './member-rule.ts';
import { type Mistakes, quote } from './mistakes.ts';

/** A name within so many edits of a known one is taken for a misspelling of it. */
const nearEditsMax = 2;
/** Of more unknown members of one object, the others are not compared with the known ones. */
const comparedMax = 100;

type ObjectShape = Shape & { readonly properties: Readonly<Record<string, Shape>> };

/**
 * The members of an object that are as the shape says; the others are absent. Lists and objects are not read further: their
 * items and members have readers of their own.
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

/** Treatment of members that a shape does not have. */
export type UnknownMembers =
  | 'ignored'
  /** Refuses members that look like a misspelling of a known one. Others, and those that are null, are ignored. */
  | 'near'
  /** Refuses all, because a filter without a condition finds more than was asked for. */
  | 'refused';

/** @returns null with a mistake when the value is not an object */
export type MembersReader<S extends ObjectShape> = (
  value: Json,
  place: string,
  mistakes: Mistakes,
) => Members<S> | null;

/** @param elsewhere names that have a meaning in other requests, so they are no misspellings */
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

  const refuseMissing = (object: JsonObject, place: string, mistakes: Mistakes): void => {
    for (const [name, { missing }] of required) {
      if (!isSent(object, name)) mistakes.add(placeOf(place, name), missing);
    }
  };

  const refuseUnknown = (object: JsonObject, place: string, mistakes: Mistakes): void => {
    if (unknownMembers === 'near') refuseNearMembers(object, known, elsewhere, place, mistakes);
    else if (unknownMembers === 'refused') refuseUnknownMembers(object, known, place, mistakes);
  };

  return (value, place, mistakes) => {
    if (!isJsonObject(value)) {
      mistakes.add(place, `must be ${objectWords(shape)}, not ${quote(value)}`);
      return null;
    }
    let sound = value;
    let hasUnknown = false;
    let missing = required.length;
    // Faster than `Object.keys`, and JSON has no inherited members.
    for (const name in value) {
      const rule = rules.get(name);
      const member = value[name];
      if (rule === undefined) hasUnknown = true;
      if (rule === undefined || member === undefined || member === null) continue;
      if (rule.isRequired) missing -= 1;
      if (!rule.accepts(member)) {
        mistakes.add(placeOf(place, name), rule.mistakeOf(member));
        if (sound === value) sound = copyOf(value, known);
        delete sound[name];
      }
    }
    if (hasUnknown) refuseUnknown(value, place, mistakes);
    if (missing > 0) refuseMissing(value, place, mistakes);
    return sound as Members<S>;
  };
}

/** True for a member that an object has, whatever its value; null is as absent. */
export function isSent(object: Json | undefined, name: string): boolean {
  return isJsonObject(object) && (getOwn(object, name) ?? null) !== null;
}

/** An object from outside may have half a million members. */
function copyOf(object: JsonObject, names: readonly string[]): JsonObject {
  const copy: JsonObject = {};
  for (const name of names) copy[name] = getOwn(object, name) ?? null;
  return copy;
}

/** The whole query has no name. */
function placeOf(place: string, name: string): string {
  return place === '' ? name : `${place}.${name}`;
}

function refuseNearMembers(
  object: JsonObject,
  known: readonly string[],
  elsewhere: readonly string[],
  place: string,
  mistakes: Mistakes,
): void {
  let compared = 0;
  for (const name of Object.keys(object)) {
    if (known.includes(name) || elsewhere.includes(name) || getOwn(object, name) === null) continue;
    compared += 1;
    if (compared > comparedMax) return;
    const meant = nearMember(name, known, nearEditsMax);
    if (meant !== null) mistakes.add(placeOf(place, name), `unknown member; did you mean \`${meant}\`?`);
  }
}

/** Refuses every member that is neither known nor a null of a typed client. */
export function refuseUnknownMembers(
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
  ...groupKinds,
  ...Object.keys(conditionShape.properties),
]);

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
