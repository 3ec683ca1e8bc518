/**
 * The index as one would write it without caring for speed: every query looks at every item. It shares no code with
 * `src/search` and reads queries as they are sent, so that what the two have in common is the documented behaviour alone.
 */
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import type { FieldType } from '../../../src/search/fields/field-type.ts';
import type { IndexItem } from '../../../src/search/index-item.ts';

export interface NaiveRow {
  readonly item: IndexItem;
  readonly score: number;
}

export interface NaiveAnswer {
  readonly total: number;
  /** All that match, in order. */
  readonly rows: readonly NaiveRow[];
  readonly page: readonly NaiveRow[];
  readonly facets: readonly { field: string; name: string; groups: { value: Json; count: number }[] }[];
}

type Types = ReadonlyMap<string, FieldType>;
type Num = number | bigint;
/** A bound of an interval; null: none. */
interface Bound {
  readonly at: Num | null;
  readonly closed: boolean;
}

export function naiveQuery(items: readonly IndexItem[], types: Types, body: JsonObject): NaiveAnswer {
  const { filters, search, sort, facets, pagination } = body as Record<string, never>;
  const rows: NaiveRow[] = [];
  const scoreOf = search ? naiveScorer(search) : () => 0;
  for (const item of items) {
    const score = scoreOf(item);
    if (search && score === 0) continue;
    if (filters && !groupHolds(item, types, filters)) continue;
    rows.push({ item, score });
  }
  const keys: { field: string; order?: string }[] =
    sort && (sort as Json[]).length > 0 ? sort : [{ field: search ? '_score' : '_updatedAt', order: 'desc' }];
  sortRows(rows, keys, types);
  const { page = 0, pageSize = 10 } = (pagination ?? {}) as { page?: number; pageSize?: number };
  return {
    total: rows.length,
    rows,
    page: rows.slice(page * pageSize, page * pageSize + pageSize),
    facets: ((facets ?? []) as { field: string; name?: string; size?: number }[]).map(
      ({ field, name, size }) => ({
        field,
        name: name ?? field,
        groups: naiveGroups(rows, field, types).slice(0, size ?? 10),
      }),
    ),
  };
}

function builtIn(item: IndexItem, field: string): Json | undefined {
  if (field === '_originId') return item.originId;
  if (field === '_sourceGuid') return item.sourceId;
  return field === '_updatedAt' ? item.updatedAtMs : undefined;
}

function valueOfField(item: IndexItem, field: string): Json {
  return builtIn(item, field) ?? (Object.hasOwn(item.fields, field) ? (item.fields[field] ?? null) : null);
}

function typeOf(types: Types, field: string): string {
  if (field === '_updatedAt') return 'date';
  return field.startsWith('_') ? 'keyword' : (types.get(field) ?? 'keyword');
}

// Filters

function groupHolds(item: IndexItem, types: Types, group: JsonObject): boolean {
  const members = (group.and ?? group.or) as JsonObject[] | null | undefined;
  if (!members) return true;
  const conditions = members.filter((member) => !isEmptyGroup(member));
  if (conditions.length === 0) return true;
  const holds = (member: JsonObject): boolean =>
    member.and || member.or ? groupHolds(item, types, member) : conditionHolds(item, types, member);
  return group.and ? conditions.every(holds) : conditions.some(holds);
}

function isEmptyGroup(member: JsonObject): boolean {
  const members = (member.and ?? member.or) as JsonObject[] | null | undefined;
  return Array.isArray(members) && members.length === 0;
}

function conditionHolds(item: IndexItem, types: Types, condition: JsonObject): boolean {
  const field = condition.field as string;
  const value = valueOfField(item, field);
  const asked = condition.value ?? null;
  const type = typeOf(types, field);
  const fold = condition.caseInsensitive === true;
  switch (condition.operator) {
    case 'equals':
      return equalsValue(type, value, asked, fold);
    case 'notEquals':
      return !equalsValue(type, value, asked, fold);
    case 'in':
      return (asked as Json[]).some((one) => equalsValue(type, value, one, fold));
    case 'contains':
      return containsValue(type, value, asked, fold);
    default:
      return ordered(type, value, condition.operator as string, asked);
  }
}

