/** Checks the facets of a query: counted values, and statistics, ranges and intervals of numbers and dates. */
import type { Json } from '../../contract/json.ts';
import { facetSizeDefault } from '../../contract/limits.ts';
import { facetRangeShape, facetShape } from '../../contract/shapes-query.ts';
import type { CheckedFacet, FacetRange, NumberFacet } from '../checked-query.ts';
import { type FieldTable, isFacetable, isNumeric, meaningOf, type ValueKind } from '../fields/field-type.ts';
import { comparePoints, type NumberPoint, queryPointOf } from '../fields/number-point.ts';
import { type Members, readerOf } from './members.ts';
import { type QueryErrors, quote } from './query-errors.ts';

const readFacet = readerOf(facetShape, 'near');
const readRange = readerOf(facetRangeShape, 'near');

/**
 * The facets of a query. A field that cannot be faceted or does not exist is not an error: its facet is not valid and has no
 * groups.
 */
export function checkFacets(facets: readonly Json[], table: FieldTable, errors: QueryErrors): CheckedFacet[] {
  return facets.flatMap((facet, at) => checkFacet(facet, `facets[${at}]`, table, errors) ?? []);
}

function checkFacet(sent: Json, place: string, table: FieldTable, errors: QueryErrors): CheckedFacet | null {
  const facet = readFacet(sent, place, errors);
  if (facet === null) return null;
  const { field, filter } = facet;
  const kind = typeof field === 'string' ? facetKind(table, field) : null;
  const question = checkNumberFacet(facet, kind !== null && isNumeric(kind) ? kind : null, place, errors);
  if (typeof field !== 'string') return null;
  const name = facet.name ?? field;
  // Some clients send 0 for an unspecified size.
  const size = facet.size || facetSizeDefault;
  const isValid = kind !== null && (question === null || canHave(question, kind));
  const unfiltered = filter === false ? { isUnfiltered: true as const } : {};
  const numbers = isValid && question !== null ? { numbers: { kind, ...question } } : {};
  return { field, name, size, isValid, ...unfiltered, ...numbers };
}

/** The kind of values in the facet of a field; null if the field cannot be faceted. */
function facetKind(table: FieldTable, field: string): ValueKind | null {
  const meaning = meaningOf(table, field);
  if (meaning.kind !== 'field' || !isFacetable(meaning.traits)) return null;
  const { kind } = meaning.traits;
  return meaning.isBuiltIn && kind !== 'text' ? null : kind;
}

function canHave({ interval }: NumberQuestion, kind: ValueKind): boolean {
  return interval === null ? isNumeric(kind) : kind === 'date';
}

/** Options of a facet for numbers and dates, independent of the type of its field. */
type NumberQuestion = Omit<NumberFacet, 'kind'>;

/**
 * Checks `stats`, `ranges` and `interval` of a facet (docs/reference/indexes-and-queries.md "Statistics, ranges and
 * intervals").
 * @param kind of the field; null if it has neither numbers nor dates
 * @returns null if the facet has none of them
 */
function checkNumberFacet(
  facet: Members<typeof facetShape>,
  kind: ValueKind | null,
  place: string,
  errors: QueryErrors,
): NumberQuestion | null {
  const stats = facet.stats ?? false;
  const interval = facet.interval ?? null;
  const ranges =
    facet.ranges?.map((range, at) => checkRange(range, kind, `${place}.ranges[${at}]`, errors)) ?? null;
  if (ranges !== null && interval !== null) {
    errors.add(place, 'has both "ranges" and "interval"; use one facet for each');
  }
  if (!stats && ranges === null && interval === null) return null;
  return { stats, ranges, interval };
}

const everything: FacetRange = { from: null, to: null, name: null };

function checkRange(range: Json, kind: ValueKind | null, place: string, errors: QueryErrors): FacetRange {
  const read = readRange(range, place, errors);
  if (read === null) return everything;
  const from = checkEnd(read.from ?? null, kind, `${place}.from`, errors);
  const to = checkEnd(read.to ?? null, kind, `${place}.to`, errors);
  const [low, high] = [pointOf(kind, from), pointOf(kind, to)];
  if (low !== null && high !== null && comparePoints(low, high) > 0) {
    errors.add(place, `from ${quote(from)} is greater than to ${quote(to)}`);
  }
  return { from, to, name: read.name ?? null };
}

/** For a field without such ranges, the end of a range is only checked for its form. */
function checkEnd(
  end: Json,
  kind: ValueKind | null,
  place: string,
  errors: QueryErrors,
): number | string | null {
  if (end === null) return null;
  const isEnd = typeof end === 'number' || typeof end === 'string';
  if (isEnd && (kind === null || pointOf(kind, end) !== null)) return end;
  const needed = kind === 'date' ? 'a date as ISO 8601 text or epoch milliseconds' : 'a number';
  errors.add(place, `must be ${kind === null ? 'a number or a date' : needed}, not ${quote(end)}`);
  return null;
}

function pointOf(kind: ValueKind | null, end: number | string | null): NumberPoint | null {
  return end === null || kind === null ? null : queryPointOf(kind, end);
}
