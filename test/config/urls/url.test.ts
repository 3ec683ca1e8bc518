import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { candidatePaths, normalizeUrl } from '../../../src/config/urls/url.ts';
import { runs } from '../../support/runs.ts';
import { spentMs } from '../../support/spent.ts';

const segment = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'abZ09-._~%25/?#:@ é漢😀+,;="<>[]'), maxLength: 6 }),
  fc.constantFrom('..', '.', '%2e', '%C3%A9', '%zz', '%', '%%41', '%4%31', '\ud800'),
);
const path = fc.array(segment, { maxLength: 4 }).map((segments) => `/${segments.join('/')}`);
const plainPath = fc
  .array(fc.string({ unit: fc.constantFrom(...'abcXYZ019-._~é漢'), minLength: 1, maxLength: 5 }), {
    maxLength: 4,
  })
  .map((segments) => `/${segments.join('/')}`);
const host = fc.constantFrom(
  'example.com',
  'www.example.com',
  'localhost',
  '127.0.0.1',
  'a_b.example',
  '[::1]',
  'xn--mnchen-3ya.de',
);

function text(url: string): string {
  const normal = normalizeUrl(url);
  assert.ok(normal !== null, `no URL: ${url}`);
  return normal.host === null ? normal.path : `http://${normal.host}${normal.path}`;
}

test('URL: normalizing is idempotent', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        path,
        fc.tuple(host, path).map(([name, rest]) => `https://${name}${rest}`),
      ),
      (url) => {
        assert.equal(text(text(url)), text(url));
      },
    ),
    { numRuns: runs(2000) },
  );
});

test('URL: a normalized path is visible ASCII, starts with a slash and does not end with one', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        path,
        fc.string({ unit: 'binary' }).map((rest) => `/${rest}`),
      ),
      (url) => {
        const normal = normalizeUrl(url);
        const [normalPath = ''] = normal?.path.split('?') ?? [];
        assert.match(normal?.path ?? '', /^[!-~]+$/);
        assert.match(normalPath, /^\/$|^\/[!-~]*[!-.0-~]$/);
      },
    ),
    { numRuns: runs(2000) },
  );
});

test('URL: trailing slashes and fragments do not matter', () => {
  fc.assert(
    fc.property(plainPath, fc.webFragments(), fc.boolean(), (url, fragment, slash) => {
      assert.equal(text(`${url}${slash ? '/' : ''}#${fragment}`), text(url));
      assert.equal(text(`${url}#${fragment}?x`), text(url));
    }),
    { numRuns: runs(500) },
  );
});

test('URL: equivalent percent-encodings are equal', () => {
  const encoder = new TextEncoder();
  const written = plainPath.chain((plain) =>
    fc
      .array(fc.integer({ min: 0, max: 2 }), { minLength: plain.length, maxLength: plain.length })
      .map((ways) => {
        const characters = [...plain].map((character, index) => {
          if (character === '/' || ways[index] === 0) return character;
          const hex = [...encoder.encode(character)]
            .map((byte) => `%${byte.toString(16).padStart(2, '0')}`)
            .join('');
          return ways[index] === 1 ? hex : hex.toUpperCase();
        });
        return { plain, encoded: characters.join('') };
      }),
  );
  fc.assert(
    fc.property(written, ({ plain, encoded }) => {
      assert.equal(text(encoded), text(plain));
    }),
    { numRuns: runs(1000) },
  );
});

test('URL: the scheme, its default port and the case of the host do not matter', () => {
  fc.assert(
    fc.property(host, plainPath, (name, rest) => {
      const normal = text(`http://${name}${rest}`);
      assert.equal(text(`HTTPS://${name.toUpperCase()}:443${rest}`), normal);
      assert.equal(text(`http://${name}:080${rest}/`), normal);
    }),
    { numRuns: runs(300) },
  );
});

test('URL: different paths stay different', () => {
  fc.assert(
    fc.property(plainPath, plainPath, (one, other) => {
      assert.equal(text(one) === text(other), one === other);
    }),
    { numRuns: runs(1000) },
  );
});

