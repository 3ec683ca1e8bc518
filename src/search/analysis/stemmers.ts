import { createRequire } from 'node:module';
import type { Stemmer } from 'snowball-stemmers';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import type { Language } from '../../schemas/definition/index-texts.ts';

const algorithms: Readonly<Record<Language, string>> = {
  da: 'danish',
  de: 'german',
  en: 'english',
  es: 'spanish',
  fi: 'finnish',
  fr: 'french',
  it: 'italian',
  nl: 'dutch',
  no: 'norwegian',
  pt: 'portuguese',
  sv: 'swedish',
};

/** No word of a language is longer. The time of a stemmer grows with the length. */
const stemmedUnitsMax = 64;
const stemsKept = 20_000;

/** Gives the stem of a lower-cased word. Null: the word is too long to have one. */
export type Stem = (word: string) => string | null;

const known = new Map<Language, Stem>();

/** The Snowball stemmer of a language. Stems that were asked for lately are remembered. */
export function stemmerOf(language: Language): Stem {
  const made = known.get(language) ?? makeStem(language);
  known.set(language, made);
  return made;
}

function makeStem(language: Language): Stem {
  const stems = new BoundedCache<string, string>({ entriesMax: stemsKept });
  const stemmer = newStemmer(algorithms[language]);
  return (word) => (word.length > stemmedUnitsMax ? null : stems.getOrMake(word, () => stemmer.stem(word)));
}

/** The package takes 50 ms and 3 MB to load, so it is loaded by the first field that has a language. */
function newStemmer(algorithm: string): Stemmer {
  const load: (name: string) => unknown = createRequire(import.meta.url);
  const snowball = load('snowball-stemmers') as typeof import('snowball-stemmers');
  return snowball.newStemmer(algorithm);
}
