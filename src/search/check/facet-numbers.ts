import type { Json } from '../../contract/json.ts';
import { facetRangeShape, type facetShape } from '../../contract/shapes-query.ts';
import type { FacetRange, NumberFacet } from '../checked-query.ts';
import { comparePoints, type NumberPoint, queryPointOf } from '../columns/number-point.ts';
import type { ValueKind } from '../fields/field-type.ts';
import { type Members, readerOf } from './members.ts';
import { type Mistakes, quote } from './mistakes.ts';

const readRange = readerOf(facetRangeShape, 'ignored');

/** What a facet asks of numbers and dates, whatever its field is. */
export type NumberQuestion = Omit<NumberFacet, 'kind'>;

/**
 * Checks `stats`, `ranges` and `interval` of a facet (docs/reference/indexes-and-queries.md "Statistics, ranges and
 * intervals").
 * @param kind of the field; null when it is not of numbers or dates
 * @returns null when the facet asks for none of them
 */
export function checkNumberFacet(
  facet: Members<typeof facetShape>,
  kind: ValueKind | null,
  place: string,
  mistakes: Mistakes,
): NumberQuestion | null {
  const stats = facet.stats ?? false;
  const interval = facet.interval ?? null;
  const ranges =
    facet.ranges?.map((range, at) => checkRange(range, kind, `${place}.ranges[${at}]`, mistakes)) ?? null;
  if (ranges !== null && interval !== null) {
    mistakes.add(place, 'has both "ranges" and "interval"; use one facet for each');
  }
  if (!stats && ranges === null && interval === null) return null;
  return { stats, ranges, interval };
}

const everything: FacetRange = { from: null, to: null, name: null };

function checkRange(range: Json, kind: ValueKind | null, place: string, mistakes: Mistakes): FacetRange {
  const read = readRange(range, place, mistakes);
  if (read === null) return everything;
  const from = checkEnd(read.from ?? null, kind, `${place}.from`, mistakes);
  const to = checkEnd(read.to ?? null, kind, `${place}.to`, mistakes);
  const [low, high] = [pointOf(kind, from), pointOf(kind, to)];
  if (low !== null && high !== null && comparePoints(low, high) > 0) {
    mistakes.add(place, `from ${quote(from)} is over to ${quote(to)}`);
  }
  return { from, to, name: read.name ?? null };
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
