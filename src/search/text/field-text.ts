import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { Analyzer } from '../analysis/analyzer.ts';
import { textOfHtml } from '../analysis/html-text.ts';
import { PhraseFinder, type PhraseWalk } from '../analysis/phrase-terms.ts';
import { endOfPiece, isIndexable, pieceOf } from '../analysis/words.ts';
import type { PartReader, Parts } from '../snapshot/parts.ts';
import { TextIndex } from './text-index.ts';
import { WordCounts } from './word-counts.ts';

/** Words per step, and the cost of each in units of the work budget. */
const wordsAtOnce = 1024;
const unitsPerWord = 200;

/** The words of a text field, by doc. */
export class FieldText {
  readonly analyzer: Analyzer;
  readonly words: TextIndex;
  /** Phrases in docs that are synonyms; null if there are no such synonyms. */
  readonly phrases: TextIndex | null;
  /** Number of words of each live doc. */
  readonly counts = new WordCounts();
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
    return this.words.bytes + (this.phrases?.bytes ?? 0) + this.counts.bytes;
  }

  *parts(): Parts {
    yield* this.counts.parts();
    for (const index of this.indexes) yield* index.parts();
  }

  async restore(from: PartReader): Promise<void> {
    await this.counts.restore(from);
    for (const index of this.indexes) await index.restore(from);
  }

  /** Adds the texts of a doc, in steps. The doc must be new to the field or swept. @returns whether it has words */
  *add(doc: number, texts: readonly string[]): Steps<boolean> {
    const { isHtml, cutter } = this.analyzer;
    let count = 0;
    for (const sent of texts) {
      const text = isHtml ? yield* textOfHtml(sent) : sent;
      const next = this.#finder?.walk() ?? null;
      for (let from = 0; from < text.length; ) {
        const end = endOfPiece(text, from, cutter.letters);
        const piece = pieceOf(text, from, end, cutter);
        for (let at = 0; at < piece.length; at += wordsAtOnce) {
          count += this.#addSome(doc, piece, at, next);
          if (workBudget.isOver()) yield;
        }
        from = end;
        if (workBudget.isOver()) yield;
      }
    }
    this.counts.set(doc, count);
    return count > 0;
  }

  /** Adds normalized words and the phrases that they complete. @returns the number of words */
  #addSome(doc: number, piece: readonly string[], from: number, next: PhraseWalk | null): number {
    const { analyzer, words, phrases } = this;
    const { isPlain } = analyzer;
    const end = Math.min(piece.length, from + wordsAtOnce);
    let count = 0;
    for (let at = from; at < end; at += 1) {
      const raw = piece[at] ?? '';
      const word = isPlain ? raw : analyzer.word(raw);
      if (word === '') continue;
      count += 1;
      if (isIndexable(word)) words.add(doc, word);
      if (next === null || phrases === null) continue;
      for (const { term } of next(word)) phrases.add(doc, term);
    }
    workBudget.units += unitsPerWord * (end - from);
    return count;
  }
}
