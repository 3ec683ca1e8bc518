/** The queries of the benchmarks, made from the items themselves, each with the answer that a plain scan gives. */
import { groupBy } from '../../src/lib/group-by.ts';
import { allowedDistance, wordsOf } from '../../src/search/text/words.ts';
import type { Item } from './query-items.ts';
import { random, sample } from './random.ts';

export type QueryKind = 'one word' | 'two words, typos' | 'filter + sort' | 'search + facet';

export const queryKinds: readonly QueryKind[] = [
  'one word',
  'two words, typos',
  'filter + sort',
  'search + facet',
];

/** The part of the query object (specification "Query object") that these benchmarks use. */
export interface BenchQuery {
  readonly search?: { readonly field: 'text'; readonly value: string; readonly literal: boolean };
  readonly filters?: {
    readonly and: readonly [
      { readonly field: 'category'; readonly operator: 'equals'; readonly value: string },
      { readonly field: 'size'; readonly operator: 'greaterThan'; readonly value: number },
    ];
  };
  readonly sort?: readonly [{ readonly field: 'size'; readonly order: 'desc' }];
  readonly facets?: readonly [{ readonly field: 'category' }];
}

export interface ExpectedAnswer {
  readonly total: number;
  /** Ids of the first page, where its order is the same for everybody. */
  readonly ids: readonly string[] | null;
  readonly facet: readonly (readonly [value: string, count: number])[] | null;
}

export interface ExpectedQuery {
  readonly kind: QueryKind;
  readonly query: BenchQuery;
  readonly expected: ExpectedAnswer;
}

const queriesPerKind = 30;
const pageSize = 10;
const facetSize = 10;
/** Words so common that nobody searches for them, and so rare that nothing is measured, are left out. */
const documentsMin = 3;
const documentsMaxShare = 0.05;

export function queryMix(items: readonly Item[]): ExpectedQuery[] {
  const postings = postingsOf(items);
  const next = random(20);
  const most = Math.max(50, items.length * documentsMaxShare);
  const words = [...postings.keys()].filter((word) => {
    const count = postings.get(word)?.length ?? 0;
    return /^[a-z]{4,12}$/.test(word) && count >= documentsMin && count <= most;
  });
  return [
    ...sample(words, queriesPerKind, next).map((word) => oneWord(word, postings)),
    ...typoQueries(words, postings, next),
    ...filterQueries(items, next),
    ...sample(words, queriesPerKind, next).map((word) => withFacet(word, items, postings)),
  ];
}

type Postings = ReadonlyMap<string, readonly number[]>;

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

function oneWord(word: string, postings: Postings): ExpectedQuery {
  return {
    kind: 'one word',
    query: { search: { field: 'text', value: word, literal: true } },
    expected: { total: postings.get(word)?.length ?? 0, ids: null, facet: null },
  };
}

function withFacet(word: string, items: readonly Item[], postings: Postings): ExpectedQuery {
  const found = postings.get(word) ?? [];
  const counts = new Map<string, number>();
  for (const index of found) {
    const category = items[index]?.category ?? '';
    counts.set(category, (counts.get(category) ?? 0) + 1);
  }
  return {
    kind: 'search + facet',
    query: { search: { field: 'text', value: word, literal: true }, facets: [{ field: 'category' }] },
    expected: { total: found.length, ids: null, facet: topGroups(counts) },
  };
}

/** Highest count first, equal counts by value. */
export function topGroups(counts: ReadonlyMap<string, number>): [string, number][] {
  return [...counts].sort(([a, left], [b, right]) => right - left || (a < b ? -1 : 1)).slice(0, facetSize);
}

/**
 * Two words, a letter of each replaced. Peers do not count a swap of neighbours as one edit as the contract does, so only
 * queries are taken for which both ways of counting find the same words.
 */
function typoQueries(words: readonly string[], postings: Postings, next: () => number): ExpectedQuery[] {
  const vocabulary = [...postings.keys()];
  const long = words.filter((word) => word.length >= 6);
  const queries: ExpectedQuery[] = [];
  for (let tries = 0; queries.length < queriesPerKind && tries < queriesPerKind * 4; tries += 1) {
    const typed = sample(long, 2, next).map((word) => withTypo(word, next));
    const found = new Set<number>();
    let agreed = true;
    for (const word of typed) {
      const near = wordsNear(word, vocabulary);
      agreed &&= near.agreed;
      for (const match of near.words) for (const index of postings.get(match) ?? []) found.add(index);
    }
    if (!agreed || found.size === 0) continue;
    queries.push({
      kind: 'two words, typos',
      query: { search: { field: 'text', value: typed.join(' '), literal: false } },
      expected: { total: found.size, ids: null, facet: null },
    });
  }
  return queries;
}

function withTypo(word: string, next: () => number): string {
  const at = 1 + Math.floor(next() * (word.length - 1));
  const letter = String.fromCharCode(97 + Math.floor(next() * 26));
  return word.slice(0, at) + letter + word.slice(at + 1);
}

/** Words of the vocabulary within the allowed distance; `agreed` when counting swaps as one edit or two is the same. */
function wordsNear(word: string, vocabulary: readonly string[]): { words: string[]; agreed: boolean } {
  const allowed = allowedDistance(word);
  const words: string[] = [];
  let agreed = true;
  for (const candidate of vocabulary) {
    if (Math.abs(candidate.length - word.length) > allowed) continue;
    const isNear = distance(word, candidate, true) <= allowed;
    if (isNear) words.push(candidate);
    agreed &&= isNear === distance(word, candidate, false) <= allowed;
  }
  return { words, agreed };
}

/** Insert, delete and replace cost 1; a swap of neighbours too, where it counts. The plain table, for all to see. */
function distance(a: string, b: string, swapsCount: boolean): number {
  let [beforeLast, last]: number[][] = [[], Array.from({ length: b.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min((last?.[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last?.[j - 1] ?? 0) + same);
      if (swapsCount && i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (beforeLast?.[j - 2] ?? 0) + 1);
      }
      row.push(cost);
    }
    [beforeLast, last] = [last, row];
  }
  return last?.[b.length] ?? 0;
}

/** One category, sizes above a bound, largest first. Pages whose order would hang on equal sizes are not taken. */
function filterQueries(items: readonly Item[], next: () => number): ExpectedQuery[] {
  const byCategory = groupBy(items, ({ category }) => category);
  const queries: ExpectedQuery[] = [];
  for (const [category, ofCategory] of sample([...byCategory], byCategory.size, next)) {
    if (queries.length === queriesPerKind) break;
    const sizes = ofCategory.map(({ size }) => size).sort((a, b) => a - b);
    const bound = sizes[Math.floor(sizes.length / 2)] ?? 0;
    const found = ofCategory.filter(({ size }) => size > bound).sort((a, b) => b.size - a.size);
    const first = found.slice(0, pageSize + 1).map(({ size }) => size);
    if (found.length <= pageSize || new Set(first).size < first.length) continue;
    queries.push({
      kind: 'filter + sort',
      query: {
        filters: {
          and: [
            { field: 'category', operator: 'equals', value: category },
            { field: 'size', operator: 'greaterThan', value: bound },
          ],
        },
        sort: [{ field: 'size', order: 'desc' }],
      },
      expected: { total: found.length, ids: found.slice(0, pageSize).map(({ id }) => id), facet: null },
    });
  }
  return queries;
}
