/**
 * Serializes large values in parts: half a million members, or a long string of escapes, would block the event loop for 0.2 s.
 */
import { isHighSurrogate, isLowSurrogate } from '../../lib/code-points.ts';
import { type Resumable, type Steps, Suspended, workBudget } from '../../lib/cooperative-yield.ts';
import type { Json, JsonObject } from '../json.ts';
import { namesOf } from './parse-in-parts.ts';

/** Weight of a part, in values and units of 16 characters: about 0.1 ms. */
const partWeight = 2_000;
const charactersOfWeight = 16;
/** Approximate cost of a value, in units of the work budget. */
const unitsOfWeight = 10;

/** Like `JSON.stringify`, in steps if the value is large. */
export function stringified(value: Json): Resumable<string> {
  if (weighed(value, partWeight) >= 0) return JSON.stringify(value);
  return new Suspended(stringifyInParts(value));
}

function* stringifyInParts(value: Json): Steps<string> {
  const writer = new PartsWriter();
  yield* writer.write(value);
  return writer.text;
}

/** The rest of a budget after the weight of a value; negative if the value weighs more. */
function weighed(value: Json, budget: number): number {
  if (typeof value === 'string') return budget - 1 - Math.floor(value.length / charactersOfWeight);
  let left = budget - 1;
  if (typeof value !== 'object' || value === null) return left;
  if (Array.isArray(value)) {
    if (value.length > left) return -1;
    for (let at = 0; at < value.length && left >= 0; at += 1) left = weighed(value[at] ?? null, left);
    return left;
  }
  const names = namesOf(value);
  if (names.length > left) return -1;
  for (const name of names) {
    left = weighed(value[name] ?? null, left - Math.floor(name.length / charactersOfWeight));
    if (left < 0) return left;
  }
  return left;
}

class PartsWriter {
  #parts: string[] = [];

  get text(): string {
    return this.#parts.join('');
  }

  *write(value: Json): Steps<void> {
    if (weighed(value, partWeight) >= 0) this.#add(JSON.stringify(value), partWeight);
    else if (typeof value === 'string') yield* this.#string(value);
    else if (Array.isArray(value)) yield* this.#array(value);
    else if (typeof value === 'object' && value !== null) yield* this.#object(value);
    if (workBudget.isOver()) yield;
  }

  #add(text: string, weight: number): void {
    this.#parts.push(text);
    workBudget.units += weight * unitsOfWeight;
  }

  *#string(text: string): Steps<void> {
    this.#parts.push('"');
    for (let from = 0; from < text.length; ) {
      const end = endOfPart(text, from + partWeight * charactersOfWeight);
      this.#add(JSON.stringify(text.slice(from, end)).slice(1, -1), partWeight);
      from = end;
      if (workBudget.isOver()) yield;
    }
    this.#parts.push('"');
  }

  *#array(items: readonly Json[]): Steps<void> {
    let mark = '[';
    for (let from = 0; from < items.length; ) {
      this.#parts.push(mark);
      mark = ',';
      let end = from;
      let left = partWeight;
      for (; end < items.length; end += 1) {
        left = weighed(items[end] ?? null, left);
        if (left < 0) break;
      }
      if (end === from) {
        yield* this.write(items[from] ?? null);
        end += 1;
      } else {
        this.#add(JSON.stringify(items.slice(from, end)).slice(1, -1), partWeight);
      }
      from = end;
      if (workBudget.isOver()) yield;
    }
    this.#parts.push(mark === '[' ? '[]' : ']');
  }

  *#object(object: JsonObject): Steps<void> {
    let text = '{';
    let left = partWeight;
    let mark = '';
    for (const name of namesOf(object)) {
      const value = object[name] ?? null;
      text += `${mark}${JSON.stringify(name)}:`;
      mark = ',';
      left = weighed(value, left - 1 - Math.floor(name.length / charactersOfWeight));
      if (left >= 0) {
        text += JSON.stringify(value);
        continue;
      }
      this.#add(text, partWeight);
      [text, left] = ['', partWeight];
      yield* this.write(value);
    }
    this.#add(`${text}}`, partWeight);
  }
}

/** An index near `end` that does not split a surrogate pair, because an unpaired surrogate is escaped. */
function endOfPart(text: string, end: number): number {
  return isHighSurrogate(text.charCodeAt(end - 1)) && isLowSurrogate(text.charCodeAt(end)) ? end + 1 : end;
}

/** Whether the JSON of a value has more than this many characters, counting escapes as one. Stops at the limit. */
export function isLongerThan(value: Json, characters: number): boolean {
  return leftBy(value, characters) < 0;
}

/** What remains of a number of characters after the text of a value; negative if it is longer. */
function leftBy(value: Json, characters: number): number {
  if (typeof value === 'string') return characters - value.length - 2;
  if (typeof value !== 'object' || value === null) return characters - String(value).length;
  // There is one comma fewer than values.
  let left = characters - 1;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && left >= 0; at += 1) left = leftBy(value[at] ?? null, left - 1);
    return value.length === 0 ? left - 1 : left;
  }
  const names = Object.keys(value);
  for (const name of names) {
    left = leftBy(value[name] ?? null, left - name.length - 4);
    if (left < 0) return left;
  }
  return names.length === 0 ? left - 1 : left;
}
