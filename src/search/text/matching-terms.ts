/** The terms that match the words of a search, in tiers (docs/guide/ranking.md "Which words match"). */
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { type Analyzer, type AskedWord, distinctWords } from '../analysis/analyzer.ts';
import { isPhrase } from '../analysis/phrase-terms.ts';
import type { Bitmap } from '../bitmap.ts';
import type { CheckedSearch } from '../checked-query.ts';
import type { FieldText } from './field-text.ts';
import { beginningFactors, stemFactor, synonymFactor, tierCount, wholeFactors } from './relevance.ts';
import type { TextIndex } from './text-index.ts';

/** The cost of looking up a term that means a word, in units of the work budget. */
const unitsPerMeantTerm = 100;

/** Terms that count alike. */
export interface TermGroup {
  readonly index: TextIndex;
  readonly termIds: readonly number[];
  /** In twentieths. */
  readonly factor: number;
}

/** The groups of each tier; of the tiers beyond its end there are none. A term is in one group only: in its first tier, with its highest factor there. */
export type Tiers = readonly (readonly TermGroup[])[];

const noTiers: Tiers = [[], [], []];

/** A field that is searched. */
export interface SearchedField {
  /** Null: no item here has it. */
  readonly text: FieldText | null;
  readonly analyzer: Analyzer;
  readonly weight: number;
}

/** The items that are searched. */
export interface SearchedItems {
  readonly live: Bitmap;
  readonly count: number;
}

/** A search in the fields of a shard. The terms of its words are looked up when they are first needed, and kept. */
export class WordSearch {
  constructor(
    readonly search: CheckedSearch,
    readonly fields: readonly SearchedField[],
    readonly items: SearchedItems,
    /** The asked words: the distinct words of the search that at least one of the fields asks for. */
    readonly words: readonly SearchedWord[] = searchedWords(search, fields),
  ) {}

  /** Terms that were looked up, each once for each word. */
  get termCount(): number {
    return this.words.reduce((sum, { termCount }) => sum + termCount, 0);
  }

  /** The same search, scored by the statistics in `search`. */
  withStats(search: CheckedSearch): WordSearch {
    return new WordSearch(search, this.fields, this.items, this.words);
  }
}

function searchedWords(search: CheckedSearch, fields: readonly SearchedField[]): SearchedWord[] {
  const shared = distinctWords(search);
  const asked = fields.map(({ analyzer }) => analyzer.askedWords(search, shared));
  return shared.flatMap((_, source) => {
    const inFields = asked.map((ofField) => ofField.find(({ sources }) => sources.includes(source)) ?? null);
    return inFields.some((one) => one !== null) ? [new SearchedWord(fields, inFields)] : [];
  });
}

export class SearchedWord {
  #firstTiers: readonly Tiers[] | null = null;
  #tiers: readonly Tiers[] | null = null;

  /** @param inFields as each of the fields writes it; null where a field leaves it out */
  constructor(
    private readonly fields: readonly SearchedField[],
    private readonly inFields: readonly (AskedWord | null)[],
  ) {}

  /** No field leaves the word out. */
  get isAskedByAll(): boolean {
    return this.inFields.every((asked) => asked !== null);
  }

  get termCount(): number {
    const groups = (this.#tiers ?? this.#firstTiers ?? []).flat(2);
    return groups.reduce((sum, { termIds }) => sum + termIds.length, 0);
  }

  /** The terms of each field without typos; nothing is said of later tiers. */
  *firstTiers(): Steps<readonly Tiers[]> {
    this.#firstTiers ??= this.#tiers ?? (yield* this.#lookUp(0));
    return this.#firstTiers;
  }

  /** The terms of each field in all tiers. */
  *tiers(): Steps<readonly Tiers[]> {
    this.#tiers ??= yield* this.#lookUp(Number.POSITIVE_INFINITY);
    return this.#tiers;
  }

  /** @param boundMax edits that are looked for at most */
  *#lookUp(boundMax: number): Steps<Tiers[]> {
    const tiers: Tiers[] = [];
    for (const [at, { text }] of this.fields.entries()) {
      const asked = this.inFields[at] ?? null;
      if (text === null || asked === null) {
        tiers.push(noTiers);
        continue;
      }
      tiers.push(yield* tiersOf(text, asked, Math.min(asked.bound, boundMax)));
      if (workBudget.isOver()) yield;
    }
    return tiers;
  }
}

