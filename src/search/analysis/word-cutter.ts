/**
 * Cuts texts into words (docs/reference/indexes-and-queries.md "Search"): runs of letters, marks and digits first, each
 * brought into NFKC then, and cut further where its script writes no spaces.
 */

const letters = String.raw`\p{L}\p{M}\p{Nd}\p{Nl}`;
const mark = /^\p{M}/u;
const basicSeparators = String.raw`\0-/:-@[-\x60{-\x7f\u3000-\u3004`;

/** Which characters are in words: letters, marks, digits, and those that a field keeps. */
export class Letters {
  /** One character, because a repetition over a long run overflows the stack. */
  readonly outside: RegExp;
  readonly inside: RegExp;
  readonly nextOutside: RegExp;
  readonly nextInside: RegExp;
  /** Characters that no word has, of which most texts have some. */
  readonly separator: RegExp;
  /** At the beginning or end of a part of a word; null: nothing is kept. */
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
    // A separator has two units at most.
    return piece.length > 2 || this.inside.test(piece);
  }
}

export const plainLetters = new Letters('');

/** Has no sign: joiners, soft hyphens, variation selectors, byte order marks; or encloses one. U+200B separates words. */
const invisible = /(?!\u200b)[\p{DI}\p{Me}]/u;
const everyInvisible = new RegExp(invisible, 'gu');
const noSpaces = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}`;
/** Latin texts without it are in NFKC, and nothing is taken out of them. Most texts are such. */
const beyondPlainLatin =
  /[^\0-\x9f\xa1-\xa7\xa9\xab\xac\xae\xb0\xb1\xb6\xb7\xbb\xbf-\u0131\u0134-\u013e\u0141-\u0148\u014a-\u017e]/;
/** What is taken out, may begin no word, or is cut further. */
const special = new RegExp(String.raw`[\p{DI}\p{M}${noSpaces}]`, 'u');

/** True for a text, or a run of one, whose runs are words as they are, but for their case. */
export function isSimple(text: string): boolean {
  if (!beyondPlainLatin.test(text)) return true;
  return !special.test(text) && text.normalize('NFKC') === text;
}

/** The text without what is not seen; itself when it has nothing such. */
export function withoutInvisible(text: string): string {
  return invisible.test(text) ? text.replace(everyInvisible, '') : text;
}

/** True for a text in which every character is seen. */
export function isVisible(text: string): boolean {
  return !invisible.test(text);
}

/** Where the visible characters of a text are: for each UTF-16 unit that is left, its unit in the text. */
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

/** Takes the place of a word in a text. */
export type BoundsVisitor = (start: number, end: number) => void;

/** Visits the runs of letters, marks and digits of a text, without marks that follow no letter or digit. */
export function visitRuns(text: string, visit: BoundsVisitor, letters = plainLetters): void {
  const { nextInside, nextOutside } = letters;
  for (let from = 0; from < text.length; ) {
    nextInside.lastIndex = from;
    const first = nextInside.exec(text);
    if (first === null) return;
    nextOutside.lastIndex = first.index;
    const end = nextOutside.exec(text)?.index ?? text.length;
    const start = withoutMarks(text, first.index, end);
    if (start < end) visit(start, end);
    from = end;
  }
}

function withoutMarks(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && mark.test(text.slice(at, at + 2))) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return at;
}

/** Visits the words of a run that is in NFKC already. NFKC makes separators of a few letters. */
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

/** Adds the words of a run as it was cut, in lower case. */
export function addWordsOfRun(run: string, words: string[], letters = plainLetters): void {
  if (isSimple(run)) {
    words.push(run.toLowerCase());
    return;
  }
  const normal = run.normalize('NFKC');
  visitWords(normal, (start, end) => words.push(normal.slice(start, end).toLowerCase()), letters);
}

const writesNoSpaces = new RegExp(`[${noSpaces}]`, 'u');

/** True where a text may be cut though no separator is there. */
export function mayCutBefore(text: string, at: number): boolean {
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
  return !mark.test(character) && writesNoSpaces.test(character);
}

/** The segmenter takes quadratic time, so a long run is shown to it in windows. */
const windowUnits = 512;
/** Boundaries so near to the end of a window may be others once it goes on. */
const overlapUnits = 64;

let segmenter: Intl.Segmenter | null = null;

function visitSegments(run: string, visit: BoundsVisitor, { keptEdge }: Letters): void {
  if (keptEdge === null) {
    cutSegments(run, visit);
    return;
  }
  // The segmenter does not know what is kept: it cuts C++ into three.
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
  // It is made for the first text that needs it. English has no rules of its own for words.
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
