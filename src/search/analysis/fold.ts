/** Ligatures and letters with a stroke, which NFKD does not decompose. */
export const foldedLetters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ı: 'i',
};

/** German and Danish transliterations, keyed in NFKD so that additional marks do not matter. */
const transliterations: Readonly<Record<string, string>> = {
  'a\u0308': 'ae',
  'o\u0308': 'oe',
  'u\u0308': 'ue',
  'a\u030a': 'aa',
  æ: 'ae',
  ø: 'oe',
};
const transliteratedLetter = /[aou]\u0308|a\u030a|[æø]/g;

const plain = /^[ -~]*$/;
const mark = /^\p{M}/u;
const someMark = /\p{M}/u;
/** Scripts whose letters stay the same letters without their marks. */
const losesMarks = /[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Hebrew}\p{sc=Arabic}]/u;

/** A lower-cased word without its accents (docs/reference/indexes-and-queries.md "Words of a field"). */
export function foldAccents(word: string, folding: true | 'de' | 'da' = true): string {
  if (plain.test(word)) return word;
  const decomposed = word.normalize('NFKD');
  const spelled =
    folding === true
      ? decomposed
      : decomposed.replace(transliteratedLetter, (letter) => transliterations[letter] ?? letter);
  // Recomposes what NFKD decomposed besides accents, such as Korean syllables, because the length of a word matters.
  return withoutMarks(spelled)
    .replace(/[ßæœøłđı]/g, (letter) => foldedLetters[letter] ?? letter)
    .normalize('NFC');
}

function withoutMarks(word: string): string {
  if (!someMark.test(word)) return word;
  let kept = '';
  let isLost = false;
  for (const character of word) {
    if (mark.test(character)) {
      if (!isLost) kept += character;
      continue;
    }
    isLost = losesMarks.test(character);
    kept += character;
  }
  return kept;
}
