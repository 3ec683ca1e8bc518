import { Encoder } from 'flexsearch';
import { searchCodePointsMax } from '../../contract/limits.ts';
import { countCodePoints } from '../../lib/code-points.ts';
import { pace, type Steps } from '../pace.ts';

/** NFKC makes at most 18 code points of one, lower-casing at most 3 of one; 2 edits may be missing. */
const wordCodePointsMax = searchCodePointsMax * 18 * 3 + 2;

/** Cuts a text into its words. Whatever else FlexSearch would do with them is off, so that the contract alone decides. */
const encoder = new Encoder({
  normalize: false,
  prepare: (text) => text.normalize('NFKC'),
  // One character at a time: a repetition over a long run overflows the stack.
  split: /[^\p{L}\p{M}\p{Nd}]/u,
  finalize: (runs) => runs.map((run) => run.toLowerCase()),
  numeric: false,
  dedupe: false,
  // It would need a timer.
  cache: false,
  maxlength: Number.POSITIVE_INFINITY,
});

/**
 * The distinct words of a text in order of appearance: runs of Unicode letters, marks and digits after NFKC,
 * lower-cased (docs/reference/indexes-and-queries.md "Search"). Words that are too long for any search to match are left
 * out.
 */
export function wordsOf(text: string): string[] {
  const words = new Set<string>();
  collectWords(text, words);
  return [...words];
}

/** A large text is cut at spaces about so many units apart. */
const pieceUnits = 16_384;
/** What a character of a text takes to be read, in units of the pace. */
const unitsPerUnit = 10;

/** The distinct words of several texts, as `wordsOf`, in steps. */
export function* wordsOfAll(texts: readonly string[]): Steps<string[]> {
  const words = new Set<string>();
  for (const text of texts) {
    for (let from = 0; from < text.length; ) {
      const end = endOfPiece(text, from);
      collectWords(text.slice(from, end), words);
      pace.units += unitsPerUnit * (end - from);
      from = end;
      if (pace.isOver()) yield;
    }
  }
  return [...words];
}

/** In front of a space, which no word has and NFKC joins with nothing before it; the text's end where there is none. */
function endOfPiece(text: string, from: number): number {
  const space = text.indexOf(' ', from + pieceUnits);
  return space < 0 ? text.length : space;
}

function collectWords(text: string, words: Set<string>): void {
  for (const word of encoder.encode(text)) {
    if (word.length <= wordCodePointsMax || countCodePoints(word) <= wordCodePointsMax) words.add(word);
  }
}

/** Edits that a search allows in a word, by its length in code points (docs/reference/indexes-and-queries.md "Search"). */
export function allowedDistance(word: string): number {
  const length = countCodePoints(word);
  if (length <= 2) return 0;
  return length <= 5 ? 1 : 2;
}
