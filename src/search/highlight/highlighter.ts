/** Highlights: finds the words in the texts of an item that match a search, and marks them. */
import type { Json, JsonObject } from '../../contract/json.ts';
import { queryPageUnitsMax } from '../../contract/limits.ts';
import { type Steps, Suspended, workBudget } from '../../lib/cooperative-yield.ts';
import type { Analyzer } from '../analysis/analyzer.ts';
import { textOfHtml } from '../analysis/html-text.ts';
import type { CheckedHighlight, CheckedQuery } from '../checked-query.ts';
import { sentValue } from '../fields/paths.ts';
import { type MatchPlace, markedText } from './marked-text.ts';
import { sourceWords, type WordVisitor } from './source-words.ts';
import { type WordMatch, WordMatcher } from './word-matcher.ts';

/** Name of the row member for highlights. */
export const highlightsName = '_highlights';

/** The cost of reading a byte of JSON text, in units of the work budget. */
const unitsPerByte = 5;

/**
 * Adds `_highlights` to the fields of items (docs/reference/indexes-and-queries.md "Highlights"). It only uses the words of the
 * items, so it needs no index and returns the same in any shard.
 */
export class Highlighter {
  readonly #highlight: CheckedHighlight;
  readonly #matchers: ReadonlyMap<string, WordMatcher>;
  #unitsLeft = queryPageUnitsMax;

  private constructor(highlight: CheckedHighlight, matchers: ReadonlyMap<string, WordMatcher>) {
    this.#highlight = highlight;
    this.#matchers = matchers;
  }

  /** The highlighter of a query; null if it has no highlights. @param analyzerOf returns the analyzer of a field */
  static of(
    { search, highlight }: CheckedQuery,
    analyzerOf: (field: string) => Analyzer,
  ): Highlighter | null {
    if (search === null || highlight === null) return null;
    const matchers = highlight.fields.map((field) => {
      return [field, WordMatcher.of(search, analyzerOf(field))] as const;
    });
    return new Highlighter(highlight, new Map(matchers));
  }

  /** True if the limit of a page was exceeded. Then the last highlights are truncated. */
  get isExceeded(): boolean {
    return this.#unitsLeft < 0;
  }

  /** JSON text of an item's fields, with the highlights as a further member. */
  *highlighted(fieldsBytes: Buffer): Steps<Buffer> {
    const text = fieldsBytes.toString();
    workBudget.units += unitsPerByte * fieldsBytes.length;
    const fields = JSON.parse(text) as JsonObject;
    const members: string[] = [];
    for (const [field, matcher] of this.#matchers) {
      const made = sentValue(fields, field);
      const value = made instanceof Suspended ? yield* made.steps : made;
      const marked = yield* this.#marked(value, matcher);
      if (marked !== null) members.push(`${JSON.stringify(field)}:${JSON.stringify(marked)}`);
    }
    // A field of an auto-indexed type may have the same name.
    const isTaken = Object.hasOwn(fields, highlightsName);
    if (isTaken) delete fields[highlightsName];
    const own = isTaken ? JSON.stringify(fields) : text;
    const head = own === '{}' ? '{' : `${own.slice(0, -1)},`;
    return Buffer.from(`${head}"${highlightsName}":{${members.join()}}}`);
  }

  /** The value with marks; all texts of a list. Null if no word matches. */
  *#marked(value: Json, matcher: WordMatcher): Steps<Json> {
    const sent = (Array.isArray(value) ? value : [value]).filter((item) => typeof item === 'string');
    const texts: string[] = [];
    for (const text of sent) texts.push(matcher.isHtml ? yield* textOfHtml(text) : text);
    const matches: MatchPlace[][] = [];
    for (const text of texts) matches.push(yield* matchesIn(text, matcher));
    if (matches.every(({ length }) => length === 0)) return null;
    const marked: string[] = [];
    for (const [at, text] of texts.entries()) {
      if (this.isExceeded) break;
      const one = yield* markedText(text, this.#fitting(matches[at] ?? []), this.#highlight);
      this.#unitsLeft -= one.length;
      marked.push(one);
      if (workBudget.isOver()) yield;
    }
    return Array.isArray(value) ? marked : (marked[0] ?? null);
  }

  /** As many matches as fit into a page, because marks may be long. */
  #fitting(matches: MatchPlace[]): MatchPlace[] {
    const { before, after } = this.#highlight;
    const count = Math.ceil(queryPageUnitsMax / (before.length + after.length + 1));
    return matches.length <= count ? matches : matches.slice(0, count);
  }
}

/** A word of a text that may still become part of a phrase. */
interface Pending {
  readonly start: number;
  readonly end: number;
  match: WordMatch | null;
}

/** The matching words of a text, in order. Words from the same character of the text, as with ½, are merged. */
export function* matchesIn(text: string, matcher: WordMatcher): Steps<MatchPlace[]> {
  const matches: MatchPlace[] = [];
  const pending: Pending[] = [];
  const pendingMax = matcher.phrases?.wordsMax ?? 0;
  const phrasesAt = matcher.phrases?.walk();
  const visit: WordVisitor = (raw, start, end) => {
    const word = matcher.word(raw);
    if (word === '') return;
    pending.push({ start, end, match: matcher.match(word) });
    for (const { term, words } of phrasesAt?.(word) ?? []) {
      for (const one of pending.slice(-words.length)) one.match = closer(one.match, matcher.match(term));
    }
    if (pending.length > pendingMax) settle(pending.shift(), matches);
  };
  yield* sourceWords(text, visit, matcher.letters);
  for (const one of pending) settle(one, matches);
  return matches;
}

/** Merges two matches of a word, with the edits of the closer one. */
function closer(one: WordMatch | null, other: WordMatch | null): WordMatch | null {
  if (one === null || other === null) return one ?? other;
  return {
    queryWords: [...new Set([...one.queryWords, ...other.queryWords])],
    edits: Math.min(one.edits, other.edits),
  };
}

function settle(one: Pending | undefined, matches: MatchPlace[]): void {
  if (one === undefined || one.match === null) return;
  const { start, end, match } = one;
  const last = matches.at(-1);
  if (last === undefined || last.end <= start) {
    matches.push({ queryWords: match.queryWords, edits: match.edits, start, end });
    return;
  }
  const both = closer(last, match) ?? last;
  matches[matches.length - 1] = { ...both, start: last.start, end: Math.max(end, last.end) };
}
