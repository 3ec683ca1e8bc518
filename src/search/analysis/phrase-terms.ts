/** Phrases (adjacent words) as single terms, and the synonyms of an index, which may be phrases. */
import type { Synonym } from '../../schemas/definition/index-texts.ts';

/** Separates the words of a phrase in its term. Words contain no spaces. */
const joint = ' ';

/** The term of a phrase. */
export function phraseTerm(words: readonly string[]): string {
  return words.join(joint);
}

export function isPhrase(term: string): boolean {
  return term.includes(joint);
}

export interface Phrase {
  readonly term: string;
  readonly words: readonly string[];
}

/** Receives the next word of a text. @returns the phrases that end with it */
export type PhraseWalk = (word: string) => readonly Phrase[];

const none: readonly Phrase[] = [];

/** Finds phrases in a text. */
export class PhraseFinder {
  readonly #byLastWord = new Map<string, Phrase[]>();
  /** Number of words of the longest phrase. */
  readonly wordsMax: number;

  /** @param terms from `phraseTerm` */
  constructor(terms: Iterable<string>) {
    let wordsMax = 0;
    for (const term of terms) {
      const words = term.split(joint);
      const last = words.at(-1) ?? '';
      const known = this.#byLastWord.get(last) ?? [];
      this.#byLastWord.set(last, known);
      known.push({ term, words });
      wordsMax = Math.max(wordsMax, words.length);
    }
    this.wordsMax = wordsMax;
  }

  /** Starts a new text. */
  walk(): PhraseWalk {
    const window: string[] = [];
    return (word) => {
      window.push(word);
      if (window.length > this.wordsMax) window.shift();
      return this.#byLastWord.get(word)?.filter(({ words }) => isEnd(window, words)) ?? none;
    };
  }
}

function isEnd(window: readonly string[], words: readonly string[]): boolean {
  const from = window.length - words.length;
  return from >= 0 && words.every((word, at) => window[from + at] === word);
}

/** The synonyms of an index, normalized for a field. */
export class SynonymTable {
  /** Term -> further terms that it finds. */
  readonly #targets = new Map<string, Set<string>>();
  readonly #sources: PhraseFinder;
  /** Phrases that synonyms can find. */
  readonly phrases: readonly string[];

  /** @param wordsOf returns the words of a text as the field indexes them */
  constructor(synonyms: readonly Synonym[], wordsOf: (text: string) => readonly string[]) {
    const termOf = (text: string) => phraseTerm(wordsOf(text));
    const phrases = new Set<string>();
    for (const { from, to } of synonyms) {
      const targets = to.map(termOf).filter((term) => term !== '');
      for (const target of targets) if (isPhrase(target)) phrases.add(target);
      for (const source of from.map(termOf)) {
        if (source === '') continue;
        const known = this.#targets.get(source) ?? new Set();
        this.#targets.set(source, known);
        for (const target of targets) if (target !== source) known.add(target);
      }
    }
    this.#sources = new PhraseFinder(this.#targets.keys());
    this.phrases = [...phrases];
  }

  /** For each word of a query, the terms of its own synonyms and of those of phrases that contain it. */
  of(words: readonly string[]): ReadonlySet<string>[] {
    const found = words.map(() => new Set<string>());
    const next = this.#sources.walk();
    for (const [at, word] of words.entries()) {
      for (const phrase of next(word)) {
        for (const target of this.#targets.get(phrase.term) ?? []) {
          for (const one of found.slice(at + 1 - phrase.words.length, at + 1)) one.add(target);
        }
      }
    }
    return found;
  }
}
