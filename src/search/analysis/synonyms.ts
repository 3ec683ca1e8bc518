import type { Synonym } from '../../schemas/definition/index-texts.ts';
import { isPhrase, PhraseFinder, phraseTerm } from './phrase-finder.ts';

/** The synonyms of an index, as the words of a field are written. */
export class SynonymTable {
  /** Terms that a term finds besides itself. */
  readonly #targets = new Map<string, Set<string>>();
  readonly #sources: PhraseFinder;
  /** The terms of several words that can be found. */
  readonly phrases: readonly string[];

  /** @param wordsOf the words of a text as the field writes them */
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

  /** For each word of a query, the terms that its synonyms find: its own, and those of the phrases that it is in. */
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
