/** Computes the correct answer to a query of the benchmarks by reading every item and every word. */
import { compareCodePoints } from '../../../src/lib/code-points.ts';
import { allowedDistance, wordsOf } from '../../../src/search/analysis/words.ts';
import type { Item, Place } from '../data/items.ts';
import { type BenchQuery, type Circle, type ExpectedAnswer, filterOf, pageSizeOf } from './kinds.ts';

const facetSize = 10;
/** Contenders that compute distances in other ways differ by less than this. */
const toleranceMetres = 1;

/** Word -> indexes of the items that have it. */
export type Postings = ReadonlyMap<string, readonly number[]>;

export class PlainScan {
  readonly postings: Postings;
  private readonly vocabulary: readonly { readonly word: string; readonly letters: number }[];

  constructor(private readonly items: readonly Item[]) {
    this.postings = postingsOf(items);
    this.vocabulary = [...this.postings.keys()].map((word) => ({ word, letters: lettersOf(word) }));
  }

  /**
   * The correct answer; null if contenders may validly differ, or nothing is found. Such a query cannot be used for a
   * comparison.
   */
  answer(query: BenchQuery): ExpectedAnswer | null {
    const { search, facets, highlight } = query;
    const { above, part, circle } = filterOf(query);
    if (above !== null) return this.filtered(query);
    if (part !== null) return this.withSubstring(query, part);
    if (circle !== null) return this.within(query, circle);
    if (search === undefined) return null;
    const found = this.searched(search);
    if (found === null || found.size === 0) return null;
    const facet = facets === undefined ? null : topGroups(this.countCategories(found));
    const marked = highlight === undefined ? null : [search.value];
    return { total: found.size, ids: null, facet, marked };
  }

  private searched({
    value,
    literal,
    prefix,
  }: NonNullable<BenchQuery['search']>): ReadonlySet<number> | null {
    if (prefix === true) return this.withPrefix(value, literal ? 0 : allowedDistance(value));
    return literal ? this.withWords(value) : this.withNearWords(value);
  }

  /** The items with words of which a prefix is within a distance. */
  private withPrefix(prefix: string, allowed: number): ReadonlySet<number> {
    const asked = lettersOf(prefix);
    const found = new Set<number>();
    for (const { word, letters } of this.vocabulary) {
      if (bitsOf(asked & ~letters) > allowed) continue;
      const lengths = Array.from({ length: 2 * allowed + 1 }, (_, at) => prefix.length - allowed + at);
      if (!lengths.some((length) => isNear(prefix, word.slice(0, length), allowed, true))) continue;
      for (const index of this.postings.get(word) ?? []) found.add(index);
    }
    return found;
  }

  private withSubstring(query: BenchQuery, part: string): ExpectedAnswer {
    const found = this.items
      .filter(({ name }) => name.toLowerCase().includes(part))
      .sort((a, b) => compareCodePoints(a.name, b.name) || compareCodePoints(a.id, b.id));
    const ids = found.slice(0, pageSizeOf(query)).map(({ id }) => id);
    return { total: found.length, ids, facet: null, marked: null };
  }

  /** @returns null when distances of the first page, or one to the edge, are too close to each other to distinguish */
  private within(query: BenchQuery, circle: Circle): ExpectedAnswer | null {
    const found = this.items
      .map(({ id, place }) => ({ id, far: place === undefined ? Infinity : metresBetween(circle, place) }))
      .filter(({ far }) => far < circle.meters + toleranceMetres)
      .sort((a, b) => a.far - b.far);
    const ids = found.slice(0, pageSizeOf(query)).map(({ id }) => id);
    const isClose = found.some(
      ({ far }, at) => at < ids.length && (found[at + 1]?.far ?? Infinity) - far < toleranceMetres,
    );
    const isAtEdge = found.some(({ far }) => far > circle.meters - toleranceMetres);
    if (found.length === 0 || isClose || isAtEdge) return null;
    return { total: found.length, ids, facet: null, marked: null };
  }

