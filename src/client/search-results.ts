/** Converts results of queries to the format of InstantSearch.js. */
import { pageSizeOf, pagesReachable, type SearchParameters } from './search-requests.ts';
import type { BuiltIn, Facet, GroupItem, QueryResult } from './types.ts';

export interface HighlightResult {
  readonly value: string;
  /** `full`: at least as many words are marked as the query has. */
  readonly matchLevel: 'none' | 'partial' | 'full';
  readonly matchedWords: string[];
}

/** Has the structure of the item: lists and objects contain results. */
export type HighlightTree = HighlightResult | HighlightTree[] | { [name: string]: HighlightTree };

export interface SearchHit {
  /** The originId. */
  objectID: string;
  _highlightResult: { [field: string]: HighlightTree };
  // biome-ignore lint/suspicious/noExplicitAny: a hit has the fields of its item.
  [field: string]: any;
}

export interface SearchResult {
  index: string;
  hits: SearchHit[];
  query: string;
  params: string;
  page: number;
  nbPages: number;
  hitsPerPage: number;
  nbHits: number;
  exhaustiveNbHits: true;
  exhaustiveFacetsCount: true;
  /** Field -> value -> count. */
  facets: Record<string, Record<string, number>>;
  /** For numeric fields. */
  facets_stats: Record<string, { min: number; max: number; avg: number; sum: number }>;
  processingTimeMS: number;
}

export function resultOf(
  indexName: string,
  params: SearchParameters,
  { totalResults, results, facets }: QueryResult<GroupItem>,
  processingTimeMS: number,
): SearchResult {
  const { query = '', page = 0 } = params;
  const hitsPerPage = pageSizeOf(params);
  const pages = hitsPerPage === 0 ? 0 : Math.ceil(totalResults / hitsPerPage);
  const highlighter = new Highlighter(params);
  return {
    index: indexName,
    hits: results.map((item) => ({
      ...item,
      objectID: item._originId,
      _highlightResult: highlighter.ofItem(item),
    })),
    query,
    params: new URLSearchParams({ query, page: String(page), hitsPerPage: String(hitsPerPage) }).toString(),
    page,
    nbPages: Math.min(pages, pagesReachable(hitsPerPage)),
    hitsPerPage,
    nbHits: totalResults,
    exhaustiveNbHits: true,
    exhaustiveFacetsCount: true,
    facets: countsOf(facets),
    facets_stats: statsOf(facets),
    processingTimeMS,
  };
}

function countsOf(facets: readonly Facet[]): SearchResult['facets'] {
  const valid = facets.filter(({ isValid }) => isValid);
  return Object.fromEntries(
    valid.map(({ field, groups }) => [
      field,
      Object.fromEntries(groups.map(({ value, count }) => [String(value), count])),
    ]),
  );
}

/** Leaves out statistics of dates, which are strings that InstantSearch does not support. */
function statsOf(facets: readonly Facet[]): SearchResult['facets_stats'] {
  const found: SearchResult['facets_stats'] = {};
  for (const { field, stats } of facets) {
    const { min, max, mean: avg, sum } = stats ?? {};
    if (typeof min !== 'number' || typeof max !== 'number') continue;
    if (typeof avg === 'number' && typeof sum === 'number') found[field] = { min, max, avg, sum };
  }
  return found;
}

type Json = GroupItem[string];

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

class Highlighter {
  readonly #before: string;
  readonly #after: string;
  readonly #words: number;

  constructor({ query = '', highlightPreTag = '<em>', highlightPostTag = '</em>' }: SearchParameters) {
    this.#before = highlightPreTag;
    this.#after = highlightPostTag;
    this.#words = query.split(/\s+/).filter((word) => word !== '').length;
  }

  /** All strings of an item, with the matching words marked. */
  ofItem({ _highlights = {}, ...item }: GroupItem & BuiltIn): SearchHit['_highlightResult'] {
    const own = Object.entries(item).filter(([name]) => !name.startsWith('_'));
    return treesOf(own, (name, value) => this.#ofValue(value, _highlights[name]));
  }

  #ofValue(value: Json, marked: Json): HighlightTree | null {
    if (typeof value === 'string') {
      return this.#ofText(typeof marked === 'string' ? marked : this.#escaped(value));
    }
    if (Array.isArray(value)) {
      return value.flatMap((one, at) => this.#ofValue(one, Array.isArray(marked) ? marked[at] : null) ?? []);
    }
    if (typeof value !== 'object' || value === null) return null;
    return treesOf(Object.entries(value), (_, member) => this.#ofValue(member, null));
  }

  #ofText(value: string): HighlightResult {
    const matchedWords = value
      .split(this.#before)
      .slice(1)
      .map((part) => part.split(this.#after, 1)[0]?.toLowerCase() ?? '');
    const words = new Set(matchedWords);
    const matchLevel = words.size === 0 ? 'none' : words.size >= this.#words ? 'full' : 'partial';
    return { value, matchLevel, matchedWords: [...words] };
  }

  /** Escapes like the platform, which escapes texts with matches if a mark contains markup. */
  #escaped(text: string): string {
    if (!`${this.#before}${this.#after}`.includes('<')) return text;
    return text.replace(/[&<>"']/g, (character) => escapes[character] ?? character);
  }
}

function treesOf(
  members: readonly (readonly [string, Json])[],
  treeOf: (name: string, value: Json) => HighlightTree | null,
): { [name: string]: HighlightTree } {
  const trees = members.map(([name, value]) => [name, treeOf(name, value)] as const);
  return Object.fromEntries(trees.filter((entry): entry is [string, HighlightTree] => entry[1] !== null));
}
