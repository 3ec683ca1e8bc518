import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { headerText, percentDecoded, queryParameters } from '../../../src/http/uws/request-headers.ts';
import { runs } from '../../support/runs.ts';

test('text decoding: a query string is parsed like by URLSearchParams', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 8 });
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { maxLength: 6 }), (pairs) => {
      const query = new URLSearchParams(pairs).toString();
      assert.deepEqual(queryParameters(query), [...new URLSearchParams(query)]);
    }),
    { numRuns: runs(500) },
  );
});

test('text decoding: invalid percent-encoded UTF-8 is rejected', () => {
  for (const raw of ['%', '%4', '%zz', '%ff', '%c3%28', '%ed%a0%80'])
    assert.equal(percentDecoded(raw), null, raw);
  assert.equal(percentDecoded('a%2Fb+%C3%A9'), 'a/b+é');
});

test('text decoding: a header is UTF-8 if valid, otherwise Latin-1', () => {
  assert.equal(headerText(Buffer.from('/café/東京').toString('latin1')), '/café/東京');
  assert.equal(headerText('/caf\u00e9'), '/café');
});
