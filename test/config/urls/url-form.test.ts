import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { normalizeUrl, pathInForm } from '../../../src/config/urls/url.ts';

function folded(url: string): string {
  return pathInForm(normalizeUrl(url)?.path ?? '', 'folded');
}

test('URL form: a folded path is in lower case, whatever its notation', () => {
  const cases: [string, string][] = [
    ['/', '/'],
    ['/About-US/Team', '/about-us/team'],
    ['https://WWW.Example.com/About/?Q=A#B', '/about?Q=A'],
    ['/%41bc', '/abc'],
    ['/Ærø', '/%C3%A6r%C3%B8'],
    ['/%C3%86R%C3%98', '/%C3%A6r%C3%B8'],
    ['/a%2FB', '/a%2Fb'],
    ['/a%2fB', '/a%2Fb'],
    ['/100%25OFF', '/100%25off'],
    ['/A%FFB', '/a%FFb'],
    ['/A%C3%28', '/a%C3('],
    ['/%ED%A0%80X', '/%ED%A0%80x'],
    ['/\u212A', '/k'],
    ['/ΟΔΟΣ', '/%CE%BF%CE%B4%CE%BF%CF%82'],
  ];
  for (const [url, wanted] of cases) assert.equal(folded(url), wanted, url);
});

test('URL form: the exact form of a path is its normalized form', () => {
  const path = normalizeUrl('/About/%c3%86')?.path ?? '';
  assert.equal(pathInForm(path, 'exact'), '/About/%C3%86');
});

test('URL form: folding is lower-casing of the decoded path, like a slow implementation by segments', () => {
  const segment = fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => text.toWellFormed());
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 4 }), (segments) => {
      const url = `/${segments.map(encodeURIComponent).join('/')}`;
      // A byte that is not a letter stays separate, like a slash between segments.
      const slow = `/${segments.map((text) => encodeURIComponent(text.toLowerCase())).join('/')}`;
      assert.equal(folded(url), normalizeUrl(slow)?.path);
    }),
    { examples: [[['ΑΣ', 'Σ']], [['İ']], [['a/B', '%C3']]] },
  );
});

test('URL form: a folded path is normalized, and folding it again changes nothing', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (text) => {
      const path = folded(`/${text}`);
      assert.equal(normalizeUrl(path)?.path, path);
      assert.equal(pathInForm(path, 'folded'), path);
    }),
  );
});
