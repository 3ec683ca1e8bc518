import { pace, type Steps } from '../../lib/pace.ts';
import { endOfPiece } from '../text/words.ts';

/**
 * Takes a word of a text. `start` and `end` are UTF-16 units of the text as it was sent: the first of the word, and the
 * first behind it.
 */
export type WordVisitor = (word: string, start: number, end: number) => void;

/** The cost of reading a unit of a text, in units of the pace. */
const unitsPerUnit = 20;
const separator = /[^\p{L}\p{M}\p{Nd}]/gu;

/** Visits the words of a text as `wordsOf` cuts them, in order, with their places. */
export function* sourceWords(text: string, visit: WordVisitor): Steps<void> {
  for (let from = 0; from < text.length; ) {
    const end = endOfPiece(text, from);
    const piece = text.slice(from, end);
    const normal = piece.normalize('NFKC');
    const places = normal === piece ? null : yield* placesOf(piece);
    for (let at = 0; at < normal.length; ) {
      separator.lastIndex = at;
      const behind = separator.exec(normal);
      const stop = behind?.index ?? normal.length;
      if (stop > at) {
        const start = places === null ? at : (places.starts[at] ?? 0);
        const wordEnd = places === null ? stop : (places.ends[stop - 1] ?? 0);
        visit(normal.slice(at, stop).toLowerCase(), from + start, from + wordEnd);
      }
      const next = stop + (behind?.[0].length ?? 0);
      pace.units += unitsPerUnit * (next - at);
      at = next;
      if (pace.isOver()) yield;
    }
    from = end;
  }
}

/** For each unit of a normalised text, the units of the source that it comes from. */
interface Places {
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

const mark = /^\p{M}/u;
/** Of longer segments, which are runs of marks that no language has, only the first character is looked at. */
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
    pace.units += unitsPerUnit * (end - start);
    start = end;
    if (pace.isOver()) yield;
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
 * Where a segment falls into two that NFKC does not join, at the earliest: marks may change nothing of what they stand
 * behind. @returns the length of the segment when it does not
 */
function firstCut(segment: string): number {
  const normal = segment.normalize('NFKC');
  for (let at = unitsAt(segment, 0); at < segment.length; at += unitsAt(segment, at)) {
    if (segment.slice(0, at).normalize('NFKC') + segment.slice(at).normalize('NFKC') === normal) return at;
    if (segment.length > cutUnitsMax) break;
  }
  return segment.length;
}

/** True when NFKC joins a character with what stands in front of it, or may change their order. */
function isJoined(before: string, character: string): boolean {
  const normal = character.normalize('NFKC');
  if (mark.test(normal)) return true;
  return (before + character).normalize('NFKC') !== before.normalize('NFKC') + normal;
}

function unitsAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}
