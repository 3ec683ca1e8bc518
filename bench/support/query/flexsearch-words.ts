/** How FlexSearch's encoders normalize words, and which words they match differently from the reference. */
import { Charset, Encoder, type EncoderOptions } from 'flexsearch';
import english from 'flexsearch/lang/en';
import { Analyzer, foldedLetters } from '../../../src/search/analysis/analyzer.ts';
import { wordsOf } from '../../../src/search/analysis/words.ts';

/** A way to normalize the words of a text: words with the same form match each other. */
export interface Writing {
  readonly name: string;
  readonly write: (text: string) => readonly string[];
  /** The one that does what the reference promises (docs/reference/indexes-and-queries.md "Words of a field"). */
  readonly promised: (text: string) => readonly string[];
}

/** Without the cache, which needs a timer and serves repeated texts. */
function encoder(...options: EncoderOptions[]): Writing['write'] {
  const made = new Encoder();
  for (const option of [...options, { cache: false }]) made.assign(option);
  return (text) => made.encode(text);
}

const folding = new Analyzer({ language: null, foldAccents: true });
const stemming = new Analyzer({ language: 'en', foldAccents: false });
const folded = (text: string) => wordsOf(text).map((word) => folding.word(word));
const stemmed = (text: string) => wordsOf(text).flatMap((word) => stemming.stem?.(word) ?? []);
/** Options that would break other guarantees are off: double letters count, and numbers are not split. */
const letters: EncoderOptions = { dedupe: false, numeric: false };

export const writings: readonly Writing[] = [
  { name: 'words: ours, `Encoder` with all else off', write: wordsOf, promised: wordsOf },
  { name: 'words: `Encoder` as it comes', write: encoder(), promised: wordsOf },
  { name: 'folding: ours', write: folded, promised: folded },
  { name: 'folding: `Charset.Normalize`', write: encoder(Charset.Normalize), promised: folded },
  {
    name: 'folding: that, `dedupe` and `numeric` off',
    write: encoder(Charset.Normalize, letters),
    promised: folded,
  },
  {
    name: 'folding: that, with a `mapper` of our letters',
    write: encoder(Charset.Normalize, letters, { mapper: new Map(Object.entries(foldedLetters)) }),
    promised: folded,
  },
  { name: 'folding: `Charset.LatinBalance`', write: encoder(Charset.LatinBalance), promised: folded },
  { name: 'English: ours', write: stemmed, promised: stemmed },
  { name: 'English: language pack', write: encoder(english), promised: stemmed },
  { name: 'English: that, `dedupe` and `numeric` off', write: encoder(english, letters), promised: stemmed },
];

/** Pairs of distinct words with the same form. */
export interface Pairs {
  readonly promised: number;
  /** Of the promised ones, those that match. */
  readonly kept: number;
  /** Pairs that are not promised. */
  readonly others: number;
}

export function pairsOf({ write, promised }: Writing, words: readonly string[]): Pairs {
  const written = words.map((word) => write(word).join(' '));
  const wanted = words.map((word) => promised(word).join(' '));
  const kept = alike(words.map((_, at) => keyOf([written[at] ?? '', wanted[at] ?? ''])));
  return { promised: alike(wanted), kept, others: alike(written) - kept };
}

function keyOf([written, wanted]: readonly [string, string]): string {
  return written === '' || wanted === '' ? '' : `${written}\n${wanted}`;
}

/** Pairs of equal forms. An empty one is not a word. */
function alike(texts: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const text of texts) if (text !== '') counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts.values()].reduce((pairs, count) => pairs + (count * (count - 1)) / 2, 0);
}