function equalsValue(type: string, value: Json, asked: Json, fold: boolean): boolean {
  if (asked === null || value === null) return asked === value;
  if (type.endsWith('Range')) return liesIn(type, value as JsonObject, asked);
  if (Array.isArray(value)) return value.some((item) => sameScalar(type, item, asked, fold));
  return sameScalar(type, value, asked, fold);
}

function sameScalar(type: string, value: Json, asked: Json, fold: boolean): boolean {
  if (/^(keyword|text)/.test(type)) {
    if (typeof asked !== 'string') return false;
    return fold ? (value as string).toLowerCase() === asked.toLowerCase() : value === asked;
  }
  if (type.startsWith('boolean')) return value === asked;
  const number = asNumber(type, asked);
  // biome-ignore lint/suspicious/noDoubleEquals: between a number and a bigint only == compares exactly.
  return number !== null && asNumber(type, value) == number;
}

/** Null: nothing of that type. */
function asNumber(type: string, value: Json): Num | null {
  if (type.startsWith('date')) {
    if (typeof value === 'number') return value;
    if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d/.test(value)) return null;
    const hasZone = value.length === 10 || /(Z|[+-]\d\d:\d\d)$/.test(value);
    const time = Date.parse(hasZone ? value : `${value}Z`);
    return Number.isNaN(time) ? null : time;
  }
  if (typeof value === 'number') return value;
  return type.startsWith('long') && typeof value === 'string' && /^-?\d+$/.test(value) ? BigInt(value) : null;
}

function containsValue(type: string, value: Json, asked: Json, fold: boolean): boolean {
  if (value === null) return false;
  const items = Array.isArray(value) ? value : [value];
  if (!/^(keyword|text)/.test(type))
    return items.some((item) => asked !== null && sameScalar(type, item, asked, false));
  if (typeof asked !== 'string') return false;
  return items.some((item) =>
    fold
      ? glob([...asked.toLowerCase()], [...String(item).toLowerCase()])
      : glob([...asked], [...String(item)]),
  );
}

function glob(pattern: string[], text: string[]): boolean {
  // reach[j]: the pattern so far matches the first j characters.
  let reach = text.map(() => false);
  reach.unshift(true);
  for (const symbol of pattern) {
    const next = reach.map(() => false);
    for (let j = 0; j <= text.length; j += 1) {
      if (symbol === '*') next[j] = reach[j] === true || (j > 0 && next[j - 1] === true);
      else next[j] = j > 0 && reach[j - 1] === true && text[j - 1] === symbol;
    }
    reach = next;
  }
  return reach[text.length] === true;
}

function ordered(type: string, value: Json, operator: string, asked: Json): boolean {
  const number = asNumber(type, asked);
  if (value === null || number === null) return false;
  if (type.endsWith('Range')) return overlaps(type, value as JsonObject, operator, number);
  const items = Array.isArray(value) ? value : [value];
  return items.some((item) => {
    const own = asNumber(type, item);
    if (own === null) return false;
    if (operator === 'greaterThan') return own > number;
    if (operator === 'greaterThanOrEquals') return own >= number;
    return operator === 'lessThan' ? own < number : own <= number;
  });
}

function boundsOf(type: string, range: JsonObject): [low: Bound, high: Bound] {
  const bound = (closed: string, open: string): Bound => {
    if (range[closed] !== undefined) return { at: asNumber(type, range[closed] ?? null), closed: true };
    return { at: range[open] === undefined ? null : asNumber(type, range[open] ?? null), closed: false };
  };
  return [bound('gte', 'gt'), bound('lte', 'lt')];
}

function isWholeType(type: string): boolean {
  return /^(integer|long|date)/.test(type);
}

function liesIn(type: string, range: JsonObject, asked: Json): boolean {
  const number = asNumber(type, asked);
  if (number === null || (isWholeType(type) && typeof number === 'number' && !Number.isInteger(number)))
    return false;
  const [low, high] = boundsOf(type, range);
  const above = low.at === null || (low.closed ? number >= low.at : number > low.at);
  return above && (high.at === null || (high.closed ? number <= high.at : number < high.at));
}

