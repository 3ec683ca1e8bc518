import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { type Analyzer, type AskedWord, distinctWords } from '../analysis/analyzer.ts';
import type { Bitmap } from '../bitmap.ts';
import type { CheckedSearch } from '../checked-query.ts';
import type { FieldText } from './field-text.ts';
import { noTiers, type Tiers, tiersOf } from './matching-terms.ts';

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
  /** The asked words: the distinct words of the search that at least one of the fields asks for. */
  readonly words: readonly SearchedWord[];

  constructor(
    readonly search: CheckedSearch,
    readonly fields: readonly SearchedField[],
    readonly items: SearchedItems,
  ) {
    const shared = distinctWords(search);
    const asked = fields.map(({ analyzer }) => analyzer.askedWords(search, shared));
    this.words = shared.flatMap((_, source) => {
      const inFields = asked.map(
        (ofField) => ofField.find(({ sources }) => sources.includes(source)) ?? null,
      );
      return inFields.some((one) => one !== null) ? [new SearchedWord(fields, inFields)] : [];
    });
  }
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
