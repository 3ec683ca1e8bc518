/** Between the words of a phrase, where it is one term: no word has a space. */
const joint = ' ';

/** Several words as one term. */
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

/** Takes the next word of a text. @returns the phrases that end with it */
export type PhraseWalk = (word: string) => readonly Phrase[];

const none: readonly Phrase[] = [];

/** Finds words that are next to each other in a text. */
export class PhraseFinder {
  readonly #byLastWord = new Map<string, Phrase[]>();
  /** Words of the longest phrase. */
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

  /** Begins a text. */
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
