import { Encoder } from 'flexsearch';
import { searchCodePointsMax } from '../../contract/limits.ts';
import { countCodePoints } from '../../lib/code-points.ts';
import { workBudget } from '../../lib/cooperative-yield.ts';
import {
  addSegmentsOfRun,
  addWordsOfRun,
  isVisible,
  Letters,
  mayCutBefore,
  plainLetters,
  withoutInvisible,
} from './word-segmentation.ts';

/** NFKC turns a code point into at most 18, and lower-casing into at most 3. Two edits may add to that. */
const wordCodePointsMax = searchCodePointsMax * 18 * 3 + 2;

/** Turns off all word processing of FlexSearch, so that only our rules apply. */
const options = {
  normalize: false,
  prepare: (text: string) => text,
  numeric: false,
  dedupe: false,
  // A cache would need a timer.
  cache: false,
  maxlength: Number.POSITIVE_INFINITY,
} as const;

/** Splits texts into words. */
export class Cutter {
  /**
   * Returns the runs of a text and the separators between them. Without the separators, it would leave out a run that equals
   * the previous one.
   */
  readonly #encoder: Encoder;

  constructor(readonly letters: Letters) {
    this.#encoder = new Encoder({ ...options, split: new RegExp(`(${letters.outside.source})`, 'u') });
  }

  /** The words of a text in order, including repetitions. */
  cut(text: string): string[] {
    const { letters } = this;
    const known = letters === plainLetters ? wordsByUnits(text) : null;
    if (known !== null) return known;
    const words: string[] = [];
    for (const piece of this.#encoder.encode(withoutInvisible(text))) {
      if (letters.isRun(piece)) addWordsOfRun(piece, words, letters);
    }
    return words;
  }
}

// Kinds of UTF-16 units. The highest kind in a run decides how it is cut.
const separates = 1;
const staysAsItIs = 2;
/** May need the segmenter. */
const isSpaceless = 3;
/** NFKC may change it or its neighbor. */
const mayChange = 4;
/** The unit alone does not say what it is. */
const isIncomplete = 5;
/** By unit; 0: no text had it yet. */
const kinds = new Uint8Array(0x10000);
const surrogate = /\p{Cs}/u;
/** Marks, and Korean vowels and finals: NFKC may join them with the letter before. */
const mayJoin = /[\p{M}\u1160-\u11ff]/u;

function readKind(unit: number): number {
  const kind = kindOf(String.fromCharCode(unit));
  kinds[unit] = kind;
  return kind;
}

function kindOf(character: string): number {
  if (surrogate.test(character) || !isVisible(character)) return isIncomplete;
  if (!plainLetters.inside.test(character)) return separates;
  if (mayJoin.test(character) || character.normalize('NFKC') !== character) return mayChange;
  return mayCutBefore(character, 0) ? isSpaceless : staysAsItIs;
}

/**
 * The words of a text in lower case; null for a text with surrogates or invisible characters. This is a fast path: it reads each
 * character once, and few texts have such characters.
 */
export function wordsByUnits(text: string): string[] | null {
  const words: string[] = [];
  let start = 0;
  let kindOfRun = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    const kind = kinds[unit] || readKind(unit);
    if (kind === isIncomplete) return null;
    if (kind !== separates) {
      if (kind > kindOfRun) kindOfRun = kind;
      continue;
    }
    if (at > start) addRunOfKind(text.slice(start, at), kindOfRun, words);
    start = at + 1;
    kindOfRun = 0;
  }
  if (start < text.length) addRunOfKind(text.slice(start), kindOfRun, words);
  return words;
}

/** True for a run that is a word: NFKC does not change it, and there is nothing to segment. A fast path like `wordsByUnits`. */
export function isOneWord(run: string): boolean {
  for (let at = 0; at < run.length; at += 1) {
    const unit = run.charCodeAt(at);
    if ((kinds[unit] || readKind(unit)) !== staysAsItIs) return false;
  }
  return true;
}

/** @param kind the highest of its units */
function addRunOfKind(run: string, kind: number, words: string[]): void {
  if (kind === staysAsItIs) words.push(run.toLowerCase());
  else if (kind === mayChange) addWordsOfRun(run, words);
  else addSegmentsOfRun(run, words);
}

const plainCutter = new Cutter(plainLetters);
/** For fields that keep characters. */
const cutters = new Map<string, Cutter>();
/** Limits the memory, because configurations change. */
const cuttersMax = 1000;

/** @param kept characters that count as letters */
export function cutterOf(kept: string): Cutter {
  if (kept === '') return plainCutter;
  const known = cutters.get(kept);
  if (known !== undefined) return known;
  if (cutters.size >= cuttersMax) cutters.clear();
  const cutter = new Cutter(new Letters(kept));
  cutters.set(kept, cutter);
  return cutter;
}

/**
 * The distinct words of a text in order of appearance (docs/reference/indexes-and-queries.md "Search"). Words that
 * are too long for any search are left out.
 */
export function wordsOf(text: string): string[] {
  return [...new Set(plainCutter.cut(text))].filter(isIndexable);
}

/** Large texts are split at separators about this many UTF-16 units apart. */
const pieceUnits = 16_384;
/** The cost of reading a character of a text, in units of the work budget. */
const unitsPerUnit = 10;

/** Yields the words of a text in order, in pieces, including repetitions and long words. */
export function* wordPieces(text: string, cutter: Cutter): Generator<readonly string[]> {
  for (let from = 0; from < text.length; ) {
    const end = endOfPiece(text, from, cutter.letters);
    yield pieceOf(text, from, end, cutter);
    from = end;
  }
}

/** The words of a piece of a text in order, including repetitions and long words. @param end from `endOfPiece` */
export function pieceOf(text: string, from: number, end: number, cutter: Cutter): readonly string[] {
  workBudget.units += unitsPerUnit * (end - from);
  return cutter.cut(text.slice(from, end));
}

/** Within this many UTF-16 units, a script without spaces has a place to split, even with marks between letters. */
const lookUnits = 64;

/** The offset of the next separator, or the end of the text. A long run is split if its script is written without spaces. */
export function endOfPiece(text: string, from: number, { separator } = plainLetters): number {
  if (text.length - from <= pieceUnits) return text.length;
  separator.lastIndex = from + pieceUnits;
  const end = separator.exec(text)?.index ?? text.length;
  if (end <= from + 2 * pieceUnits) return end;
  const middle = from + pieceUnits;
  for (let at = middle; at < middle + lookUnits; at += 1) if (mayCutBefore(text, at)) return at;
  return end;
}

/** False if no search can have a word of this length. */
export function isIndexable(word: string): boolean {
  return word.length <= wordCodePointsMax || countCodePoints(word) <= wordCodePointsMax;
}

/** Maximum edit distance for a word, by its length in code points (docs/reference/indexes-and-queries.md "Search"). */
export function allowedDistance(word: string): number {
  const length = countCodePoints(word);
  if (length <= 2) return 0;
  return length <= 5 ? 1 : 2;
}
