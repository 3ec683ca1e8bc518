import { searchCodePointsMax } from '../../contract/limits.ts';
import { countCodePoints } from '../../lib/code-points.ts';
import { pace, type Steps } from '../pace.ts';

const wordCharacter = /^[\p{L}\p{M}\p{Nd}]$/u;
const inWord = 1;
const notInWord = 2;
/** What each code point is, as far as it was asked. A table, since one regular expression over a long run overflows the stack. */
const classes = new Uint8Array(0x110000);

/** NFKC makes at most 18 code points of one, lower-casing at most 3 of one; 2 edits may be missing. */
const wordCodePointsMax = searchCodePointsMax * 18 * 3 + 2;

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

/** As `wordsOf`, over the items of a text list. */
export function wordsOfAll(texts: readonly string[]): string[] {
  const words = new Set<string>();
  for (const text of texts) collectWords(text, words);
  return [...words];
}

/** A large text is cut at spaces about so many units apart. */
const pieceUnits = 16_384;

/** As `wordsOfAll`, of texts that may be large. */
export function* wordsInSteps(texts: readonly string[]): Steps<string[]> {
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

/** What a character of a text takes to be read, in units of the pace. */
const unitsPerUnit = 10;

/** In front of a space, which no word has and NFKC joins with nothing before it; the text's end where there is none. */
function endOfPiece(text: string, from: number): number {
  const space = text.indexOf(' ', from + pieceUnits);
  return space < 0 ? text.length : space;
}

function collectWords(text: string, words: Set<string>): void {
  const normal = text.normalize('NFKC');
  let start = -1;
  for (let at = 0; at < normal.length; at += 1) {
    const codePoint = normal.codePointAt(at) ?? 0;
    if (classOf(codePoint) === inWord) {
      if (start < 0) start = at;
    } else if (start >= 0) {
      addWord(normal.slice(start, at), words);
      start = -1;
    }
    if (codePoint > 0xffff) at += 1;
  }
  if (start >= 0) addWord(normal.slice(start), words);
}

function addWord(run: string, words: Set<string>): void {
  const word = run.toLowerCase();
  if (word.length > wordCodePointsMax && countCodePoints(word) > wordCodePointsMax) return;
  words.add(word);
}

function classOf(codePoint: number): number {
  const known = classes[codePoint] ?? 0;
  if (known !== 0) return known;
  const found = wordCharacter.test(String.fromCodePoint(codePoint)) ? inWord : notInWord;
  classes[codePoint] = found;
  return found;
}

/** Edits that a search allows in a word, by its length in code points (docs/reference/indexes-and-queries.md "Search"). */
export function allowedDistance(word: string): number {
  const length = countCodePoints(word);
  if (length <= 2) return 0;
  return length <= 5 ? 1 : 2;
}
