import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Letters } from '../../../src/search/analysis/word-segmentation.ts';
import {
  allowedDistance,
  cutterOf,
  isIndexable,
  wordPieces,
  wordsByUnits,
  wordsOf,
} from '../../../src/search/analysis/words.ts';
import { runs } from '../../support/runs.ts';
import { naiveWords } from '../support/naive-search.ts';

const runCount = runs(500);

test('words: words are runs of letters, marks and digits, each in NFKC and lower case, without duplicates', () => {
  assert.deepEqual(wordsOf('Hello, hello WORLD_2'), ['hello', 'world', '2']);
  assert.deepEqual(wordsOf('ﬁne ① x² Ⅷ'), ['fine', 'x', 'viii']);
  assert.deepEqual(wordsOf("l'été naïve 東京タワー"), ['l', 'été', 'naïve', '東京タワー']);
  assert.deepEqual(wordsOf('𝒜𝒷 😀x'), ['ab', 'x']);
  assert.deepEqual(wordsOf('\ud800a\udc00'), ['a']);
  assert.deepEqual(wordsOf(' -- '), []);
});

test('words: the words of any text are those of a regular expression', () => {
  const char = fc.constantFrom(...'aB é́ñ中文٣²ﬁⅧ😀𝒜_-\ud800\udc00İΣß');
  fc.assert(
    fc.property(
      fc.string({ unit: fc.oneof(char, fc.string({ minLength: 1, maxLength: 1, unit: 'binary' })) }),
      (text) => {
        assert.deepEqual(wordsOf(text), [...new Set(naiveWords(text))]);
      },
    ),
    { numRuns: runCount },
  );
});

test('words: a word of millions of characters neither overflows the stack nor is indexed', () => {
  assert.deepEqual(wordsOf(`short ${'é'.repeat(3_000_000)} end`), ['short', 'end']);
  const long = 'é'.repeat(4600);
  assert.deepEqual(wordsOf(long), [long]);
});

test('words: the number of edits that a word allows depends on its length in code points', () => {
  const lengths = [1, 2, 3, 5, 6, 50].map((length) => allowedDistance('😀'.repeat(length)));
  assert.deepEqual(lengths, [0, 0, 1, 1, 2, 2]);
});

test('words: the words of a text in order are those of a regular expression, including repeated ones', () => {
  assert.deepEqual(cutterOf('').cut('a a-B  b ½ ٣'), ['a', 'a', 'b', 'b', '٣']);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.deepEqual(cutterOf('').cut(text), naiveWords(text));
      assert.deepEqual(cutterOf('').cut(`${text} ${text}`), naiveWords(`${text} ${text}`));
    }),
    { numRuns: runs(300) },
  );
});

test('words: a large text has the same words in chunks and as a whole', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('a', 'é', '中文', 'ﬁ', ' ', '-', 'ΟΔΟΣ', 'x'.repeat(9000))),
      (parts) => {
        const text = parts.join('');
        assert.deepEqual(
          [...new Set([...wordPieces(text, cutterOf(''))].flat())].filter(isIndexable),
          wordsOf(text),
        );
      },
    ),
    { numRuns: runs(100) },
  );
});

test('words: a run of millions of separators has no words', () => {
  assert.deepEqual(wordsOf(`a${'-'.repeat(3_000_000)}b`), ['a', 'b']);
});

test('words: invisible characters are removed, a zero-width space separates, and a mark alone is not a word', () => {
  const titles = ['⚠️Achtung', '✈️NY', '❤️', '1️⃣ Step', '☎️030', 'Lego™', 'Acme℠', '①Anfang', 'H₂O', 'm²'];
  assert.deepEqual(
    titles.map((title) => wordsOf(title).join(' ')),
    ['achtung', 'ny', '', '1 step', '030', 'lego', 'acme', 'anfang', 'h o', 'm'],
  );
  assert.deepEqual(
    wordsOf('Ge\u00adsamt\u00adkon\u00adzept می\u200cخواهم foo\u2060bar \ufeffStart a\u200bb'),
    ['gesamtkonzept', 'میخواهم', 'foobar', 'start', 'a', 'b'],
  );
});

test('words: scripts without spaces are split at word boundaries, in runs of any length', () => {
  assert.deepEqual(wordsOf('東京都の観光案内'), ['東京', '都', 'の', '観光', '案内']);
  assert.deepEqual(wordsOf('ภาษาไทยอ่านยาก'), ['ภาษา', 'ไทย', 'อ่าน', 'ยาก']);
  assert.deepEqual(wordsOf('ｶﾞｽWifi'), ['ガス', 'wifi']);
  const long = '東京都の観光案内'.repeat(20_000);
  assert.deepEqual(
    [...new Set([...wordPieces(long, cutterOf(''))].flat())].sort(),
    wordsOf('東京都の観光案内').sort(),
  );
});

test('keep: the configured characters count as letters in any position', () => {
  const words = (text: string, keep = '#+') => cutterOf(keep).cut(text);
  assert.deepEqual(words('C++ for beginners, C#-in depth + a+b'), [
    'c++',
    'for',
    'beginners',
    'c#',
    'in',
    'depth',
    '+',
    'a+b',
  ]);
  assert.deepEqual(words('東京C++の観光'), ['東京', 'c++', 'の', '観光'], 'in scripts without spaces too');
  assert.deepEqual(words('Ge\u00adsamt+'), ['gesamt+']);
  assert.deepEqual(words('.NET Core 3.1', '.'), ['.net', 'core', '3.1']);
  assert.deepEqual(words('a-b]c^d\\e', '-]^\\'), ['a-b]c^d\\e']);
  const long = 'x+'.repeat(40_000);
  assert.deepEqual([...wordPieces(`${long} C++ ${long}`, cutterOf('+'))].flat(), [long, 'c++', long]);
});

test('wordsByUnits: each character, before others too, has the words of a regular expression', () => {
  // Those that NFKC joins with a letter before them.
  const joining = new Map<string, string>();
  for (let code = 0; code <= 0xffff; code += 1) {
    const [first = '', ...others] = String.fromCharCode(code).normalize('NFD');
    for (const other of others) joining.set(other, first);
  }
  for (let unit = 0; unit <= 0xffff; unit += 1) {
    const character = String.fromCharCode(unit);
    const text = `${joining.get(character) ?? 'a'}${character}`;
    assert.deepEqual(wordsByUnits(text) ?? naiveWords(text), naiveWords(text), `U+${unit.toString(16)}`);
  }
});

test('wordsByUnits: a text that it takes has the words of a regular expression', () => {
  const characters = [...'aZ é\u0301Σ٣-_ҐЙﬁⅧ中文東京カﾀﾞのภาษา한국\u1100\u1161\u11a8½™😀\u00ad'];
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...characters), maxLength: 12 }), (text) => {
      const words = wordsByUnits(text);
      assert.equal(words === null, /[😀\u00ad]/u.test(text));
      if (words !== null) assert.deepEqual(words, naiveWords(text));
    }),
    { numRuns: runCount },
  );
});

test('isRun: distinguishes runs from separators, with and without kept characters', () => {
  for (const letters of [new Letters(''), new Letters('+#')]) {
    for (let code = 0; code < 0x3000; code += 1) {
      const character = String.fromCharCode(code);
      assert.equal(letters.isRun(character), letters.inside.test(character), `U+${code.toString(16)}`);
    }
    assert.deepEqual(
      ['𝒜', '😀', '++', 'c+', '12'].map((piece) => letters.isRun(piece)),
      ['𝒜', '😀', '++', 'c+', '12'].map((piece) => letters.inside.test(piece.slice(0, 2))),
    );
  }
});