  private withWords(text: string): ReadonlySet<number> {
    return new Set(wordsOf(text).flatMap((word) => this.postings.get(word) ?? []));
  }

  /**
   * The items with words near each query word. Millrace counts a swap of adjacent letters as one edit, and its peers do not.
   * @returns null if the two find different words
   */
  private withNearWords(text: string): ReadonlySet<number> | null {
    const found = new Set<number>();
    for (const word of wordsOf(text)) {
      const allowed = allowedDistance(word);
      const asked = lettersOf(word);
      for (const { word: candidate, letters } of this.vocabulary) {
        // An edit adds at most one letter and removes at most one.
        if (bitsOf(asked ^ letters) > 2 * allowed) continue;
        if (!isNear(word, candidate, allowed, true)) continue;
        if (!isNear(word, candidate, allowed, false)) return null;
        for (const index of this.postings.get(candidate) ?? []) found.add(index);
      }
    }
    return found;
  }

  /** @returns null when equal sizes would make the order of the first page uncertain */
  private filtered(query: BenchQuery): ExpectedAnswer | null {
    const { above } = filterOf(query);
    const pageSize = pageSizeOf(query);
    const found = this.items
      .filter((item) => above !== null && item.category === above.category && item.size > above.size)
      .toSorted((a, b) => b.size - a.size);
    const first = found.slice(0, pageSize + 1).map((item) => item.size);
    if (found.length === 0 || new Set(first).size < first.length) return null;
    return {
      total: found.length,
      ids: found.slice(0, pageSize).map(({ id }) => id),
      facet: null,
      marked: null,
    };
  }

  private countCategories(found: ReadonlySet<number>): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const index of found) {
      const category = this.items[index]?.category ?? '';
      counts.set(category, (counts.get(category) ?? 0) + 1);
    }
    return counts;
  }
}

/** The first groups: the highest count first, equal counts by value. */
export function topGroups(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1)).slice(0, facetSize);
}

function postingsOf(items: readonly Item[]): Postings {
  const postings = new Map<string, number[]>();
  items.forEach(({ text }, index) => {
    for (const word of wordsOf(text)) {
      const documents = postings.get(word);
      if (documents === undefined) postings.set(word, [index]);
      else documents.push(index);
    }
  });
  return postings;
}

/** By the spherical law of cosines, which is precise enough above a few metres. */
function metresBetween(a: Place, b: Place): number {
  const [lat = 0, otherLat = 0, turn = 0] = [a.lat, b.lat, b.lon - a.lon].map((one) => (one * Math.PI) / 180);
  const cosine = Math.sin(lat) * Math.sin(otherLat) + Math.cos(lat) * Math.cos(otherLat) * Math.cos(turn);
  return 6_371_008.8 * Math.acos(Math.max(-1, Math.min(1, cosine)));
}

/** The letters of a word as bits. Letters may share a bit. */
function lettersOf(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at += 1) letters |= 1 << (word.charCodeAt(at) % 32);
  return letters;
}

function bitsOf(bits: number): number {
  let count = 0;
  for (let left = bits; left !== 0; left &= left - 1) count += 1;
  return count;
}

/**
 * True if the edit distance is within a bound. Insertions, deletions and replacements cost 1, and so do swaps of neighbors if
 * they count. A plain dynamic-programming table that stops when two consecutive rows exceed the bound.
 */
function isNear(a: string, b: string, bound: number, swapsCount: boolean): boolean {
  if (Math.abs(a.length - b.length) > bound) return false;
  let [beforeLast, last]: number[][] = [[], Array.from({ length: b.length + 1 }, (_, index) => index)];
  let leastOfLast = 0;
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min((last?.[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last?.[j - 1] ?? 0) + same);
      if (swapsCount && i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (beforeLast?.[j - 2] ?? 0) + 1);
      }
      row.push(cost);
      least = Math.min(least, cost);
    }
    if (Math.min(least, leastOfLast) > bound) return false;
    [beforeLast, last, leastOfLast] = [last, row, least];
  }
  return (last?.[b.length] ?? 0) <= bound;
}
