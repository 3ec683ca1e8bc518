import type { Json } from '../../contract/json.ts';
import { parseDateText } from './date-text.ts';
import type { FieldType } from './field-type.ts';

/**
 * The type of a field in an auto-indexed source group, inferred from its first value (docs/reference/indexes-and-queries.md
 * "Auto-indexed source groups"). The first item of an array that is neither null nor an empty string decides. An array of
 * objects or arrays is an `object`. Null if the value has no type.
 */
export function inferFieldType(value: Json): FieldType | null {
  if (!Array.isArray(value)) return inferScalar(value);
  const first = value.find((item) => !isNothing(item));
  if (first === undefined) return null;
  if (Array.isArray(first)) return 'object';
  const item = inferScalar(first);
  // A list of dates with another string is a list of strings, as if that string had come in a later value.
  if (item === 'date' && value.some(isOtherText)) return 'keywordText[]';
  return item === null || item === 'object' ? item : (`${item}[]` as const);
}

/**
 * True if a type inferred from a later value replaces the decided one: a date field becomes text after any string that is not a
 * date.
 */
export function isRetyped(decided: FieldType, shown: FieldType): boolean {
  return (
    (decided === 'date' && shown === 'keywordText') || (decided === 'date[]' && shown === 'keywordText[]')
  );
}

/** True for a value that turns a date field into text. */
export function retypes(decided: FieldType, value: Json): boolean {
  if (decided === 'date') return isOtherText(value);
  return decided === 'date[]' && Array.isArray(value) && value.some(isOtherText);
}

function isOtherText(value: Json): boolean {
  return typeof value === 'string' && value !== '' && parseDateText(value) === null;
}

/** True for a value without a type: null, an empty string, or an array of only such items. */
export function decidesNothing(value: Json): boolean {
  return isNothing(value) || (Array.isArray(value) && value.every(isNothing));
}

function isNothing(value: Json): boolean {
  return value === null || value === '';
}

type InferredScalar = 'boolean' | 'double' | 'date' | 'keywordText' | 'object';

function inferScalar(value: Json): InferredScalar | null {
  switch (typeof value) {
    case 'boolean':
      return 'boolean';
    case 'number':
      return 'double';
    case 'string':
      if (value === '') return null;
      return parseDateText(value) === null ? 'keywordText' : 'date';
    default:
      return value === null ? null : 'object';
  }
}
