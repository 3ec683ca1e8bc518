/** Finds the property of an entity that a double would change (docs/reference/http.md "Source entities"). */
import { getOwn, isJsonObject, type Json } from '../../contract/json.ts';
import { mistakesListedMax, typedPlaceCharactersMax } from '../../contract/limits.ts';
import { quoteInexact } from '../../lib/exact-number.ts';
import { itemPath, memberPath } from '../../lib/json-place.ts';
import type { Mistake } from '../routing/validate.ts';

/** Begins the strings that stand for inexact numbers. A property that begins so by itself has such a number beside it. */
const mark = '\u0000number ';

/** JSON text in which inexact numbers are strings that `inexactMistake` knows; null when it has none. */
export function withMarkedNumbers(text: string): string | null {
  return quoteInexact(text, JSON.stringify(mark).slice(1, -1));
}

/** A mistake for each inexact number of a marked value, in order, at most `mistakesListedMax`. */
export function inexactMistakes(properties: Json): Mistake[] {
  const mistakes: Mistake[] = [];
  collect(properties, 'properties', mistakes);
  return mistakes;
}

/** The mistake that a property's number has. */
export function inexactText(place: string, digits: string, advice = 'Send it as a string'): Mistake {
  const field = shortened(place);
  const text = `${field} is ${shortened(digits)}, which a 64-bit float cannot represent exactly. ${advice}`;
  return { field, text };
}

function shortened(text: string): string {
  const whole = text.toWellFormed();
  return whole.length <= typedPlaceCharactersMax ? whole : `${whole.slice(0, typedPlaceCharactersMax)}…`;
}

function collect(value: Json, place: string, mistakes: Mistake[]): void {
  if (mistakes.length === mistakesListedMax) return;
  if (typeof value === 'string') {
    if (value.startsWith(mark)) mistakes.push(inexactText(place, value.slice(mark.length)));
  } else if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) collect(item, itemPath(place, at), mistakes);
  } else if (isJsonObject(value)) {
    for (const name of Object.keys(value)) {
      collect(getOwn(value, name) ?? null, memberPath(place, name), mistakes);
    }
  }
}
