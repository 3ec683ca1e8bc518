/** Finds the terms that match the words of a search, in tiers (docs/guide/ranking.md "Which words match"). */
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { type Analyzer, distinctWords, type QueryWord } from '../analysis/analyzer.ts';
import { isPhrase } from '../analysis/phrase-terms.ts';
import type { Bitmap } from '../bitmap.ts';
import type { CheckedSearch } from '../checked-query.ts';
import type { FieldText } from './field-text.ts';
import { prefixFactors, stemFactor, synonymFactor, tierCount, wholeWordFactors } from './relevance.ts';
import type { TextIndex } from './text-index.ts';

/** The cost of looking up a synonym or a term with the same stem, in units of the work budget. */
const unitsPerMeantTerm = 100;

/** Terms with the same weight. */
export interface TermGroup {
  readonly index: TextIndex;
  readonly termIds: readonly number[];
  /** In twentieths. */
  readonly factor: number;
}

/**
 * The groups of each tier; later tiers are empty. A term is in one group only: in its first tier, with its highest factor
 * there.
 */
export type Tiers = readonly (readonly TermGroup[])[];

const noTiers: Tiers = [[], [], []];

/** A searched field. */
export interface SearchedField {
  /** Null: no item has it. */
  readonly text: FieldText | null;
  readonly analyzer: Analyzer;
  readonly weight: number;
}

/** The searched items. */
export interface SearchedItems {
  readonly live: Bitmap;
  readonly count: number;
}

/** A search in the fields of a shard. The terms of its words are looked up when first needed, and cached. */
export class WordSearch {
  constructor(
    readonly search: CheckedSearch,
    readonly fields: readonly SearchedField[],
    readonly items: SearchedItems,
    /** The distinct words of the search that at least one of the fields searches. */
    readonly words: readonly SearchedWord[] = searchedWords(search, fields),
  ) {}

  /** Number of terms found, summed over the words. */
  get termCount(): number {
    return this.words.reduce((sum, { termCount }) => sum + termCount, 0);
  }

  /** The same search with the statistics in `search`. */
  withStats(search: CheckedSearch): WordSearch {
    return new WordSearch(search, this.fields, this.items, this.words);
  }
}

function searchedWords(search: CheckedSearch, fields: readonly SearchedField[]): SearchedWord[] {
  const shared = distinctWords(search);
  const queryWords = fields.map(({ analyzer }) => analyzer.queryWords(search, shared));
  return shared.flatMap((_, source) => {
    const inFields = queryWords.map(
      (ofField) => ofField.find(({ sources }) => sources.includes(source)) ?? null,
    );
    return inFields.some((one) => one !== null) ? [new SearchedWord(fields, inFields)] : [];
  });
}

export class SearchedWord {
  #firstTiers: readonly Tiers[] | null = null;
  #tiers: readonly Tiers[] | null = null;

  /** @param inFields the word as analyzed for each field; null if the field ignores it */
  constructor(
    private readonly fields: readonly SearchedField[],
    private readonly inFields: readonly (QueryWord | null)[],
  ) {}

  /** True if no field ignores the word. */
  get isSearchedByAll(): boolean {
    return this.inFields.every((queryWord) => queryWord !== null);
  }

  get termCount(): number {
    const groups = (this.#tiers ?? this.#firstTiers ?? []).flat(2);
    return groups.reduce((sum, { termIds }) => sum + termIds.length, 0);
  }

  /** The terms of each field without typos; later tiers may be missing. */
  *firstTiers(): Steps<readonly Tiers[]> {
    this.#firstTiers ??= this.#tiers ?? (yield* this.#lookUp(0));
    return this.#firstTiers;
  }

  /** The terms of each field in all tiers. */
  *tiers(): Steps<readonly Tiers[]> {
    this.#tiers ??= yield* this.#lookUp(Number.POSITIVE_INFINITY);
    return this.#tiers;
  }

  /** @param boundMax maximum number of edits */
  *#lookUp(boundMax: number): Steps<Tiers[]> {
    const tiers: Tiers[] = [];
    for (const [at, { text }] of this.fields.entries()) {
      const queryWord = this.inFields[at] ?? null;
      if (text === null || queryWord === null) {
        tiers.push(noTiers);
        continue;
      }
      tiers.push(yield* tiersOf(text, queryWord, Math.min(queryWord.bound, boundMax)));
      if (workBudget.isOver()) yield;
    }
    return tiers;
  }
}

