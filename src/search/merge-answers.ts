/** Merges the answers of shards: rows, with scores that the shards could not compute yet, and facets. */
import type { Steps } from '../lib/cooperative-yield.ts';
import type { CheckedFacet, CheckedQuery, SortKey } from './checked-query.ts';
import { compareValues } from './columns/value-dictionary.ts';
import { type FacetNeed, type MergedGroups, mergeFacet } from './facets/merge.ts';
import { mergedNumbers } from './facets/number-facet.ts';
import type { FacetStats } from './facets/stats.ts';
import type { FacetGroup, FacetGroups, RowPlace, ShownRow, UnscoredAnswer } from './shard-answer.ts';
import { compareCollated, compareText } from './sort/text-order.ts';
import { Scorer } from './text/relevance.ts';

/** The part of a shard's answer that merging needs. Rows may have another form than in the shard. */
export interface PartialAnswer<R extends { readonly place: RowPlace }> {
  readonly total: number;
  readonly rows: readonly R[];
  readonly facets: readonly FacetGroups[];
}

export interface MergedFacet {
  readonly field: string;
  readonly name: string;
  readonly isValid: boolean;
  readonly groups: readonly FacetGroup[];
  /** Absent: not requested. */
  readonly stats?: FacetStats;
}

export interface MergedAnswer<R> {
  readonly total: number;
  /** The page. */
  readonly rows: readonly R[];
  readonly facets: readonly MergedFacet[];
  /**
   * Facets whose groups are not certain yet. For these, the `counts` of every shard are needed, which `withCounts` adds. Empty
   * if the answer is complete.
   */
  readonly needs: readonly FacetNeed[];
}

/** Index of the facet in the query -> its first groups, at least as many as requested. */
export type FacetCounts = ReadonlyMap<number, readonly FacetGroup[]>;

/** Merges the answers of shards, in steps. The result does not depend on the distribution of items over shards. */
export function* mergeAnswers<R extends { readonly place: RowPlace }>(
  query: CheckedQuery,
  answers: readonly PartialAnswer<R>[],
): Steps<MergedAnswer<R>> {
  const needs: FacetNeed[] = [];
  const facets: MergedFacet[] = [];
  for (const [facetIndex, facet] of query.facets.entries()) {
    const sent = answers.map((answer) => answer.facets[facetIndex] ?? { groups: [] });
    const { unknown, ...merged } = mergedFacet(facet, sent);
    facets.push(merged);
    if (unknown !== null) needs.push({ facetIndex, values: unknown.values });
    yield;
  }
  return {
    total: answers.reduce((sum, { total }) => sum + total, 0),
    rows: mergeRows(query, answers),
    facets,
    needs,
  };
}

function mergedFacet(
  facet: CheckedFacet,
  sent: readonly FacetGroups[],
): MergedFacet & { readonly unknown: MergedGroups['unknown'] } {
  const { field, name, isValid, size } = facet;
  if (!isValid) return { field, name, isValid, groups: [], unknown: null };
  const { groups, ...stats } = mergedNumbers(facet, sent);
  if (groups !== null) return { field, name, isValid, groups, ...stats, unknown: null };
  return { field, name, isValid, ...mergeFacet(sent, size), ...stats };
}

/** Completes a merged answer with the needed counts. */
export function withCounts<R>(
  query: CheckedQuery,
  merged: MergedAnswer<R>,
  counts: FacetCounts,
): MergedAnswer<R> {
  const facets = merged.facets.map((facet, at) => {
    const groups = counts.get(at)?.slice(0, query.facets[at]?.size);
    return groups === undefined ? facet : { ...facet, groups };
  });
  return { ...merged, facets, needs: [] };
}

function mergeRows<R extends { readonly place: RowPlace }>(
  query: CheckedQuery,
  answers: readonly PartialAnswer<R>[],
): R[] {
  const { offset, pageSize, sort } = query;
  const [only] = answers;
  const inOrder =
    answers.length === 1 && only !== undefined
      ? only.rows
      : answers.flatMap(({ rows }) => rows).sort((a, b) => comparePlaces(sort, a.place, b.place));
  return inOrder.slice(offset, offset + pageSize);
}

/** The total order of an answer's rows: sort values, absent ones last, then `_originId`, then `_sourceGuid`. */
export function comparePlaces(sort: readonly SortKey[], a: RowPlace, b: RowPlace): number {
  for (const [at, key] of sort.entries()) {
    const compared = compareSortValues(a.values[at] ?? null, b.values[at] ?? null, key);
    if (compared !== 0) return compared;
  }
  return compareText(a.originId, b.originId) || compareText(a.sourceId, b.sourceId);
}

/** Compares two values of a sort key. Absent values come last in both orders. */
export function compareSortValues(
  a: RowPlace['values'][number],
  b: RowPlace['values'][number],
  { order, collation }: SortKey,
): number {
  if (a === null || b === null) {
    if (a === b) return 0;
    return a === null ? 1 : -1;
  }
  const isCollated = collation !== undefined && typeof a === 'string' && typeof b === 'string';
  const compared = isCollated ? compareCollated(collation, a, b) : compareValues(a, b);
  return order === 'desc' ? -compared : compared;
}

/**
 * Adds scores to the answers of shards that have sent all matching items. The rows are unordered.
 * @param query with the statistics of all shards
 * @returns null if a shard has only sent statistics
 */
export function scoredAnswers(
  { search, sort }: CheckedQuery,
  answers: readonly UnscoredAnswer[],
): PartialAnswer<ShownRow>[] | null {
  const found = answers.map(({ few }) => few).filter((few) => few !== null);
  if (search === null || found.length < answers.length) return null;
  const scorer = new Scorer(search);
  return found.map(({ rows, facets }) => {
    const scored = rows.map(({ place, updatedAtMs, fieldsBytes, inputs }): ShownRow => {
      const score = scorer.score(inputs);
      const values = place.values.map((value, at) => (sort[at]?.field === '_score' ? score : value));
      return { place: { ...place, values }, score, updatedAtMs, fieldsBytes };
    });
    return { total: rows.length, rows: scored, facets };
  });
}
