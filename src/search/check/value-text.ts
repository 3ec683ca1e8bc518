/**
 * Parses values of conditions that clients send as text: numbers, booleans and lists (docs/reference/indexes-and-queries.md
 * "Values as text"). Both forms result in the same query and tokens.
 */
import type { Json } from '../../contract/json.ts';
import { parseJsonNumber } from '../../lib/json-number.ts';
import type { FieldTraits, ValueKind } from '../fields/field-type.ts';
import { parseWhole } from '../fields/number-point.ts';
import { type QueryErrors, quote } from './query-errors.ts';

/**
 * The distinct items of a comma-separated text, without whitespace around the commas. A request may have half a million items,
 * so repeated ones are dropped.
 */
export function itemsOfText(text: string): string[] {
  const items = new Set<string>();
  for (let from = 0; from <= text.length; ) {
    const comma = text.indexOf(',', from);
    const to = comma < 0 ? text.length : comma;
    items.add(withoutBlanks(text.slice(from, to), from > 0, comma >= 0));
    from = to + 1;
  }
  return [...items];
}

/** A regular expression would take quadratic time on long runs of whitespace. */
function withoutBlanks(item: string, atStart: boolean, atEnd: boolean): string {
  const begun = atStart && !isPlain(item.charCodeAt(0)) ? item.trimStart() : item;
  return atEnd && !isPlain(begun.charCodeAt(begun.length - 1)) ? begun.trimEnd() : begun;
}

/** A fast check: true for a character that is certainly not whitespace. */
function isPlain(unit: number): boolean {
  return unit > 0x20 && unit < 0x7f;
}

/**
 * Converts text to a value of the field's kind. Other values are returned unchanged.
 * @returns null, after adding an error, for text that is not a value of the kind
 */
export function valueOfText(traits: FieldTraits, value: Json, place: string, errors: QueryErrors): Json {
  if (!readsText(traits)) return value;
  if (!Array.isArray(value)) return scalarOf(traits.kind, value, place, errors);
  if (!value.some((item) => typeof item === 'string')) return value;
  const read: Json[] = [];
  let wrong = 0;
  for (const [at, item] of value.entries()) {
    const one = readScalar(traits.kind, item);
    if (one !== undefined) read.push(one);
    else if (wrong < errorsPerListMax) {
      wrong += 1;
      report(traits.kind, item, `${place}[${at}]`, errors);
    }
  }
  return read;
}

/** Errors reported per list. */
const errorsPerListMax = 100;

const numberKinds: ReadonlySet<ValueKind> = new Set(['integer', 'long', 'float', 'double']);

function readsText({ kind }: FieldTraits): boolean {
  return kind === 'boolean' || numberKinds.has(kind);
}

function scalarOf(kind: ValueKind, value: Json, place: string, errors: QueryErrors): Json {
  const read = readScalar(kind, value);
  if (read === undefined) report(kind, value, place, errors);
  return read ?? null;
}

/** Undefined for text that is not a value of the kind. */
function readScalar(kind: ValueKind, value: Json): Json | undefined {
  if (typeof value !== 'string') return value;
  return (kind === 'boolean' ? booleanOf(value) : numberOf(value)) ?? undefined;
}

function report(kind: ValueKind, value: Json, place: string, errors: QueryErrors): void {
  errors.add(place, `must be ${kind === 'boolean' ? 'true or false' : 'a number'}, not ${quote(value)}`);
}

function booleanOf(text: string): boolean | null {
  return text === 'true' ? true : text === 'false' ? false : null;
}

/** A whole number that a double cannot hold remains text, to keep all digits. */
function numberOf(text: string): Json {
  const whole = parseWhole(text.trim());
  if (whole === null) return parseJsonNumber(text);
  const number = Number(whole);
  return BigInt(number) === whole ? number : String(whole);
}
