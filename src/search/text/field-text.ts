import { pace, type Steps } from '../../lib/pace.ts';
import type { Analyzer } from '../analysis/analyzer.ts';
import { PhraseFinder } from '../analysis/phrase-finder.ts';
import type { PartReader, Parts } from '../snapshot/parts.ts';
import { TextIndex } from './text-index.ts';
import { isIndexable, wordPieces, wordsOfAll } from './words.ts';

/** Number of words that are put at once, and the cost of each in units of the pace. */
const wordsAtOnce = 1024;
const unitsPerWord = 200;

/** The words of a text field, by doc. */
export class FieldText {
  readonly analyzer: Analyzer;
  readonly words: TextIndex;
  /** The synonyms of several words that docs have; null where there can be none. */
  readonly phrases: TextIndex | null;
  readonly #finder: PhraseFinder | null;

  constructor(analyzer: Analyzer) {
    const phrases = analyzer.synonyms?.phrases ?? [];
    this.analyzer = analyzer;
    this.words = new TextIndex(analyzer.stem);
    this.#finder = phrases.length === 0 ? null : new PhraseFinder(phrases);
    this.phrases = this.#finder === null ? null : new TextIndex();
  }

  get indexes(): readonly TextIndex[] {
    return this.phrases === null ? [this.words] : [this.words, this.phrases];
  }

  get bytes(): number {
    return this.words.bytes + (this.phrases?.bytes ?? 0);
  }

  *parts(): Parts {
    for (const index of this.indexes) yield* index.parts();
  }

  async restore(from: PartReader): Promise<void> {
    for (const index of this.indexes) await index.restore(from);
  }

  /** Adds the texts of a doc, in steps. The doc must be new here, or swept out. @returns whether it has words */
  *add(doc: number, texts: readonly string[]): Steps<boolean> {
    const phrases = new Set<string>();
    const words = this.analyzer.isPlain ? yield* wordsOfAll(texts) : yield* this.#analyzed(texts, phrases);
    for (let at = 0; at < words.length; at += wordsAtOnce) {
      const some = words.length > wordsAtOnce ? words.slice(at, at + wordsAtOnce) : words;
      this.words.add(doc, some);
      pace.units += unitsPerWord * some.length;
      if (pace.isOver()) yield;
    }
    this.phrases?.add(doc, [...phrases]);
    return words.length > 0;
  }

  /** The distinct words as the analyzer writes them, and the phrases that they are in. */
  *#analyzed(texts: readonly string[], phrases: Set<string>): Steps<string[]> {
    const words = new Set<string>();
    for (const text of texts) {
      const next = this.#finder?.walk();
      for (const piece of wordPieces(text)) {
        for (const raw of piece) {
          const word = this.analyzer.word(raw);
          if (word === '') continue;
          if (isIndexable(word)) words.add(word);
          for (const { term } of next?.(word) ?? []) phrases.add(term);
        }
        pace.units += unitsPerWord * piece.length;
        if (pace.isOver()) yield;
      }
    }
    return [...words];
  }
}
