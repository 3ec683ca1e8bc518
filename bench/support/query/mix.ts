/** The queries of the benchmarks, generated from the items themselves. They all differ, and are the same in every run. */
import { groupBy } from '../../../src/lib/lists.ts';
import type { Item } from '../data/items.ts';
import { random, sample } from '../data/random.ts';
import { type BenchQuery, type ExpectedQuery, type QueryKind, queryKinds } from './kinds.ts';
import { PlainScan, type Postings } from './plain-scan.ts';

/** Queries of each kind. A load of a second sends fewer. */
const differingPerKind = 40_000;
const quickPerKind = 500;
/** Queries of each kind whose answers are compared with the plain scan. */
const checkedPerKind = 75;
/** Queries of each kind that are repeated. */
const repeatedPerKind = 30;
/** Number of rounds that begin at different places. */
const roundsApart = 5;
/** Words are excluded if they are too rare to measure anything, or too common to be searched for. */
const documentsMin = 3;
const documentsMaxShare = 0.05;
/** A smaller category has hardly a page of items above a bound. */
const categoryItemsMin = 50;
const prefixLengths = [3, 4, 5, 6, 7];
/** If there are fewer words than queries, each word is sent with one page size after the other. */
const pageSizes = [10, 9, 11, 8, 12, 7, 13, 6, 14, 5, 15];

export interface QueryMix {
  readonly differing: ReadonlyMap<QueryKind, readonly BenchQuery[]>;
  /** The first of the differing queries whose answers are the same for all contenders. */
  readonly checked: readonly ExpectedQuery[];
  /** The first of the checked queries. */
  readonly repeated: readonly ExpectedQuery[];
}

/** @param kinds a kind that the items do not support gets no queries */
export function queryMix(
  items: readonly Item[],
  { quick }: { readonly quick: boolean },
  kinds: readonly QueryKind[] = queryKinds,
): QueryMix {
  const scan = new PlainScan(items);
  const count = quick ? quickPerKind : differingPerKind;
  const words = usualWords(items.length, scan.postings);
  const differing = new Map(
    kinds.map((kind, seed) => [kind, makers[kind]({ items, words, count, next: random(20 + seed) })]),
  );
  const checked = kinds.flatMap((kind) => checkedOf(kind, differing.get(kind) ?? [], scan));
  const repeated = kinds.flatMap((kind) =>
    checked.filter((query) => query.kind === kind).slice(0, repeatedPerKind),
  );
  return { differing, checked, repeated };
}

/** What queries are generated from. */
interface Source {
  readonly items: readonly Item[];
  readonly words: readonly string[];
  readonly count: number;
  readonly next: () => number;
}

const makers: Readonly<Record<QueryKind, (source: Source) => readonly BenchQuery[]>> = {
  'one word': (source) => wordQueries(shuffled(source), source.count),
  'two words, typos': (source) => typoQueries(source, 2),
  'filter + sort': filterQueries,
  'search + facet': (source) =>
    wordQueries(shuffled(source), source.count).map((query) => ({
      ...query,
      facets: [{ field: 'category' }],
    })),
  'one word, typos': (source) => typoQueries(source, 1),
  beginning: (source) => prefixQueries(source, true),
  'beginning, typos': (source) => prefixQueries(source, false),
  'word, highlighted': (source) =>
    wordQueries(shuffled(source), source.count).map((query) => ({ ...query, highlight: {} })),
  '*part*': partQueries,
  'near a place': nearQueries,
};

function shuffled({ words, next }: Source): string[] {
  return sample(words, words.length, next);
}

/** Number of queries that a load skips at the beginning, so that each round starts with others. */
export function skippedIn(round: number, queries: number): number {
  return Math.floor((round * queries) / roundsApart);
}

/** Mixes the kinds in turn, so that every part of the load has the same mix. */
export function interleaved<T>(ofKinds: readonly (readonly T[])[]): T[] {
  const longest = Math.max(...ofKinds.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) =>
    ofKinds.flatMap((queries) => queries.slice(at, at + 1)),
  ).flat();
}

function checkedOf(kind: QueryKind, queries: readonly BenchQuery[], scan: PlainScan): ExpectedQuery[] {
  const checked: ExpectedQuery[] = [];
  for (const query of queries) {
    if (checked.length === checkedPerKind) break;
    const expected = scan.answer(query);
    if (expected !== null) checked.push({ kind, query, expected });
  }
  return checked;
}

function usualWords(items: number, postings: Postings): string[] {
  const most = Math.max(50, items * documentsMaxShare);
  return [...postings.keys()].filter((word) => {
    const count = postings.get(word)?.length ?? 0;
    return /^[a-z]{4,12}$/.test(word) && count >= documentsMin && count <= most;
  });
}

