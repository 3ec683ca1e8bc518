/** Merges a facet over several shards: adds up groups, determines which counts are still needed, and adds those. */
import type { Steps } from '../../lib/cooperative-yield.ts';
import type { CheckedQuery } from '../checked-query.ts';
import { compareValues } from '../columns/value-dictionary.ts';
import type { FacetGroup, FacetGroups, TextScale } from '../shard-answer.ts';
import { compareGroups, momentOf, unifyNotations } from './facet.ts';

type FacetValue = FacetGroup['value'];

/** A request that every shard must still answer before a facet is certain. */
export interface FacetNeed {
  /** Index in the query's `facets`. */
  readonly facetIndex: number;
  /** The values to count; null: every group. */
  readonly values: readonly FacetValue[] | null;
}

export interface MergedGroups {
  /** The first `size` groups, exact if `unknown` is null; `CountSum` adds up the unknown counts. */
  readonly groups: readonly FacetGroup[];
  readonly unknown: { readonly values: readonly FacetValue[] | null } | null;
}

/**
 * Adds up the groups of shards. If a shard omitted groups, a value that it did not send has a count of at most `restMax` there.
 * Values that may still be among the first `size` must be counted. If even a value that no shard sent may be among them, all
 * groups must be counted.
 */
export function mergeFacet(sent: readonly FacetGroups[], size: number): MergedGroups {
  const scale = sent.find((part) => part.scale !== undefined)?.scale;
  const parts = scale === 'date' ? unifyNotations(sent) : sent;
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
  // Counts can only increase, so the first `size` groups will have at least this count.
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

interface SharedNeeds {
  /** One for all facets with the same counts. */
  readonly asked: readonly FacetNeed[];
  /** Index of a facet in the query -> index of its answer. */
  readonly placeOf: ReadonlyMap<number, number>;
}

/** Combines the needs of facets that count the same values over the same items. */
export function sharedNeeds({ facets }: CheckedQuery, needs: readonly FacetNeed[]): SharedNeeds {
  const asked: FacetNeed[] = [];
  const places = new Map<string, number>();
  const placeOf = new Map<number, number>();
  for (const need of needs) {
    const facet = facets[need.facetIndex];
    const name = `${facet?.isUnfiltered === true} ${facet?.field}`;
    const at = places.get(name) ?? asked.length;
    const known = asked[at];
    asked[at] = known === undefined ? need : { ...known, values: union(known.values, need.values) };
    places.set(name, at);
    placeOf.set(need.facetIndex, at);
  }
  return { asked, placeOf };
}

function union(a: FacetNeed['values'], b: FacetNeed['values']): FacetNeed['values'] {
  return a === null || b === null ? null : [...new Set([...a, ...b])];
}

/** Groups per step. */
const groupsPerStep = 500;

/** Adds up the exact counts from shards, possibly of all values of a large field. */
export class CountSum {
  readonly #sums = new Map<FacetGroup['value'], FacetGroup>();
  #scale: TextScale | undefined;

  /** Adds some groups of a shard. */
  add(groups: readonly FacetGroup[], scale: TextScale | undefined): void {
    this.#scale = scale;
    for (const { value, count } of groups) {
      const key = scale === 'date' ? momentOf(value) : value;
      const known = this.#sums.get(key);
      const shown = known === undefined || compareValues(value, known.value) < 0 ? value : known.value;
      this.#sums.set(key, { value: shown, count: count + (known?.count ?? 0) });
    }
  }

  /** The first groups in order, in steps. */
  *first(size: number): Steps<FacetGroup[]> {
    const compare = (a: FacetGroup, b: FacetGroup) => compareGroups(a, b, this.#scale);
    let first: FacetGroup[] = [];
    let some: FacetGroup[] = [];
    for (const group of this.#sums.values()) {
      const last = first[size - 1];
      if (last === undefined || compare(group, last) < 0) some.push(group);
      if (some.length < groupsPerStep) continue;
      first = [...first, ...some].sort(compare).slice(0, size);
      some = [];
      yield;
    }
    return [...first, ...some].sort(compare).slice(0, size);
  }
}
