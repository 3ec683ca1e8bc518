/** Finds the property of an entity that a double would change (docs/reference/http.md "Source entities"). */
import { getOwn, isJsonObject, type Json } from '../../contract/json.ts';
import { typedPlaceCharactersMax } from '../../contract/limits.ts';
import { quoteInexact } from '../../lib/exact-number.ts';
import { itemPath, memberPath } from '../../lib/json-place.ts';
import type { Mistake } from '../routing/validate.ts';

/** Begins the strings that stand for inexact numbers. A property that begins so by itself has such a number beside it. */
const mark = '\u0000number ';

/** JSON text in which inexact numbers are strings that `inexactMistake` knows; null when it has none. */
export function withMarkedNumbers(text: string): string | null {
  return quoteInexact(text, JSON.stringify(mark).slice(1, -1));
}

/** The first inexact number of a marked value; null when it has none. */
export function inexactMistake(properties: Json): Mistake | null {
  const found = find(properties, 'properties');
  return found && inexactText(found.place, found.digits);
}

/** The mistake that a property's number has. */
export function inexactText(place: string, digits: string, advice = 'Send it as a string'): Mistake {
  const field = shortened(place);
  const text = `${field} is ${shortened(digits)}, which a 64-bit number cannot hold exactly. ${advice}`;
  return { field, text };
}

function shortened(text: string): string {
  const whole = text.toWellFormed();
  return whole.length <= typedPlaceCharactersMax ? whole : `${whole.slice(0, typedPlaceCharactersMax)}…`;
}

interface Found {
  readonly place: string;
  readonly digits: string;
}

function find(value: Json, place: string): Found | null {
  if (typeof value === 'string') {
    return value.startsWith(mark) ? { place, digits: value.slice(mark.length) } : null;
  }
  if (Array.isArray(value)) return findInItems(value, place);
  if (!isJsonObject(value)) return null;
  for (const name of Object.keys(value)) {
    const found = find(getOwn(value, name) ?? null, memberPath(place, name));
    if (found !== null) return found;
  }
  return null;
}

function findInItems(items: readonly Json[], place: string): Found | null {
  for (const [at, item] of items.entries()) {
    const found = find(item, itemPath(place, at));
    if (found !== null) return found;
  }
  return null;
}