/** The terms of a field that match a word. @param bound maximum number of edits, at most that of the word */
function* tiersOf(text: FieldText, queryWord: QueryWord, bound = queryWord.bound): Steps<Tiers> {
  const { words, phrases } = text;
  const { word, synonyms, stem, isPrefix } = queryWord;
  const near = yield* words.terms.within(word, bound);
  // No term can match in two ways, so there is nothing to merge.
  if (synonyms.size === 0 && stem === null && !isPrefix) return near.map(groupsOf(words));
  const terms = new BestMatches();
  for (const [distance, termIds] of near.entries())
    terms.addAll(termIds, distance, wholeWordFactors[distance] ?? 0);
  const tiers = new TierGroups();
  for (const term of synonyms) {
    const index = isPhrase(term) ? phrases : words;
    const termIds = index?.terms.termIdsOf(term) ?? [];
    if (index === words) terms.addAll(termIds, 0, synonymFactor);
    else if (index !== null) tiers.add(0, { index, termIds, factor: synonymFactor });
    workBudget.units += unitsPerMeantTerm;
  }
  if (stem !== null) {
    terms.addAll(words.termIdsOfStem(stem), 0, stemFactor);
    workBudget.units += unitsPerMeantTerm;
  }
  if (isPrefix) {
    for (const [distance, termIds] of (yield* words.terms.prefixWithin(word, bound)).entries()) {
      const factor = prefixFactors[distance] ?? 0;
      tiers.add(distance, { index: words, termIds: terms.addKnown(termIds, distance, factor), factor });
      workBudget.units += termIds.length;
      if (workBudget.isOver()) yield;
    }
  }
  terms.each((tier, factor, termIds) => tiers.add(tier, { index: words, termIds, factor }));
  return tiers.groups;
}

function groupsOf(index: TextIndex): (termIds: readonly number[], distance: number) => readonly TermGroup[] {
  return (termIds, distance) =>
    termIds.length === 0 ? noGroups : [{ index, termIds, factor: wholeWordFactors[distance] ?? 0 }];
}

const noGroups: readonly TermGroup[] = [];

class TierGroups {
  readonly groups: TermGroup[][] = Array.from({ length: tierCount }, () => []);

  add(tier: number, group: TermGroup): void {
    if (group.termIds.length > 0) this.groups[tier]?.push(group);
  }
}

/**
 * The best tier and factor of terms that match in several ways. Prefix matches, of which there may be many, are kept separately.
 */
class BestMatches {
  /** By term id: the tier and the inverted factor, combined into a rank that is lowest for the best match. */
  readonly #best = new Map<number, number>();

  addAll(termIds: readonly number[], tier: number, factor: number): void {
    for (const termId of termIds) this.#add(termId, tier, factor);
  }

  /** Adds the matches of terms that are already known. @returns the other terms */
  addKnown(termIds: readonly number[], tier: number, factor: number): readonly number[] {
    if (!termIds.some((termId) => this.#best.has(termId))) return termIds;
    return termIds.filter((termId) => {
      if (!this.#best.has(termId)) return true;
      this.#add(termId, tier, factor);
      return false;
    });
  }

  each(visit: (tier: number, factor: number, termIds: readonly number[]) => void): void {
    const groups = new Map<number, number[]>();
    for (const [termId, rank] of this.#best) {
      const termIds = groups.get(rank);
      if (termIds === undefined) groups.set(rank, [termId]);
      else termIds.push(termId);
    }
    for (const [rank, termIds] of groups) {
      visit(Math.floor(rank / factorsEnd), factorsEnd - 1 - (rank % factorsEnd), termIds);
    }
  }

  #add(termId: number, tier: number, factor: number): void {
    const rank = tier * factorsEnd + factorsEnd - 1 - factor;
    const known = this.#best.get(termId);
    if (known === undefined || rank < known) this.#best.set(termId, rank);
  }
}

/** Greater than any factor. */
const factorsEnd = 32;
