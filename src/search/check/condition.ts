import type { Json, JsonObject } from '../../contract/json.ts';
import type { FilterOperator } from '../../contract/query-names.ts';
import { conditionShape } from '../../contract/shapes-query.ts';
import { parseDate } from '../columns/date-text.ts';
import { parseWhole, queryPointOf } from '../columns/number-point.ts';
import { type FieldMeaning, type FieldTable, meaningOf } from '../fields/field-table.ts';
import { isOrdered } from '../fields/field-type.ts';
import type { FilterNode } from '../filter/condition.ts';
import { checkGeoCondition, isGeoOperator } from './geo.ts';
import { readerOf } from './members.ts';
import { type Mistakes, quote } from './mistakes.ts';
import { itemsOfText, valueOfText } from './value-text.ts';

const readCondition = readerOf(conditionShape, 'refused');

const ordering: ReadonlySet<FilterOperator> = new Set([
  'greaterThan',
  'greaterThanOrEquals',
  'lessThan',
  'lessThanOrEquals',
]);

/** Shared by all parts of one filter. */
export interface FilterCheck {
  readonly table: FieldTable;
  readonly mistakes: Mistakes;
  conditions: number;
  patterns: number;
}

/** Checks a condition, and counts it and its pattern. @returns null when the condition has no field or no known operator */
export function checkCondition(sent: JsonObject, place: string, check: FilterCheck): FilterNode | null {
  check.conditions += 1;
  const { table, mistakes } = check;
  const condition = readCondition(sent, place, mistakes);
  const { field, operator } = condition ?? {};
  const value = condition?.value ?? null;
  if (typeof field !== 'string') return null;
  const meaning = meaningOf(table, field);
  if (meaning.kind === 'unknown') mistakes.add(`${place}.field`, `the index has no field ${quote(field)}`);
  if (meaning.kind === 'score') mistakes.add(`${place}.field`, '"_score" can be sorted by, not filtered');
  if (operator === undefined || operator === null) return null;
  if (isGeoOperator(operator)) {
    const area = checkGeoCondition(meaning, field, operator, value, place, mistakes);
    return { caseInsensitive: false, field, kind: 'condition', operator, value: area };
  }
  if (operator === 'exists') return checkExists(field, value, `${place}.value`, mistakes);
  if (isPattern(operator) && typeof value === 'string' && value.includes('*')) check.patterns += 1;
  const listed = isList(operator) && typeof value === 'string' ? itemsOfText(value) : value;
  const isOfUse = checkUse(meaning, field, operator, listed, place, mistakes);
  const operand = isOfUse ? readValue(meaning, listed, `${place}.value`, mistakes) : listed;
  if (operand === unreadable) return null;
  checkValue(meaning, operator, operand, `${place}.value`, mistakes);
  // In this order `canonicalJson` need not copy it.
  const caseInsensitive = condition?.caseInsensitive === true;
  return { caseInsensitive, field, kind: 'condition', operator, value: operand };
}

/** `exists` asks what `equals null` and `notEquals null` ask, so their page tokens are the same. */
function checkExists(field: string, value: Json, place: string, mistakes: Mistakes): FilterNode | null {
  const exists = value === 'true' ? true : value === 'false' ? false : value;
  if (typeof exists !== 'boolean') {
    mistakes.add(place, `exists needs true or false, not ${quote(value)}`);
    return null;
  }
  const operator = exists ? 'notEquals' : 'equals';
  return { caseInsensitive: false, field, kind: 'condition', operator, value: null };
}

function isList(operator: FilterOperator): boolean {
  return operator === 'in' || operator === 'notIn';
}

function isPattern(operator: FilterOperator): boolean {
  return operator === 'contains' || operator === 'notContains';
}

const unreadable = Symbol('a value with a mistake');

/** The value as the field's type writes it; `unreadable` when a mistake has been told about it. */
function readValue(
  meaning: FieldMeaning,
  sent: Json,
  place: string,
  mistakes: Mistakes,
): Json | typeof unreadable {
  if (meaning.kind !== 'field') return sent;
  const before = mistakes.count;
  const value = valueOfText(meaning.traits, sent, place, mistakes);
  return mistakes.count === before ? value : unreadable;
}

/** Checks that the operator has a meaning on fields of that type. @returns false after a mistake */
function checkUse(
  meaning: FieldMeaning,
  field: string,
  operator: FilterOperator,
  value: Json,
  place: string,
  mistakes: Mistakes,
): boolean {
  if (meaning.kind !== 'field') return true;
  const { traits, type } = meaning;
  const name = quote(field);
  const wrong = (text: string): false => {
    mistakes.add(`${place}.operator`, text);
    return false;
  };
  const asksPresence = (operator === 'equals' || operator === 'notEquals') && value === null;
  if (traits.kind === 'geo') {
    return asksPresence || wrong(`${name} is of type ${type}; use withinDistance or withinBox`);
  }
  if (traits.shape === 'object') {
    return asksPresence || wrong(`${name} is of type object, which is stored but not searchable`);
  }
  if (ordering.has(operator) && !isOrdered(traits)) {
    return wrong(`${operator} needs a field of numbers, dates or ranges; ${name} is of type ${type}`);
  }
  if (isPattern(operator) && traits.shape !== 'list' && traits.kind !== 'text') {
    return wrong(`${operator} needs a field of text or a list; ${name} is of type ${type}`);
  }
  return true;
}

/**
 * Checks that the value has the shape that its operator needs. A value of another type than the field's is no mistake:
 * it matches nothing.
 */
function checkValue(
  meaning: FieldMeaning,
  operator: FilterOperator,
  value: Json,
  place: string,
  mistakes: Mistakes,
): void {
  if (isList(operator)) {
    if (!Array.isArray(value))
      mistakes.add(place, `${operator} needs an array of values, not ${quote(value)}`);
    else if (value.some(isComposite))
      mistakes.add(place, `${operator} compares with strings, numbers, booleans and null only`);
    return;
  }
  if (operator === 'notContains' && value === null) {
    mistakes.add(place, 'is missing; notContains needs a value');
    return;
  }
  if (isComposite(value)) {
    mistakes.add(place, `${operator} needs a string, number, boolean or null; use "in" for several values`);
    return;
  }
  if (ordering.has(operator) && !isComparable(meaning, value)) {
    mistakes.add(
      place,
      `${operator} needs a number, or a date as ISO 8601 text or epoch milliseconds, not ${quote(value)}`,
    );
  }
}

function isComposite(value: Json): boolean {
  return typeof value === 'object' && value !== null;
}

function isComparable(meaning: FieldMeaning, value: Json): boolean {
  if (meaning.kind === 'field' && isOrdered(meaning.traits)) {
    return queryPointOf(meaning.traits.kind, value) !== null;
  }
  return typeof value === 'number' || parseDate(value) !== null || parseWhole(value) !== null;
}
