import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { languageOf, tokenLines, tokensOf } from '../../../src/console/parts/tokens.ts';

const shown = (text: string, language: 'json' | 'code') =>
  tokensOf(text, language)
    .filter(({ kind }) => kind !== 'plain')
    .map(({ kind, text: part }) => `${kind} ${part}`);

test('highlight: JSON has names, strings, numbers and keywords', () => {
  assert.deepEqual(shown('{"a\\"b": ["c: \\"", -1.5e3, null, true], "d" : "{p.e}"}', 'json'), [
    'name "a\\"b"',
    'string "c: \\""',
    'number -1.5e3',
    'keyword null',
    'keyword true',
    'name "d"',
    'string "{p.e}"',
  ]);
});

test('highlight: code has comments, strings, templates, regular expressions and keywords', () => {
  const code = [
    'const a = b.default / 2 / c; // "no string"',
    '/* two',
    'lines */ return `x $1 \\` y`;',
    "f('it\\'s', /['\"/]+/g);",
    'export default { title: x };',
  ].join('\n');
  assert.deepEqual(shown(code, 'code'), [
    'keyword const',
    'number 2',
    'comment // "no string"',
    'comment /* two\nlines */',
    'keyword return',
    'string `x $1 \\` y`',
    "string 'it\\'s'",
    'string /[\'"/]+/g',
    'keyword export',
    'keyword default',
    'name title',
  ]);
});

test('highlight: an unterminated token ends with its line', () => {
  assert.deepEqual(shown('{"a": "b\n"c": 1}', 'json'), ['name "a"', 'string "b', 'name "c"', 'number 1']);
  assert.deepEqual(shown('x = "a\nlet', 'code'), ['string "a', 'keyword let']);
  assert.deepEqual(shown('/* a', 'code'), ['comment /* a']);
});

test('highlight: no character is lost, in any text and in our own source', () => {
  const joined = (tokens: readonly { readonly text: string }[]) => tokens.map(({ text }) => text).join('');
  const own = readFileSync(new URL(import.meta.url), 'utf8');
  const characters = fc.string({ unit: fc.constantFrom(...'"\'`/*\\[]{}:.,=\n a1$tru') });
  const isWhole = (text: string) => {
    for (const language of ['json', 'code', 'plain'] as const) {
      assert.equal(joined(tokensOf(text, language)), text);
      assert.equal(tokenLines(text, language).map(joined).join('\n'), text);
    }
  };
  isWhole(own);
  fc.assert(fc.property(characters, isWhole));
  isWhole('x'.repeat(200_000));
});

test('highlight: the language follows from the file extension', () => {
  const paths = ['tenant.json', 'schemas/a.full.ts', 'lib/b.mjs', 'c.md'];
  assert.deepEqual(paths.map(languageOf), ['json', 'code', 'code', 'plain']);
});
