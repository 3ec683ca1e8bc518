/** Checks the filter of a query: its groups, and each condition by the type of its field. */
import { getOwn, isJsonObject, type Json, type JsonObject } from '../../contract/json.ts';
import { filterConditionsMax, filterPatternsMax } from '../../contract/limits.ts';
import type { FilterOperator } from '../../contract/query-names.ts';
import { conditionShape, type GroupKind, groupKinds } from '../../contract/shapes-query.ts';
import { parseDate } from '../fields/date-text.ts';
import { type FieldTable, isOrdered } from '../fields/field-type.ts';
import { parseWhole, queryPointOf } from '../fields/number-point.ts';
import type { FilterNode } from '../filter/condition.ts';
import { checkGeoCondition, isGeoOperator } from './geo.ts';
import { isSent, readerOf, rejectUnknownMembers } from './members.ts';
import { type NamedField, namedField, type QueryErrors, quote } from './query-errors.ts';
import { itemsOfText, valueOfText } from './value-text.ts';

const readCondition = readerOf(conditionShape, 'rejected');

const ordering: ReadonlySet<FilterOperator> = new Set([
  'greaterThan',
  'greaterThanOrEquals',
  'lessThan',
  'lessThanOrEquals',
]);

/** State shared by all parts of a filter. */
interface FilterCheck {
  readonly table: FieldTable;
  readonly errors: QueryErrors;
  conditions: number;
  patterns: number;
}

/**
 * The filter of a query, null for none (docs/reference/indexes-and-queries.md "Filters"). A group may contain conditions, and
 * groups of the other kind that contain conditions. An empty group is ignored. The result must not be
 * used if there are errors.
 */
export function checkFilter(filters: Json, table: FieldTable, errors: QueryErrors): FilterNode | null {
  if (filters === null) return null;
  if (!isJsonObject(filters)) {
    errors.add('filters', `must be {"and": […]} or {"or": […]}, not ${quote(filters)}`);
    return null;
  }
  const check: FilterCheck = { table, errors, conditions: 0, patterns: 0 };
  const node = checkGroup(filters, 'filters', null, check);
  if (check.conditions > filterConditionsMax) {
    errors.add(
      'filters',
      `${check.conditions} conditions; at most ${filterConditionsMax} are allowed, use "in" for many values`,
    );
  }
  if (check.patterns > filterPatternsMax) {
    errors.add('filters', `${check.patterns} patterns with "*"; at most ${filterPatternsMax} are allowed`);
  }
  return node;
}

function checkGroup(
  group: JsonObject,
  place: string,
  within: GroupKind | null,
  check: FilterCheck,
): FilterNode | null {
  const and = getOwn(group, 'and') ?? null;
  const or = getOwn(group, 'or') ?? null;
  if (and === null && or === null && isCondition(group)) {
    check.errors.add(place, 'a condition must be inside {"and": […]} or {"or": […]}');
    return null;
  }
  rejectUnknownMembers(group, groupKinds, place, check.errors);
  if (and !== null && or !== null) check.errors.add(place, 'has both "and" and "or"; use one of them');
  if ((and === null) === (or === null)) return null;
  const kind: GroupKind = and === null ? 'or' : 'and';
  if (kind === within) {
    check.errors.add(
      place,
      `an "${kind}" group inside an "${kind}" group; put its conditions into the outer one`,
    );
  }
  const members = and ?? or;
  if (!Array.isArray(members)) {
    check.errors.add(`${place}.${kind}`, `must be an array of conditions, not ${quote(members)}`);
    return null;
  }
  const nodes: FilterNode[] = [];
  for (const [at, member] of members.entries()) {
    const node = checkMember(member, `${place}.${kind}[${at}]`, kind, within !== null, check);
    if (node !== null) nodes.push(node);
  }
  return nodes.length === 0 ? null : { kind, nodes };
}

function checkMember(
  member: Json,
  place: string,
  within: GroupKind,
  isInner: boolean,
  check: FilterCheck,
): FilterNode | null {
  if (!isJsonObject(member)) {
    check.errors.add(place, `must be a condition {"field", "operator", "value"}, not ${quote(member)}`);
    return null;
  }
  const isGroup = isSent(member, 'and') || isSent(member, 'or');
  if (!isGroup) return checkCondition(member, place, check);
  if (isInner) {
    check.errors.add(place, 'groups are nested at most two levels deep');
    return null;
  }
  return checkGroup(member, place, within, check);
}