test('URL: a table of URLs', () => {
  const cases: [string, string | null, string][] = [
    ['/', null, '/'],
    ['/?q=1', null, '/?q=1'],
    ['//', null, '/'],
    ['/a//b/', null, '/a//b'],
    ['/a///', null, '/a'],
    ['/a/../b', null, '/a/../b'],
    ['/A', null, '/A'],
    ['/caf%c3%a9', null, '/caf%C3%A9'],
    ['/café', null, '/caf%C3%A9'],
    ['/a b', null, '/a%20b'],
    ['/a%20b', null, '/a%20b'],
    ['/a+b', null, '/a+b'],
    ['/%7euser', null, '/~user'],
    ['/a%2cb', null, '/a,b'],
    ['/a%2fb', null, '/a%2Fb'],
    ['/a%3fb', null, '/a%3Fb'],
    ['/100%', null, '/100%25'],
    ['/100%25', null, '/100%25'],
    ['/%ff%FE', null, '/%FF%FE'],
    ['/\ud800', null, '/%EF%BF%BD'],
    ['https://www.Example.com', 'www.example.com', '/'],
    ['https://www.example.com?x=/a', 'www.example.com', '/?x=/a'],
    ['http://user:p@ss@example.com./x', 'example.com', '/x'],
    ['https://münchen.de/ä', 'xn--mnchen-3ya.de', '/%C3%A4'],
    ['https://example.com:80/', 'example.com:80', '/'],
    ['http://localhost:3000/a/', 'localhost:3000', '/a'],
    ['http://[2001:DB8::0:1]:80/a', '[2001:db8::1]', '/a'],
  ];
  for (const [url, expectedHost, expectedPath] of cases) {
    assert.deepEqual(normalizeUrl(url), { host: expectedHost, path: expectedPath }, url);
  }
});

test('URL: two query strings are equal if their parameters are, in any order and notation', () => {
  const equal: [string, string][] = [
    ['/a?x=1&y=2', '/a/?y=2&x=1#z'],
    ['/a?x', '/a?x='],
    ['/a?&&x=1&', '/a?x=1'],
    ['/a?', '/a'],
    ['/a?&', '/a'],
    ['/a?q=b+c', '/a?q=b%20c'],
    ['/a?q=%62=', '/a?q=b%3d'],
    ['/a?q=caf\u00e9', '/a?q=cafe%CC%81'],
    ['/a?q=/?:@', '/a?q=%2F%3F%3A%40'],
  ];
  for (const [one, other] of equal) assert.equal(text(one), text(other), one);
  const different: [string, string][] = [
    ['/a?x=1', '/a'],
    ['/a?x=1', '/a?x=2'],
    ['/a?x=1', '/a?X=1'],
    ['/a?x=1', '/a?x=1&x=1'],
    ['/a?x=1', '/a%3Fx=1'],
    ['/a?x=1%26y=2', '/a?x=1&y=2'],
    ['/a?x=1%2B1', '/a?x=1+1'],
    ['/a#?x=1', '/a?x=1'],
  ];
  for (const [one, other] of different) assert.notEqual(text(one), text(other), one);
});

test('URL: a request matches claims with its query string first, then claims without one', () => {
  assert.deepEqual(candidatePaths('/a'), ['/a']);
  assert.deepEqual(candidatePaths('/a?x=1'), ['/a?x=1', '/a']);
});

test('URL: an invalid URL is null', () => {
  for (const url of [
    '',
    'a',
    'a/b',
    '?x',
    'ftp://a/b',
    'http:/a',
    'http://',
    'https:///a',
    'javascript:alert(1)',
    ' /a',
    'http://a b/',
    'http://a:b/',
    'http://a:99999/',
    'http://*/a',
    'http://a:1:2/',
    'http://[::1/',
  ]) {
    assert.equal(normalizeUrl(url), null, url);
  }
});

test('URL: a hostile URL takes linear time', () => {
  const startedMs = spentMs();
  for (const piece of ['@', '%', '/', ':', '%4', '?', '[', '&', '=', '+']) {
    normalizeUrl(`http://${piece.repeat(200_000)}`);
    normalizeUrl(`/${piece.repeat(200_000)}a`);
    normalizeUrl(`/?${piece.repeat(200_000)}a`);
  }
  assert.ok(spentMs() - startedMs < 5_000);
});
