import type { Steps } from '../../lib/cooperative-yield.ts';
import { compareValues } from '../columns/value-dictionary.ts';
import type { FacetGroup, TextScale } from '../shard-answer.ts';
import { compareGroups } from './facet.ts';
import { momentOf } from './moments.ts';

/** Groups that are looked at between two pauses. */
const groupsPerStep = 500;

/** Adds up the exact counts of a facet's values that shards give, which may be all values of a large field. */
export class CountSum {
  readonly #sums = new Map<FacetGroup['value'], FacetGroup>();
  #scale: TextScale | undefined;

  /** Takes some groups of a shard. */
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