/** The terms of a field that match a word. @param bound edits that are looked for, at most those that the word may have */
function* tiersOf(text: FieldText, asked: AskedWord, bound = asked.bound): Steps<Tiers> {
  const { words, phrases } = text;
  const { word, synonyms, stem, isBeginning } = asked;
  const near = yield* words.terms.within(word, bound);
  // No term has two roles then.
  if (synonyms.size === 0 && stem === null && !isBeginning) return near.map(groupsOf(words));
  const terms = new BestOfTerms();
  for (const [distance, termIds] of near.entries())
    terms.noteAll(termIds, distance, wholeFactors[distance] ?? 0);
  const tiers = new TierGroups();
  for (const term of synonyms) {
    const index = isPhrase(term) ? phrases : words;
    const termIds = index?.terms.termIdsOf(term) ?? [];
    if (index === words) terms.noteAll(termIds, 0, synonymFactor);
    else if (index !== null) tiers.add(0, { index, termIds, factor: synonymFactor });
    workBudget.units += unitsPerMeantTerm;
  }
  if (stem !== null) {
    terms.noteAll(words.termIdsOfStem(stem), 0, stemFactor);
    workBudget.units += unitsPerMeantTerm;
  }
  if (isBeginning) {
    for (const [distance, termIds] of (yield* words.terms.beginningWithin(word, bound)).entries()) {
      const factor = beginningFactors[distance] ?? 0;
      tiers.add(distance, { index: words, termIds: terms.takeKnown(termIds, distance, factor), factor });
      workBudget.units += termIds.length;
      if (workBudget.isOver()) yield;
    }
  }
  terms.each((tier, factor, termIds) => tiers.add(tier, { index: words, termIds, factor }));
  return tiers.groups;
}

function groupsOf(index: TextIndex): (termIds: readonly number[], distance: number) => readonly TermGroup[] {
  return (termIds, distance) =>
    termIds.length === 0 ? noGroups : [{ index, termIds, factor: wholeFactors[distance] ?? 0 }];
}

const noGroups: readonly TermGroup[] = [];

class TierGroups {
  readonly groups: TermGroup[][] = Array.from({ length: tierCount }, () => []);

  add(tier: number, group: TermGroup): void {
    if (group.termIds.length > 0) this.groups[tier]?.push(group);
  }
}

/** Terms in several roles, of which the best counts. They are few: the beginnings, of which there may be very many, are apart. */
class BestOfTerms {
  /** By term id: the tier, and by how much the factor falls short of the greatest, as one number that is least for the best. */
  readonly #best = new Map<number, number>();

  noteAll(termIds: readonly number[], tier: number, factor: number): void {
    for (const termId of termIds) this.#note(termId, tier, factor);
  }

  /** Notes those that are known already. @returns the others */
  takeKnown(termIds: readonly number[], tier: number, factor: number): readonly number[] {
    if (!termIds.some((termId) => this.#best.has(termId))) return termIds;
    return termIds.filter((termId) => {
      if (!this.#best.has(termId)) return true;
      this.#note(termId, tier, factor);
      return false;
    });
  }

  each(visit: (tier: number, factor: number, termIds: readonly number[]) => void): void {
    const groups = new Map<number, number[]>();
    for (const [termId, role] of this.#best) {
      const termIds = groups.get(role);
      if (termIds === undefined) groups.set(role, [termId]);
      else termIds.push(termId);
    }
    for (const [role, termIds] of groups) {
      visit(Math.floor(role / roles), roles - 1 - (role % roles), termIds);
    }
  }

  #note(termId: number, tier: number, factor: number): void {
    const role = tier * roles + roles - 1 - factor;
    const known = this.#best.get(termId);
    if (known === undefined || role < known) this.#best.set(termId, role);
  }
}

/** More than any factor. */
const roles = 32;
