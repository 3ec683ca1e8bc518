import type { Json } from '../../contract/json.ts';
import { parseDateText } from './date-text.ts';
import type { FieldType } from './field-type.ts';

/**
 * The type that a first value gives its field in an auto-indexed source group (docs/reference/indexes-and-queries.md
 * "Auto-indexed source groups"). The first item of an array that is neither null nor an empty text decides. An array of
 * objects or arrays is an `object`. Null when the value decides nothing.
 */
export function inferFieldType(value: Json): FieldType | null {
  if (!Array.isArray(value)) return inferScalar(value);
  const first = value.find((item) => !isNothing(item));
  if (first === undefined) return null;
  if (Array.isArray(first)) return 'object';
  const item = inferScalar(first);
  // A list of dates that has another text is one of texts, as when that text had come later.
  if (item === 'date' && value.some(isOtherText)) return 'keywordText[]';
  return item === null || item === 'object' ? item : (`${item}[]` as const);
}

/**
 * True when a value that gives a type makes the decided type of its field another one: a date field that gets another text is one
 * of texts from then on.
 */
export function isRetyped(decided: FieldType, shown: FieldType): boolean {
  return (
    (decided === 'date' && shown === 'keywordText') || (decided === 'date[]' && shown === 'keywordText[]')
  );
}

/** True for a value of a date field that makes it one of texts. */
export function retypes(decided: FieldType, value: Json): boolean {
  if (decided === 'date') return isOtherText(value);
  return decided === 'date[]' && Array.isArray(value) && value.some(isOtherText);
}

function isOtherText(value: Json): boolean {
  return typeof value === 'string' && value !== '' && parseDateText(value) === null;
}

/** True for a value that gives its field no type: null, an empty text, an array of no other items. */
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