function isCondition(group: JsonObject): boolean {
  return isSent(group, 'field') || isSent(group, 'operator');
}

/** Checks and counts a condition and its pattern. @returns null if the condition has no field or no known operator */
function checkCondition(sent: JsonObject, place: string, check: FilterCheck): FilterNode | null {
  check.conditions += 1;
  const { table, errors } = check;
  const condition = readCondition(sent, place, errors);
  const { field, operator } = condition ?? {};
  const value = condition?.value ?? null;
  if (typeof field !== 'string') return null;
  const named = namedField(field, `${place}.field`, table, errors);
  if (named?.kind === 'score')
    errors.add(`${place}.field`, '"_score" can be used to sort, but not to filter');
  if (operator === undefined || operator === null) return null;
  if (isGeoOperator(operator)) {
    const area = checkGeoCondition(named, field, operator, value, place, errors);
    return { caseInsensitive: false, field, kind: 'condition', operator, value: area };
  }
  if (operator === 'exists') return checkExists(field, value, `${place}.value`, errors);
  if (isPattern(operator) && typeof value === 'string' && value.includes('*')) check.patterns += 1;
  const listed = isList(operator) && typeof value === 'string' ? itemsOfText(value) : value;
  const isOfUse = checkUse(named, field, operator, listed, place, errors);
  const operand = isOfUse ? readValue(named, listed, `${place}.value`, errors) : listed;
  if (operand === unreadable) return null;
  checkValue(named, operator, operand, `${place}.value`, errors);
  // In this order, `canonicalJson` need not copy it.
  const caseInsensitive = condition?.caseInsensitive === true;
  return { caseInsensitive, field, kind: 'condition', operator, value: operand };
}

/** `exists` is the same as `equals null` or `notEquals null`, so the page tokens must be the same. */
function checkExists(field: string, value: Json, place: string, errors: QueryErrors): FilterNode | null {
  const exists = value === 'true' ? true : value === 'false' ? false : value;
  if (typeof exists !== 'boolean') {
    errors.add(place, `exists needs true or false, not ${quote(value)}`);
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

const unreadable = Symbol('a value with an error');

/** The value converted to the field's type; `unreadable` after reporting an error. */
function readValue(
  named: NamedField | null,
  sent: Json,
  place: string,
  errors: QueryErrors,
): Json | typeof unreadable {
  if (named?.kind !== 'field') return sent;
  const before = errors.count;
  const value = valueOfText(named.traits, sent, place, errors);
  return errors.count === before ? value : unreadable;
}

/** Checks that the operator supports the field's type. @returns false after an error */
function checkUse(
  named: NamedField | null,
  field: string,
  operator: FilterOperator,
  value: Json,
  place: string,
  errors: QueryErrors,
): boolean {
  if (named?.kind !== 'field') return true;
  const { traits, type } = named;
  const name = quote(field);
  const wrong = (text: string): false => {
    errors.add(`${place}.operator`, text);
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
 * Checks that the value has the form that its operator needs. A value of another type than the field's is not an error: it
 * matches nothing.
 */
function checkValue(
  named: NamedField | null,
  operator: FilterOperator,
  value: Json,
  place: string,
  errors: QueryErrors,
): void {
  if (isList(operator)) {
    if (!Array.isArray(value)) errors.add(place, `${operator} needs an array of values, not ${quote(value)}`);
    else if (value.some(isComposite))
      errors.add(place, `${operator} compares with strings, numbers, booleans and null only`);
    return;
  }
  if (operator === 'notContains' && value === null) {
    errors.add(place, 'is missing; notContains needs a value');
    return;
  }
  if (isComposite(value)) {
    errors.add(place, `${operator} needs a string, number, boolean or null; use "in" for several values`);
    return;
  }
  if (ordering.has(operator) && !isComparable(named, value)) {
    errors.add(
      place,
      `${operator} needs a number, or a date as ISO 8601 text or epoch milliseconds, not ${quote(value)}`,
    );
  }
}

function isComposite(value: Json): boolean {
  return typeof value === 'object' && value !== null;
}

function isComparable(named: NamedField | null, value: Json): boolean {
  if (named?.kind === 'field' && isOrdered(named.traits)) {
    return queryPointOf(named.traits.kind, value) !== null;
  }
  return typeof value === 'number' || parseDate(value) !== null || parseWhole(value) !== null;
}
