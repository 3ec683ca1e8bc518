import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import {
  isVisible,
  type Letters,
  plainLetters,
  visibleUnits,
  visitRuns,
  visitWords,
} from '../analysis/word-segmentation.ts';
import { endOfPiece, isOneWord } from '../analysis/words.ts';

/** Receives a word of a text. `start` and `end` are its bounds in the original text, in UTF-16 units. */
export type WordVisitor = (word: string, start: number, end: number) => void;

/** The cost of reading a unit of a text, in units of the work budget. */
const unitsPerUnit = 20;

/** Visits the words of a text, split as by `wordsOf`, in order, with their bounds. */
export function* sourceWords(text: string, visit: WordVisitor, letters = plainLetters): Steps<void> {
  for (let from = 0; from < text.length; ) {
    const end = endOfPiece(text, from, letters);
    for (const run of runsOf(text.slice(from, end), letters)) {
      const { visible, first, units } = run;
      if (units === null && isOneWord(visible))
        visit(visible.toLowerCase(), from + first, from + first + visible.length);
      else yield* visitRun(run, from, visit, letters);
      workBudget.units += unitsPerUnit * visible.length;
      if (workBudget.isOver()) yield;
    }
    workBudget.units += unitsPerUnit * (end - from);
    from = end;
    if (workBudget.isOver()) yield;
  }
}

/** A run of a text without invisible characters, and its position in the text. */
interface Run {
  readonly visible: string;
  readonly first: number;
  /** Offset of each of its units; null if they are contiguous. */
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

function* visitRun(
  { visible, first, units }: Run,
  from: number,
  visit: WordVisitor,
  letters: Letters,
): Steps<void> {
  const normal = visible.normalize('NFKC');
  const places = normal === visible ? null : yield* placesOf(visible);
  const unitOf = (at: number) => from + (units === null ? first + at : (units[at] ?? 0));
  const take = (start: number, end: number) => {
    const word = normal.slice(start, end).toLowerCase();
    const [source, stop] =
      places === null ? [start, end] : [places.starts[start] ?? 0, places.ends[end - 1] ?? 0];
    visit(word, unitOf(source), unitOf(stop - 1) + 1);
  };
  visitWords(normal, take, letters);
}

/** For each unit of a normalized text, the bounds of its source. */
interface Places {
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

const mark = /^\p{M}/u;
/**
 * Longer segments are not split, because trying each position takes quadratic time. They are runs of marks that no language
 * has.
 */
const cutUnitsMax = 32;
/** NFKC neither changes characters up to this one nor joins them with a preceding one. */
const plainMax = 0x7f;

/**
 * Normalizes a text in segments, between which NFKC joins no characters. The concatenated segments are the normalized text.
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
 * The first position where a segment can be split because NFKC does not join the parts.
 * @returns the length of the segment if there is none
 */
function firstCut(segment: string): number {
  if (segment.length > cutUnitsMax) return segment.length;
  const normal = segment.normalize('NFKC');
  for (let at = unitsAt(segment, 0); at < segment.length; at += unitsAt(segment, at)) {
    if (segment.slice(0, at).normalize('NFKC') + segment.slice(at).normalize('NFKC') === normal) return at;
  }
  return segment.length;
}

/** True if NFKC joins a character with the preceding text, or may reorder them. */
function isJoined(before: string, character: string): boolean {
  const normal = character.normalize('NFKC');
  if (mark.test(normal)) return true;
  return (before + character).normalize('NFKC') !== before.normalize('NFKC') + normal;
}

function unitsAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}