/** Whether the range and the half line of the operator have a value in common. */
function overlaps(type: string, range: JsonObject, operator: string, number: Num): boolean {
  const [low, high] = boundsOf(type, range);
  const closed = operator.endsWith('Equals');
  const lows = [low];
  const highs = [high];
  (operator.startsWith('greater') ? lows : highs).push({ at: number, closed });
  for (const from of lows) {
    for (const to of highs) {
      if (from.at === null || to.at === null) continue;
      if (isWholeType(type) ? firstWhole(from) > lastWhole(to) : isEmpty(from, to)) return false;
    }
  }
  return true;
}

function isEmpty(from: Bound, to: Bound): boolean {
  if (from.at === null || to.at === null) return false;
  // biome-ignore lint/suspicious/noDoubleEquals: between a number and a bigint only == compares exactly.
  return from.at > to.at || (from.at == to.at && !(from.closed && to.closed));
}

function firstWhole({ at, closed }: Bound): bigint {
  if (typeof at === 'number' && !Number.isInteger(at)) return BigInt(Math.ceil(at));
  return BigInt(at ?? 0) + (closed ? 0n : 1n);
}

function lastWhole({ at, closed }: Bound): bigint {
  if (typeof at === 'number' && !Number.isInteger(at)) return BigInt(Math.floor(at));
  return BigInt(at ?? 0) - (closed ? 0n : 1n);
}

// Search

export function naiveWords(text: string): string[] {
  const runs = text.normalize('NFKC').match(/[\p{L}\p{M}\p{Nd}]+/gu) ?? [];
  return [...new Set(runs.map((run) => run.toLowerCase()))];
}

