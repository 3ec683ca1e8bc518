import { type FacetInterval, facetIntervals } from '../../contract/facet-intervals.ts';
import type { Json, JsonObject } from '../../contract/json.ts';
import { getOwn, isJsonObject } from '../../contract/json.ts';
import { facetRangesMax } from '../../contract/limits.ts';
import type { FacetRange, NumberFacet } from '../checked-query.ts';
import { comparePoints, type NumberPoint, queryPointOf } from '../columns/number-point.ts';
import type { ValueKind } from '../fields/field-type.ts';
import { type Mistakes, quote } from './mistakes.ts';

/** What a facet asks of numbers and dates, whatever its field is. */
export type NumberQuestion = Omit<NumberFacet, 'kind'>;

/**
 * Checks `stats`, `ranges` and `interval` of a facet (docs/reference/indexes-and-queries.md "Statistics, ranges and
 * intervals").
 * @param kind of the field; null when it is not of numbers or dates
 * @returns null when the facet asks for none of them
 */
export function checkNumberFacet(
  facet: JsonObject,
  kind: ValueKind | null,
  place: string,
  mistakes: Mistakes,
): NumberQuestion | null {
  const stats = getOwn(facet, 'stats') ?? false;
  if (typeof stats !== 'boolean')
    mistakes.add(`${place}.stats`, `must be true or false, not ${quote(stats)}`);
  const ranges = checkRanges(getOwn(facet, 'ranges') ?? null, kind, `${place}.ranges`, mistakes);
  const interval = checkInterval(getOwn(facet, 'interval') ?? null, `${place}.interval`, mistakes);
  if (ranges !== null && interval !== null) {
    mistakes.add(place, 'has both "ranges" and "interval"; use one facet for each');
  }
  if (stats === false && ranges === null && interval === null) return null;
  return { stats: stats === true, ranges, interval };
}

function checkInterval(interval: Json, place: string, mistakes: Mistakes): FacetInterval | null {
  if (interval === null) return null;
  const known = facetIntervals.find((name) => name === interval);
  if (known === undefined) {
    mistakes.add(place, `must be one of ${facetIntervals.join(', ')}, not ${quote(interval)}`);
  }
  return known ?? null;
}

function checkRanges(
  ranges: Json,
  kind: ValueKind | null,
  place: string,
  mistakes: Mistakes,
): FacetRange[] | null {
  if (ranges === null) return null;
  if (!Array.isArray(ranges)) {
    mistakes.add(place, `must be an array of {"from", "to", "name"}, not ${quote(ranges)}`);
    return null;
  }
  if (ranges.length > facetRangesMax) {
    mistakes.add(place, `${ranges.length} ranges; at most ${facetRangesMax} are allowed`);
    return null;
  }
  return ranges.map((range, at) => checkRange(range, kind, `${place}[${at}]`, mistakes));
}

const everything: FacetRange = { from: null, to: null, name: null };

function checkRange(range: Json, kind: ValueKind | null, place: string, mistakes: Mistakes): FacetRange {
  if (!isJsonObject(range)) {
    mistakes.add(place, `must be {"from", "to", "name"}, not ${quote(range)}`);
    return everything;
  }
  const from = checkEnd(getOwn(range, 'from') ?? null, kind, `${place}.from`, mistakes);
  const to = checkEnd(getOwn(range, 'to') ?? null, kind, `${place}.to`, mistakes);
  const name = getOwn(range, 'name') ?? null;
  if (name !== null && typeof name !== 'string') {
    mistakes.add(`${place}.name`, `must be a string, not ${quote(name)}`);
    return everything;
  }
  const [low, high] = [pointOf(kind, from), pointOf(kind, to)];
  if (low !== null && high !== null && comparePoints(low, high) > 0) {
    mistakes.add(place, `from ${quote(from)} is over to ${quote(to)}`);
  }
  return { from, to, name };
}

/** An end of a range of a field that has no such ranges is not compared, but it must look like one. */
function checkEnd(
  end: Json,
  kind: ValueKind | null,
  place: string,
  mistakes: Mistakes,
): number | string | null {
  if (end === null) return null;
  const isEnd = typeof end === 'number' || typeof end === 'string';
  if (isEnd && (kind === null || pointOf(kind, end) !== null)) return end;
  const needed = kind === 'date' ? 'a date as ISO 8601 text or epoch milliseconds' : 'a number';
  mistakes.add(place, `must be ${kind === null ? 'a number or a date' : needed}, not ${quote(end)}`);
  return null;
}

function pointOf(kind: ValueKind | null, end: number | string | null): NumberPoint | null {
  return end === null || kind === null ? null : queryPointOf(kind, end);
}