function wordQueries(words: readonly string[], count: number): BenchQuery[] {
  return pageSizes
    .flatMap((pageSize) =>
      words.map(
        (value): BenchQuery => ({
          search: { field: 'text', value, literal: true },
          ...(pageSize === pageSizes[0] ? {} : { pagination: { pageSize } }),
        }),
      ),
    )
    .slice(0, count);
}

/** Prefix queries of 3 to 7 letters, which are shorter than their words. */
function prefixQueries(source: Source, literal: boolean): BenchQuery[] {
  const { words, count, next } = source;
  const cut = sample(words, words.length, next).flatMap((word) =>
    prefixLengths.filter((length) => length < word.length).map((length) => word.slice(0, length)),
  );
  const prefixes = [...new Set(cut)];
  return wordQueries(sample(prefixes, prefixes.length, next), count).map((query) => {
    const value = query.search?.value ?? '';
    return { ...query, search: { field: 'text', value, literal, prefix: true } };
  });
}

/** Queries for names with 4 to 6 consecutive letters that some name has, by name. */
function partQueries({ items, count, next }: Source): BenchQuery[] {
  const names = items.map(({ name }) => name.toLowerCase()).filter((name) => /[a-z]{6}/.test(name));
  return distinct(count, () => {
    const [run = ''] = /[a-z]{6,}/.exec(pick(names, next)) ?? [];
    const length = 4 + Math.floor(next() * 3);
    const from = Math.floor(next() * (run.length - length + 1));
    const value = `*${run.slice(from, from + length)}*`;
    return {
      filters: { and: [{ field: 'name', operator: 'contains', value, caseInsensitive: true }] },
      sort: [{ field: 'name', order: 'asc' }],
    };
  });
}

const nearMeters = 50_000;

/** Queries for items within 50 km of places near items, the nearest first. */
function nearQueries({ items, count, next }: Source): BenchQuery[] {
  const places = items.flatMap(({ place }) => (place === undefined ? [] : [place]));
  if (places.length === 0) return [];
  const moved = (degrees: number) => Math.round((degrees + next() / 2 - 0.25) * 1e4) / 1e4;
  return distinct(count, () => {
    const { lat, lon } = pick(places, next);
    const near = { lat: within(moved(lat), 90), lon: within(moved(lon), 180) };
    const value = { ...near, meters: nearMeters };
    return {
      filters: { and: [{ field: 'place', operator: 'withinDistance', value }] },
      sort: [{ field: 'place', near }],
    };
  });
}

function within(degrees: number, most: number): number {
  return Math.max(-most, Math.min(most, degrees));
}

/** Queries of some words, each with one letter replaced. */
function typoQueries({ words, count, next }: Source, wordCount: number): BenchQuery[] {
  const long = words.filter((word) => word.length >= 6);
  return distinct(count, () => {
    const value = Array.from({ length: wordCount }, () => withTypo(pick(long, next), next)).join(' ');
    return { search: { field: 'text', value, literal: false } };
  });
}

function withTypo(word: string, next: () => number): string {
  const at = 1 + Math.floor(next() * (word.length - 1));
  const letter = String.fromCharCode(97 + Math.floor(next() * 26));
  return word.slice(0, at) + letter + word.slice(at + 1);
}

/** Queries for one category, with sizes above a bound that leaves a quarter to three quarters of it, largest first. */
function filterQueries({ items, count, next }: Source): BenchQuery[] {
  const categories = [...groupBy(items, ({ category }) => category)]
    .filter(([, ofCategory]) => ofCategory.length >= categoryItemsMin)
    .map(([category, ofCategory]) => ({
      category,
      sizes: ofCategory.map(({ size }) => size).sort((a, b) => a - b),
    }));
  return distinct(count, () => {
    const { category, sizes } = pick(categories, next);
    const rank = Math.floor(sizes.length * (0.25 + next() / 2));
    const [below = 0, above = 0] = sizes.slice(rank - 1, rank + 1);
    const bound = below + Math.floor(next() * (above - below));
    return {
      filters: {
        and: [
          { field: 'category', operator: 'equals', value: category },
          { field: 'size', operator: 'greaterThan', value: bound },
        ],
      },
      sort: [{ field: 'size', order: 'desc' }],
    };
  });
}

function pick<T>(choices: readonly T[], next: () => number): T {
  const choice = choices[Math.floor(next() * choices.length)];
  if (choice === undefined) throw new RangeError('there is nothing to choose from');
  return choice;
}

/** Generates up to `count` different queries; fewer if new ones become rare. */
function distinct(count: number, make: () => BenchQuery): BenchQuery[] {
  const byText = new Map<string, BenchQuery>();
  for (let tries = 0; byText.size < count && tries < count * 10; tries += 1) {
    const query = make();
    byText.set(JSON.stringify(query), query);
  }
  return [...byText.values()];
}
