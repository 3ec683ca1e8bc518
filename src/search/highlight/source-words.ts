import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import {
  isVisible,
  type Letters,
  plainLetters,
  visibleUnits,
  visitRuns,
  visitWords,
} from '../analysis/word-segmentation.ts';
import { endOfPiece } from '../analysis/words.ts';

/**
 * Takes a word of a text. `start` and `end` are UTF-16 units of the text as it was sent: the first of the word, and the
 * first after it.
 */
export type WordVisitor = (word: string, start: number, end: number) => void;

/** The cost of reading a unit of a text, in units of the work budget. */
const unitsPerUnit = 20;

/** Visits the words of a text as `wordsOf` cuts them, in order, with their places. */
export function* sourceWords(text: string, visit: WordVisitor, letters = plainLetters): Steps<void> {
  for (let from = 0; from < text.length; ) {
    const end = endOfPiece(text, from, letters);
    const runs = runsOf(text.slice(from, end), letters);
    for (const { visible, first, units } of runs) {
      const unitOf = (at: number) => from + (units === null ? first + at : (units[at] ?? 0));
      const visitWord: WordVisitor = (word, start, stop) => visit(word, unitOf(start), unitOf(stop - 1) + 1);
      yield* visitRun(visible, visitWord, letters);
      workBudget.units += unitsPerUnit * visible.length;
      if (workBudget.isOver()) yield;
    }
    workBudget.units += unitsPerUnit * (end - from);
    from = end;
    if (workBudget.isOver()) yield;
  }
}

/** A run of a text without what is not seen, and where it is in the text. */
interface Run {
  readonly visible: string;
  readonly first: number;
  /** Where each of its units is; null when they follow the first one. */
  readonly units: readonly number[] | null;
}

function runsOf(piece: string, letters: Letters): Run[] {
  const runs: Run[] = [];
  if (isVisible(piece)) {
    const take = (first: number, end: number) =>
      runs.push({ visible: piece.slice(first, end), first, units: null });
    visitRuns(piece, take, letters);
    return runs;
  }
  const { visible, units } = visibleUnits(piece);
  const take = (first: number, end: number) =>
    runs.push({ visible: visible.slice(first, end), first, units: units.slice(first, end) });
  visitRuns(visible, take, letters);
  return runs;
}

function* visitRun(run: string, visit: WordVisitor, letters: Letters): Steps<void> {
  const normal = run.normalize('NFKC');
  const places = normal === run ? null : yield* placesOf(run);
  const take = (start: number, end: number) => {
    const word = normal.slice(start, end).toLowerCase();
    if (places === null) visit(word, start, end);
    else visit(word, places.starts[start] ?? 0, places.ends[end - 1] ?? 0);
  };
  visitWords(normal, take, letters);
}

/** For each unit of a normalised text, the units of the source that it comes from. */
interface Places {
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

const mark = /^\p{M}/u;
/** Longer segments, which are runs of marks that no language has, are not cut: to try each place takes quadratic time. */
const cutUnitsMax = 32;
/** No character below is changed by NFKC, or joined with one in front of it. */
const plainMax = 0x7f;

/**
 * Normalises a text segment by segment: NFKC joins no character of a segment with one of another. Joined, the segments are
 * the normalised text.
 */
function* placesOf(text: string): Steps<Places> {
  const starts: number[] = [];
  const ends: number[] = [];
  for (let start = 0; start < text.length; ) {
    const end = endOfSegment(text, start);
    const { length } = text.slice(start, end).normalize('NFKC');
    for (let unit = 0; unit < length; unit += 1) {
      starts.push(start);
      ends.push(end);
    }
    workBudget.units += unitsPerUnit * (end - start);
    start = end;
    if (workBudget.isOver()) yield;
  }
  return { starts, ends };
}

function endOfSegment(text: string, start: number): number {
  let end = start + unitsAt(text, start);
  while (end < text.length && text.charCodeAt(end) > plainMax) {
    const next = end + unitsAt(text, end);
    if (!isJoined(text.slice(start, end), text.slice(end, next))) break;
    end = next;
  }
  return firstCut(text.slice(start, end)) + start;
}

/**
 * Where a segment falls into two that NFKC does not join, at the earliest: marks may change nothing of what they follow.
 * @returns the length of the segment when it does not
 */
function firstCut(segment: string): number {
  if (segment.length > cutUnitsMax) return segment.length;
  const normal = segment.normalize('NFKC');
  for (let at = unitsAt(segment, 0); at < segment.length; at += unitsAt(segment, at)) {
    if (segment.slice(0, at).normalize('NFKC') + segment.slice(at).normalize('NFKC') === normal) return at;
  }
  return segment.length;
}

/** True when NFKC joins a character with what is in front of it, or may change their order. */
function isJoined(before: string, character: string): boolean {
  const normal = character.normalize('NFKC');
  if (mark.test(normal)) return true;
  return (before + character).normalize('NFKC') !== before.normalize('NFKC') + normal;
}

function unitsAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}
