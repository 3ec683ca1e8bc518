/** Letters with a stroke or two letters in one, which NFKD does not take apart. */
export const foldedLetters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ı: 'i',
};

/** How German and Danish write their letters without them: in NFKD, so that other marks on them change nothing. */
const writtenOut: Readonly<Record<string, string>> = {
  'a\u0308': 'ae',
  'o\u0308': 'oe',
  'u\u0308': 'ue',
  'a\u030a': 'aa',
  æ: 'ae',
  ø: 'oe',
};
const toBeWrittenOut = /[aou]\u0308|a\u030a|[æø]/g;

const plain = /^[ -~]*$/;
const mark = /^\p{M}/u;
const someMark = /\p{M}/u;
/** Letters of other scripts are others without their marks. */
const losesMarks = /[\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Hebrew}\p{sc=Arabic}]/u;

/** A lower-cased word without its accents (docs/reference/indexes-and-queries.md "Words of a field"). */
export function foldAccents(word: string, folding: true | 'de' | 'da' = true): string {
  if (plain.test(word)) return word;
  const apart = word.normalize('NFKD');
  const written =
    folding === true ? apart : apart.replace(toBeWrittenOut, (letter) => writtenOut[letter] ?? letter);
  // What NFKD took apart besides accents, such as the syllables of Korean, is put together again: its length counts.
  return withoutMarks(written)
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
