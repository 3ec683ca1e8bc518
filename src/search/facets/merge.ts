import type { FacetGroup, FacetGroups } from '../shard-answer.ts';
import { compareGroups } from './facet.ts';
import { writtenAlike } from './moments.ts';

type FacetValue = FacetGroup['value'];

/** The question that must still be asked of every shard before a facet is certain. */
export interface FacetNeed {
  /** Place in the query's `facets`. */
  readonly facetIndex: number;
  /** The values to count; null: every group. */
  readonly values: readonly FacetValue[] | null;
}

export interface MergedGroups {
  /** The first `size` groups, exact when `unknown` is null; `CountSum` adds up what was unknown. */
  readonly groups: readonly FacetGroup[];
  readonly unknown: { readonly values: readonly FacetValue[] | null } | null;
}

/**
 * Adds up the groups of shards. When a shard held groups back, a value that it did not send has a count of at most
 * `restMax` there. Values that can still reach the first `size` are named, to be counted. If even a value that no shard
 * sent could reach them, all groups must be counted.
 */
export function mergeFacet(sent: readonly FacetGroups[], size: number): MergedGroups {
  const scale = sent.find((part) => part.scale !== undefined)?.scale;
  const parts = scale === 'date' ? writtenAlike(sent) : sent;
  const counts = new Map<FacetValue, number>();
  for (const { groups } of parts) {
    for (const { value, count } of groups) counts.set(value, (counts.get(value) ?? 0) + count);
  }
  const all = [...counts].map(([value, count]): FacetGroup => ({ value, count }));
  all.sort((a, b) => compareGroups(a, b, scale));
  const groups = all.slice(0, size);
  const isCertain = parts.length < 2 || parts.every(({ restMax }) => restMax === undefined);
  return { groups, unknown: isCertain ? null : { values: openValues(parts, counts, all, size) } };
}

function openValues(
  parts: readonly FacetGroups[],
  counts: ReadonlyMap<FacetValue, number>,
  inOrder: readonly FacetGroup[],
  size: number,
): FacetValue[] | null {
  // Every count is at least what was sent, so the first `size` groups have at least this count in the end.
  const least = inOrder[size - 1]?.count ?? 0;
  const restSum = parts.reduce((sum, { restMax }) => sum + (restMax ?? 0), 0);
  if (restSum >= least) return null;
  const most = new Map<FacetValue, number>();
  for (const [value, count] of counts) most.set(value, count + restSum);
  for (const { groups, restMax } of parts) {
    if (restMax === undefined) continue;
    for (const { value } of groups) most.set(value, (most.get(value) ?? 0) - restMax);
  }
  return [...most].filter(([, count]) => count >= least).map(([value]) => value);
}
