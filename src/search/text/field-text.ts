import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import type { Analyzer } from '../analysis/analyzer.ts';
import { textOfHtml } from '../analysis/html-text.ts';
import { PhraseFinder, type PhraseWalk } from '../analysis/phrase-terms.ts';
import { endOfPiece, isIndexable, pieceOf } from '../analysis/words.ts';
import { type PartReader, type Parts, uint8, uint32 } from '../snapshot/parts.ts';
import { TextIndex } from './text-index.ts';

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

type Counts = Uint8Array | Uint16Array | Uint32Array;

const capacityMin = 16;

/** Number of words of each doc in a field, and in total. Takes one byte per doc while no doc has more than 255. */
export class WordCounts {
  #counts: Counts = new Uint8Array(0);
  /** Number of words of all docs. */
  #words = 0;
  /** Number of docs with a word. */
  #docs = 0;

  get words(): number {
    return this.#words;
  }

  get docs(): number {
    return this.#docs;
  }

  get bytes(): number {
    return this.#counts.byteLength;
  }

  /** Counts by doc; docs beyond the end have no words. Must neither be modified nor kept. */
  get byDoc(): Counts {
    return this.#counts;
  }

  *parts(): Parts {
    const { buffer, byteOffset, byteLength, BYTES_PER_ELEMENT } = this.#counts;
    yield Uint32Array.of(BYTES_PER_ELEMENT);
    yield new Uint8Array(buffer, byteOffset, byteLength);
  }

  async restore(from: PartReader): Promise<void> {
    const [width = 1] = await from.numbers(uint32);
    const { buffer, byteOffset, byteLength } = await from.numbers(uint8);
    const CountArray = arrayOfWidth(width);
    this.#counts = new CountArray(buffer, byteOffset, byteLength / width);
    for (const count of this.#counts) {
      this.#words += count;
      if (count > 0) this.#docs += 1;
    }
  }

  /** Sets the number of words of a doc, which must have none. */
  set(doc: number, words: number): void {
    if (words === 0) return;
    this.#reserve(doc, words);
    this.#counts[doc] = words;
    this.#words += words;
    this.#docs += 1;
  }

  clear(doc: number): void {
    const words = this.#counts[doc] ?? 0;
    if (words === 0) return;
    this.#counts[doc] = 0;
    this.#words -= words;
    this.#docs -= 1;
  }

  #reserve(doc: number, words: number): void {
    const before = this.#counts;
    const width = words < 256 ? 1 : words < 65_536 ? 2 : 4;
    if (doc < before.length && width <= before.BYTES_PER_ELEMENT) return;
    const length = doc < before.length ? before.length : Math.max(capacityMin, doc + 1, 2 * before.length);
    const CountArray = arrayOfWidth(Math.max(width, before.BYTES_PER_ELEMENT));
    this.#counts = new CountArray(length);
    this.#counts.set(before);
  }
}

function arrayOfWidth(
  bytes: number,
): Uint8ArrayConstructor | Uint16ArrayConstructor | Uint32ArrayConstructor {
  if (bytes === 1) return Uint8Array;
  return bytes === 2 ? Uint16Array : Uint32Array;
}
