import type { Steps } from '../../lib/cooperative-yield.ts';
import type { MatchPlace } from './passage.ts';
import { sourceWords, type WordVisitor } from './source-words.ts';
import type { WordMatch, WordMatcher } from './word-matcher.ts';

/** A word of a text that may still turn out to be one of a phrase. */
interface Pending {
  readonly start: number;
  readonly end: number;
  match: WordMatch | null;
}

/** The matching words of a text, in order. Words that share a character of the text, such as those of ½, are one. */
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

/** Both matches of a word, with the edits of the closer one. */
function closer(one: WordMatch | null, other: WordMatch | null): WordMatch | null {
  if (one === null || other === null) return one ?? other;
  return { asked: [...new Set([...one.asked, ...other.asked])], edits: Math.min(one.edits, other.edits) };
}

function settle(one: Pending | undefined, matches: MatchPlace[]): void {
  if (one === undefined || one.match === null) return;
  const { start, end, match } = one;
  const last = matches.at(-1);
  if (last === undefined || last.end <= start) {
    matches.push({ asked: match.asked, edits: match.edits, start, end });
    return;
  }
  const both = closer(last, match) ?? last;
  matches[matches.length - 1] = { ...both, start: last.start, end: Math.max(end, last.end) };
}
