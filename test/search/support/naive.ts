/**
 * The index as one would write it without caring for speed: every query reads every item. It shares no code with `src/search`
 * and reads queries as they are sent, so that the two have only the documented behavior in common.
 */
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import type { IndexTexts } from '../../../src/schemas/definition/index-texts.ts';
import type { FieldType } from '../../../src/search/fields/field-type.ts';
import type { IndexItem } from '../../../src/search/shard/doc-table.ts';
import { type NaiveFacet, naiveFacet } from './naive-facets.ts';
import { isWithin, naiveDistance, naivePlaces } from './naive-geo.ts';
import { naiveScorer } from './naive-search.ts';

export interface NaiveRow {
  readonly item: IndexItem;
  readonly score: number;
}

export interface NaiveAnswer {
  readonly total: number;
  /** All matches, in order. */
  readonly rows: readonly NaiveRow[];
  readonly page: readonly NaiveRow[];
  readonly facets: readonly NaiveFacet[];
}

type Types = ReadonlyMap<string, FieldType>;
export type Num = number | bigint;
/** A bound of an interval; null: none. */
interface Bound {
  readonly at: Num | null;
  readonly closed: boolean;
}

export function naiveQuery(
  items: readonly IndexItem[],
  types: Types,
  body: JsonObject,
  texts: IndexTexts = { rules: new Map(), synonyms: [] },
): NaiveAnswer {
  const { filters, sort, facets, pagination } = body as Record<string, never>;
  const asked = body.search as { value: string } | null | undefined;
  const search = asked && asked.value.trim() !== '' ? (asked as never) : null;
  const scoreOf = search ? naiveScorer(search, items, texts) : () => 0;
  const found = items.flatMap((item): NaiveRow[] => {
    const score = scoreOf(item);
    return score === null ? [] : [{ item, score }];
  });
  const matching = (filter: JsonObject | null) =>
    found.filter(({ item }) => !filter || groupHolds(item, types, filter));
  const all = matching(filters ?? null);
  const keys: NaiveSort =
    sort && (sort as Json[]).length > 0 ? sort : [{ field: search ? '_score' : '_updatedAt', order: 'desc' }];
  sortRows(all, keys, types);
  const { distinct, distinctFacets } = body as { distinct?: string; distinctFacets?: boolean };
  const left = (some: NaiveRow[]) => (distinct ? firstOfEach(some, distinct, types) : some);
  const rows = left(all);
  const countable = (some: NaiveRow[]) => {
    if (distinctFacets === false) return some;
    sortRows(some, keys, types);
    return left(some);
  };
  const { page = 0, pageSize = 10 } = (pagination ?? {}) as { page?: number; pageSize?: number };
  return {
    total: rows.length,
    rows,
    page: rows.slice(page * pageSize, page * pageSize + pageSize),
    facets: ((facets ?? []) as JsonObject[]).map((facet) => {
      const field = facet.field as string;
      const filter = facet.filter === false ? withoutConditions(filters ?? null, field) : (filters ?? null);
      const counted = countable(matching(filter));
      return naiveFacet(
        facet,
        typeOf(types, field),
        counted.map(({ item }) => itemsOf(item, field)),
        () => naiveGroups(counted, field, types),
      );
    }),
  };
}

/** The first row of each value, and every row without one. */
function firstOfEach(rows: readonly NaiveRow[], field: string, types: Types): NaiveRow[] {
  const type = typeOf(types, field);
  const seen = new Set<string>();
  return rows.filter(({ item }) => {
    const value = valueOfField(item, field);
    if (value === null) return true;
    const isNumber = /^(integer|long|float|double|date)/.test(type);
    const shown = isNumber ? exactText(asNumber(type, value) ?? 0) : JSON.stringify(value);
    return !seen.has(shown) && seen.add(shown) !== null;
  });
}

function exactText(value: Num): string {
  return typeof value === 'number' && !Number.isInteger(value) ? String(value) : String(BigInt(value));
}

/** The filter with empty groups instead of the conditions on a field. */
function withoutConditions(group: JsonObject | null, field: string): JsonObject | null {
  if (group === null) return null;
  const kind = group.and ? 'and' : 'or';
  const members = (group[kind] ?? []) as JsonObject[];
  const left = members
    .filter((member) => member.field !== field)
    .map((member) => (member.and || member.or ? withoutConditions(member, field) : member));
  return { [kind]: left };
}

function itemsOf(item: IndexItem, field: string): readonly Json[] {
  const value = valueOfField(item, field);
  return Array.isArray(value) ? value : value === null ? [] : [value];
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
    case 'notIn':
      return !(asked as Json[]).some((one) => equalsValue(type, value, one, fold));
    case 'exists':
      return (value !== null) === asked;
    case 'notContains':
      return !containsValue(type, value, asked, fold);
    case 'contains':
      return containsValue(type, value, asked, fold);
    case 'withinDistance':
    case 'withinBox':
      return naivePlaces(type, value).some((place) =>
        isWithin(place, condition.operator as string, asked as JsonObject),
      );
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
export function asNumber(type: string, value: Json): Num | null {
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

/** Whether the range and the half line of the operator overlap. */
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

type NaiveSort = readonly { field: string; order?: string; near?: { lat: number; lon: number } }[];

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
  { field, order, near }: NaiveSort[number],
  types: Types,
): (a: NaiveRow, b: NaiveRow) => number {
  const isDescending = order === 'desc';
  const type = field === '_score' ? 'double' : typeOf(types, field);
  const known = new Map<NaiveRow, Num | string | null>();
  const keyOf = (row: NaiveRow) => {
    const before = known.get(row);
    if (before !== undefined) return before;
    const value = near
      ? naiveDistance(near, naivePlaces(type, valueOfField(row.item, field)))
      : sortValue(row, field, isDescending, type);
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

/** The sort key of a row: a string, or a number that sorts like its value. */
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
  const counts = new Map<Json, { value: Json; count: number }>();
  for (const { item } of rows) {
    const value = valueOfField(item, field);
    const items = Array.isArray(value) ? value : value === null ? [] : [value];
    const keys = new Set<Json>();
    for (const each of items) {
      const shown = facetValue(type, each);
      // A date is its timestamp, named by the first of its notations.
      const key = type.startsWith('date') ? Number(asNumber(type, each)) : shown;
      const group = counts.get(key) ?? { value: shown, count: 0 };
      if (type.startsWith('date') && compareNotations(shown, group.value) < 0) group.value = shown;
      counts.set(key, group);
      keys.add(key);
    }
    for (const key of keys) (counts.get(key) ?? { count: 0 }).count += 1;
  }
  const groups = [...counts.values()];
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
  return Number(asNumber(type, a)) - Number(asNumber(type, b));
}

/** Numbers before strings. */
function compareNotations(a: Json, b: Json): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'number' || typeof b === 'number') return typeof a === 'number' ? -1 : 1;
  return compareCodePoints(a as string, b as string);
}
