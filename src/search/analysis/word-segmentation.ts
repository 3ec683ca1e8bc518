/**
 * Splits text into words (docs/reference/indexes-and-queries.md "Search"): first into runs of letters, marks and digits.
 * Each run is normalized to NFKC, and segmented further if its script is written without spaces.
 */

const letters = String.raw`\p{L}\p{M}\p{Nd}\p{Nl}`;
const mark = /^\p{M}/u;
const basicSeparators = String.raw`\0-/:-@[-\x60{-\x7f\u3000-\u3004`;

/** The characters of words: letters, marks, digits, and those that a field keeps. */
export class Letters {
  /** Matches a single character: a repetition over a long run overflows the stack. */
  readonly outside: RegExp;
  readonly inside: RegExp;
  readonly nextOutside: RegExp;
  readonly nextInside: RegExp;
  /** Common characters that are in no word. */
  readonly separator: RegExp;
  /** Match a kept character at the start or end of a segment; null if the field keeps none. */
  readonly keptEdge: { readonly start: RegExp; readonly end: RegExp } | null;

  /** @param kept characters that count as letters */
  constructor(kept: string) {
    const escaped = Array.from(kept, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`).join(
      '',
    );
    const all = `${letters}${escaped}`;
    this.outside = new RegExp(`[^${all}]`, 'u');
    this.inside = new RegExp(`[${all}]`, 'u');
    this.nextOutside = new RegExp(this.outside, 'gu');
    this.nextInside = new RegExp(this.inside, 'gu');
    this.separator = new RegExp(
      kept === '' ? `[${basicSeparators}]` : `(?![${escaped}])[${basicSeparators}]`,
      'gu',
    );
    this.keptEdge =
      kept === '' ? null : { start: new RegExp(`^[${escaped}]`, 'u'), end: new RegExp(`[${escaped}]$`, 'u') };
  }

  /** True for a run of letters; false for the one character that separates two. */
  isRun(piece: string): boolean {
    // A separator has at most two UTF-16 units.
    return piece.length > 2 || this.inside.test(piece);
  }
}

export const plainLetters = new Letters('');

/** Characters without a glyph of their own, such as joiners, soft hyphens and enclosing marks. U+200B is not one: it separates words. */
const invisible = /(?!\u200b)[\p{DI}\p{Me}]/u;
const everyInvisible = new RegExp(invisible, 'gu');
const writesNoSpaces =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

/** Removes invisible characters. Returns the same string when there are none. */
export function withoutInvisible(text: string): string {
  return invisible.test(text) ? text.replace(everyInvisible, '') : text;
}

/** True when the text has no invisible characters. */
export function isVisible(text: string): boolean {
  return !invisible.test(text);
}

/** The visible characters of a text, and for each of their UTF-16 units its offset in the text. */
export function visibleUnits(text: string): { readonly visible: string; readonly units: readonly number[] } {
  const units: number[] = [];
  let visible = '';
  for (let at = 0; at < text.length; ) {
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
    if (!invisible.test(character)) {
      visible += character;
      for (let unit = 0; unit < character.length; unit += 1) units.push(at + unit);
    }
    at += character.length;
  }
  return { visible, units };
}

/** Receives the start and end offsets of a word. */
export type BoundsVisitor = (start: number, end: number) => void;

/** Visits the runs of letters, marks and digits of a text. Leading marks are skipped. */
export function visitRuns(text: string, visit: BoundsVisitor, letters = plainLetters): void {
  const { nextInside, nextOutside } = letters;
  for (let from = 0; from < text.length; ) {
    nextInside.lastIndex = from;
    const first = nextInside.exec(text);
    if (first === null) return;
    nextOutside.lastIndex = first.index;
    const end = nextOutside.exec(text)?.index ?? text.length;
    const start = skipMarks(text, first.index, end);
    if (start < end) visit(start, end);
    from = end;
  }
}

function skipMarks(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && mark.test(text.slice(at, at + 2))) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return at;
}

/** Visits the words of a run that is already in NFKC, which turns a few letters into separators. */
export function visitWords(run: string, visit: BoundsVisitor, letters = plainLetters): void {
  visitRuns(
    run,
    (start, end) => {
      const part = start === 0 && end === run.length ? run : run.slice(start, end);
      if (writesNoSpaces.test(part))
        visitSegments(part, (from, to) => visit(start + from, start + to), letters);
      else visit(start, end);
    },
    letters,
  );
}

/** Adds the words of a run that `visitRuns` found, in lower case. */
export function addWordsOfRun(run: string, words: string[], letters = plainLetters): void {
  const normal = run.normalize('NFKC');
  visitWords(normal, (start, end) => words.push(normal.slice(start, end).toLowerCase()), letters);
}

/** True where words can meet without a separator. */
export function mayCutBefore(text: string, at: number): boolean {
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
  return !mark.test(character) && writesNoSpaces.test(character);
}

/** Adds the words of a run in NFKC whose script may write no spaces, in lower case. */
export function addSegmentsOfRun(run: string, words: string[]): void {
  cutSegments(run, (start, end) => words.push(run.slice(start, end).toLowerCase()));
}

/** The segmenter takes quadratic time, so long runs are segmented in windows. */
const windowUnits = 512;
/** Boundaries this close to the end of a window depend on the text after it. */
const overlapUnits = 64;

let segmenter: Intl.Segmenter | null = null;

function visitSegments(run: string, visit: BoundsVisitor, { keptEdge }: Letters): void {
  if (keptEdge === null) {
    cutSegments(run, visit);
    return;
  }
  // The segmenter knows nothing about kept characters: it splits C++ into three.
  let [start, end] = [0, 0];
  cutSegments(run, (from, to) => {
    const [before, next] = [run.slice(start, end), run.slice(from, to)];
    const isKept = keptEdge.end.test(before) || keptEdge.start.test(next);
    const isOne = end > start && isKept && !writesNoSpaces.test(before) && !writesNoSpaces.test(next);
    if (!isOne) {
      if (end > start) visit(start, end);
      start = from;
    }
    end = to;
  });
  if (end > start) visit(start, end);
}

function cutSegments(run: string, visit: BoundsVisitor): void {
  // Created on first use. English has no word rules of its own.
  segmenter ??= new Intl.Segmenter('en', { granularity: 'word' });
  let size = windowUnits;
  for (let from = 0; from < run.length; ) {
    const window = run.slice(from, from + size);
    const isLast = from + size >= run.length;
    let done = 0;
    for (const { segment, index } of segmenter.segment(window)) {
      const end = index + segment.length;
      if (!isLast && end > window.length - overlapUnits) break;
      visit(from + index, from + end);
      done = end;
    }
    from += done;
    size = done === 0 ? size * 2 : windowUnits;
  }
}
