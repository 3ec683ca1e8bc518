/** Index-wide statistics of a search, so that all shards and all pages of a query use the same numbers for scores. */

/** The tier of a word that no item has. */
export const noTier = 3;

export interface WordStats {
  /** The first tier in which any item matches. */
  readonly tier: number;
  /** Number of items that match in this tier. */
  readonly items: number;
}

export interface FieldStats {
  /** Number of words of all items. */
  readonly words: number;
  /** Number of items with a word. */
  readonly items: number;
}

/** Only integers, so that the sum over the shards does not depend on their order. */
export interface SearchStats {
  /** Number of items of the index, independent of filters. */
  readonly items: number;
  /** In the order of the searched fields. */
  readonly fields: readonly FieldStats[];
  /** In the order of the words of the search. */
  readonly words: readonly WordStats[];
}

export const noStats: SearchStats = { items: 0, fields: [], words: [] };

/** Adds up the statistics of all shards. */
export function sumOfStats(parts: readonly SearchStats[]): SearchStats {
  return parts.reduce(addStats, noStats);
}

function addStats(a: SearchStats, b: SearchStats): SearchStats {
  return {
    items: a.items + b.items,
    fields: longer(a.fields, b.fields).map((_, at) => ({
      words: (a.fields[at]?.words ?? 0) + (b.fields[at]?.words ?? 0),
      items: (a.fields[at]?.items ?? 0) + (b.fields[at]?.items ?? 0),
    })),
    words: longer(a.words, b.words).map((_, at) => addWord(a.words[at], b.words[at])),
  };
}

const nowhere: WordStats = { tier: noTier, items: 0 };

/** Items that match in a later tier than the word's are not counted. */
function addWord(a: WordStats = nowhere, b: WordStats = nowhere): WordStats {
  if (a.tier !== b.tier) return a.tier < b.tier ? a : b;
  return { tier: a.tier, items: a.items + b.items };
}

function longer<T>(a: readonly T[], b: readonly T[]): readonly T[] {
  return a.length < b.length ? b : a;
}

/** Compact form for messages and tokens. */
export type PackedStats = [items: number, fields: readonly number[], words: readonly number[]];

export function packStats({ items, fields, words }: SearchStats): PackedStats {
  return [
    items,
    fields.flatMap((field) => [field.words, field.items]),
    words.flatMap((word) => [word.tier, word.items]),
  ];
}

export function unpackStats([items, fields, words]: PackedStats): SearchStats {
  return {
    items,
    fields: inPairs(fields, (all, having) => ({ words: all, items: having })),
    words: inPairs(words, (tier, matching) => ({ tier, items: matching })),
  };
}

function inPairs<T>(numbers: readonly number[], make: (first: number, second: number) => T): T[] {
  return Array.from({ length: numbers.length / 2 }, (_, at) =>
    make(numbers[2 * at] ?? 0, numbers[2 * at + 1] ?? 0),
  );
}
