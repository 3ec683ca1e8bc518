import type { Json } from '../../contract/json.ts';
import { excerpt } from '../../lib/message-text.ts';
import { type FieldMeaning, type FieldTable, meaningOf } from '../fields/field-type.ts';

const quotedCharactersMax = 100;
/** Maximum number of reported errors. */
const errorsMax = 1000;

/** The errors of a query, each with its path: `filters.and[0].operator: unknown operator "like"`. */
export class QueryErrors {
  readonly texts: string[] = [];
  readonly #members = new Set<string>();
  #count = 0;

  /** Number of all errors, including unreported ones. */
  get count(): number {
    return this.#count;
  }

  /** True if further errors will not be reported. */
  get isFull(): boolean {
    return this.texts.length === errorsMax;
  }

  add(place: string, text: string): void {
    this.#count += 1;
    this.#members.add(/^\w*/.exec(place)?.[0] ?? '');
    if (this.texts.length < errorsMax) this.texts.push(`${place}: ${text}`);
  }

  /** True if a member of the query has an error at any depth. */
  isIn(member: string): boolean {
    return this.#members.has(member);
  }
}

/** The value as JSON, truncated. */
export function quote(value: Json | undefined): string {
  const text = JSON.stringify(
    typeof value === 'string' ? value.slice(0, quotedCharactersMax) : shallow(value),
  );
  return text.length > quotedCharactersMax + 2 ? excerpt(text, quotedCharactersMax) : text;
}

function shallow(value: Json | undefined): Json {
  if (Array.isArray(value)) return '[…]';
  return typeof value === 'object' && value !== null ? '{…}' : (value ?? null);
}

/** A name that means something here: a field of the index, or the score. */
export type NamedField = Extract<FieldMeaning, { kind: 'field' | 'score' }>;

/**
 * Reports a name that the index does not have.
 * @returns null for such a name, and for one that no item of an auto-indexed type has
 */
export function namedField(
  field: string,
  place: string,
  table: FieldTable,
  errors: QueryErrors,
): NamedField | null {
  const meaning = meaningOf(table, field);
  if (meaning.kind === 'unknown') errors.add(place, `the index has no field ${quote(field)}`);
  return meaning.kind === 'unknown' || meaning.kind === 'absent' ? null : meaning;
}

/** Completes the sentence "`name` is …". */
export function describeField(named: NamedField): string {
  return named.kind === 'field' ? `of type ${named.type}` : 'not a field of an item';
}

/** The distinct strings of a list. @param isValid reports an error and returns false for an invalid one */
export function distinctTexts(
  list: readonly Json[],
  place: string,
  errors: QueryErrors,
  isValid: (text: string, place: string) => boolean,
): string[] {
  const found = new Set<string>();
  for (const [at, item] of list.entries()) {
    const itemPlace = `${place}[${at}]`;
    if (typeof item !== 'string') errors.add(itemPlace, `must be a string, not ${quote(item)}`);
    else if (found.has(item) || isValid(item, itemPlace)) found.add(item);
  }
  return [...found];
}
