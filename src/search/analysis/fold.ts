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

const plain = /^[ -~]*$/;

/** A lower-cased word without its accents (docs/reference/indexes-and-queries.md "Words of a field"). It may be empty. */
export function foldAccents(word: string): string {
  if (plain.test(word)) return word;
  // What NFKD took apart besides accents, such as the syllables of Korean, is put together again: its length counts.
  return word
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[ßæœøłđı]/g, (letter) => foldedLetters[letter] ?? letter)
    .normalize('NFC');
}