export function naiveDistance(first: string, second: string): number {
  const a = [...first];
  const b = [...second];
  const cells: number[][] = a.map(() => []);
  cells.push([]);
  const cell = (i: number, j: number): number => cells[i]?.[j] ?? Number.NaN;
  for (let i = 0; i <= a.length; i += 1) {
    const line = cells[i] ?? [];
    for (let j = 0; j <= b.length; j += 1) {
      if (i === 0 || j === 0) {
        line[j] = i + j;
        continue;
      }
      const replaced = cell(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(replaced, cell(i - 1, j) + 1, cell(i, j - 1) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        least = Math.min(least, cell(i - 2, j - 2) + 1);
      }
      line[j] = least;
    }
  }
  return cell(a.length, b.length);
}

interface NaiveSearch {
  readonly field: string;
  readonly value: string;
  readonly literal?: boolean;
}

function naiveScorer({ field, value: searched, literal }: NaiveSearch): (item: IndexItem) => number {
  const asked = naiveWords(searched).map((word) => nearnessTo(word, literal === true));
  return (item) => {
    const value = valueOfField(item, field);
    const texts = Array.isArray(value) ? (value as string[]) : value === null ? [] : [value as string];
    const own = texts.flatMap(naiveWords);
    let words = 0;
    let edits = 0;
    for (const nearness of asked) {
      const nearest = Math.min(...own.map(nearness));
      if (nearest === Number.POSITIVE_INFINITY) continue;
      words += 1;
      edits += nearest;
    }
    return words === 0 ? 0 : words - 1 + 1 / (1 + edits);
  };
}

/** The distance of other words to a word, infinite beyond what its length allows. */
function nearnessTo(word: string, literal: boolean): (other: string) => number {
  const { length } = [...word];
  const allowed = literal ? 0 : length <= 2 ? 0 : length <= 5 ? 1 : 2;
  // Large data has the same words again and again.
  const known = new Map<string, number>();
  return (other) => {
    const before = known.get(other);
    if (before !== undefined) return before;
    const isFar = Math.abs([...other].length - length) > allowed;
    const distance = isFar ? Number.POSITIVE_INFINITY : naiveDistance(word, other);
    const nearness = distance > allowed ? Number.POSITIVE_INFINITY : distance;
    known.set(other, nearness);
    return nearness;
  };
}

// Order

function compareCodePoints(first: string, second: string): number {
  let at = 0;
  while (at < first.length && at < second.length) {
    const [a = 0, b = 0] = [first.codePointAt(at), second.codePointAt(at)];
    if (a !== b) return a - b;
    at += a > 0xffff ? 2 : 1;
  }
  return first.length - second.length;
}

function compareScalars(type: string, a: Json, b: Json): number {
  if (/^(keyword|text)/.test(type)) return compareCodePoints(a as string, b as string);
  if (type.startsWith('boolean')) return Number(a) - Number(b);
  const x = asNumber(type, a) ?? 0;
  const y = asNumber(type, b) ?? 0;
  return x < y ? -1 : x > y ? 1 : 0;
}

type NaiveSort = readonly { field: string; order?: string }[];

function sortRows(rows: NaiveRow[], keys: NaiveSort, types: Types): void {
  const comparisons = keys.map((key) => comparisonBy(key, types));
  rows.sort((a, b) => {
    for (const compare of comparisons) {
      const compared = compare(a, b);
      if (compared !== 0) return compared;
    }
    return (
      compareCodePoints(a.item.originId, b.item.originId) ||
      compareCodePoints(a.item.sourceId, b.item.sourceId)
    );
  });
}

function comparisonBy(
  { field, order }: NaiveSort[number],
  types: Types,
): (a: NaiveRow, b: NaiveRow) => number {
  const isDescending = order === 'desc';
  const type = field === '_score' ? 'double' : typeOf(types, field);
  const known = new Map<NaiveRow, Num | string | null>();
  const keyOf = (row: NaiveRow) => {
    const before = known.get(row);
    if (before !== undefined) return before;
    const value = sortValue(row, field, isDescending, type);
    known.set(row, value);
    return value;
  };
  return (a, b) => {
    const [valueA, valueB] = [keyOf(a), keyOf(b)];
    if (valueA === null || valueB === null) return Number(valueA === null) - Number(valueB === null);
    const compared =
      typeof valueA === 'string' && typeof valueB === 'string'
        ? compareCodePoints(valueA, valueB)
        : Number(valueA > valueB) - Number(valueA < valueB);
    return isDescending ? -compared : compared;
  };
}

/** What a row is sorted by: a text, or a number that orders as its value does. */
function sortValue(row: NaiveRow, field: string, isDescending: boolean, type: string): Num | string | null {
  if (field === '_score') return row.score;
  const value = valueOfField(row.item, field);
  const items = Array.isArray(value) ? [...value].sort((a, b) => compareScalars(type, a, b)) : [value];
  const one = (isDescending ? items.at(-1) : items[0]) ?? null;
  if (one === null) return null;
  if (/^(keyword|text)/.test(type)) return one as string;
  return type.startsWith('boolean') ? Number(one) : (asNumber(type, one) ?? 0);
}

// Facets

function naiveGroups(
  rows: readonly NaiveRow[],
  field: string,
  types: Types,
): { value: Json; count: number }[] {
  const type = typeOf(types, field);
  if (type === 'object' || type.endsWith('Range')) return [];
  const counts = new Map<Json, number>();
  for (const { item } of rows) {
    const value = valueOfField(item, field);
    const items = Array.isArray(value) ? value : value === null ? [] : [value];
    for (const one of new Set(items.map((each) => facetValue(type, each))))
      counts.set(one, (counts.get(one) ?? 0) + 1);
  }
  const groups = [...counts].map(([value, count]) => ({ value, count }));
  return groups.sort((a, b) => b.count - a.count || compareFacetValues(type, a.value, b.value));
}

function facetValue(type: string, value: Json): Json {
  if (!type.startsWith('long')) return Object.is(value, -0) ? 0 : value;
  const whole = BigInt(value as string | number);
  const isSafe = whole <= BigInt(Number.MAX_SAFE_INTEGER) && whole >= BigInt(Number.MIN_SAFE_INTEGER);
  return isSafe ? Number(whole) : String(whole);
}

function compareFacetValues(type: string, a: Json, b: Json): number {
  if (!type.startsWith('date')) return compareScalars(type, a, b);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'number' || typeof b === 'number') return typeof a === 'number' ? -1 : 1;
  return compareCodePoints(a as string, b as string);
}
