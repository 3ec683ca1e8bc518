import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AllowedOrigins, originPattern } from '../../../src/config/urls/origins.ts';

function allows(patterns: readonly string[], origin: string): boolean {
  return new AllowedOrigins(
    patterns.map((text) => originPattern(text) ?? assert.fail(`${text} is no pattern`)),
  ).allows(origin);
}

test('origins: an origin is allowed if a pattern names it, whatever its case and default port', () => {
  for (const [pattern, origin] of [
    ['https://www.example.com', 'https://www.example.com'],
    ['HTTPS://WWW.Example.COM', 'https://www.example.com'],
    ['https://www.example.com:443', 'https://www.example.com'],
    ['http://www.example.com:80', 'http://www.example.com'],
    ['http://www.example.com:443', 'http://www.example.com:443'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
    ['http://[0:0:0:0:0:0:0:1]:3000', 'http://[::1]:3000'],
    ['http://127.0.0.1:*', 'http://127.0.0.1:8080'],
    ['https://bücher.example', 'https://xn--bcher-kva.example'],
    ['https://*.bücher.example', 'https://shop.xn--bcher-kva.example'],
    ['capacitor://localhost', 'capacitor://localhost'],
    ['https://*', 'https://intranet'],
  ] as const) {
    assert.equal(allows([pattern], origin), true, `${pattern} ${origin}`);
  }
});

test('origins: a * is one label or any port, and nothing else', () => {
  const labels = ['https://*.example.com'];
  assert.equal(allows(labels, 'https://a.example.com'), true);
  for (const origin of [
    'https://example.com',
    'https://a.b.example.com',
    'https://.example.com',
    'https://a.example.com:8443',
    'http://a.example.com',
    'https://a.example.com.evil.example',
    'https://evil.example#.example.com',
    'https://evil.example/.example.com',
    'https://a.exampleXcom',
    'https://a@b.example.com',
    'https://a.example.com\n',
    'null',
    '',
  ]) {
    assert.equal(allows(labels, origin), false, origin);
  }
  const ports = ['http://localhost:*'];
  for (const origin of ['http://localhost', 'http://localhost:1', 'http://localhost:65535'])
    assert.equal(allows(ports, origin), true, origin);
  for (const origin of ['http://localhost:', 'http://localhost:123456', 'http://localhost:3000.evil.example'])
    assert.equal(allows(ports, origin), false, origin);
});

test('origins: an empty list allows nothing', () => {
  assert.equal(allows([], 'https://www.example.com'), false);
  assert.equal(allows([], ''), false);
});

test('origins: an invalid pattern is rejected', () => {
  for (const text of [
    '*',
    'null',
    '',
    'www.example.com',
    'https://',
    'https://www.example.com/',
    'https://www.example.com/a',
    'https://www.example.com?a',
    'https://user@www.example.com',
    'https://a*.example.com',
    'https://**.example.com',
    'https://www.example.com:65536',
    'https://www.example.com:',
    'https://www.example.com:80*',
    '*://www.example.com',
    'https://www.exam ple.com',
    'https://www.example.com\r\nX: y',
    'https://[::1',
    'https://a..example.com',
  ]) {
    assert.equal(originPattern(text), null, text);
  }
});

test('origins: patterns allow what a comparison label by label allows', () => {
  const label = fc.constantFrom('a', 'b', 'com');
  const host = fc.array(label, { minLength: 1, maxLength: 4 });
  const port = fc.constantFrom('', ':1', ':22');
  const patternHost = fc.array(fc.oneof(label, fc.constant('*')), { minLength: 1, maxLength: 4 });
  const patternPort = fc.constantFrom('', ':1', ':22', ':*');
  fc.assert(
    fc.property(
      host,
      port,
      fc.array(fc.tuple(patternHost, patternPort), { maxLength: 3 }),
      (name, at, all) => {
        const expected = all.some(
          ([labels, wanted]) =>
            labels.length === name.length &&
            labels.every((one, index) => one === '*' || one === name[index]) &&
            (wanted === ':*' || wanted === at),
        );
        const patterns = all.map(([labels, wanted]) => `https://${labels.join('.')}${wanted}`);
        assert.equal(allows(patterns, `https://${name.join('.')}${at}`), expected);
      },
    ),
  );
});
