import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { requestedText, sealUrl, unsealUrl } from '../../../src/http/routes/route-parts.ts';
import { runs } from '../../support/runs.ts';

test('route parts: a cursor is valid only with its secret, for its list, and unchanged', () => {
  const secret = Buffer.alloc(32, 1);
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(), (text, at) => {
      const url = `/${text}`;
      const token = sealUrl(secret, 'a', url);
      assert.equal(unsealUrl(secret, 'a', token), url);
      assert.equal(unsealUrl(secret, 'b', token), null);
      assert.equal(unsealUrl(Buffer.alloc(32, 2), 'a', token), null);
      const place = at % token.length;
      const changed = `${token.slice(0, place)}${token[place] === 'A' ? 'B' : 'A'}${token.slice(place + 1)}`;
      assert.equal(unsealUrl(secret, 'a', changed), null);
    }),
    { numRuns: runs(200) },
  );
});

test('route parts: a query parameter has one value, or is an error', () => {
  const dryRun = (query: string) => requestedText({ query }, 'dryRun');
  assert.equal(dryRun(''), null);
  assert.equal(dryRun('dryRun='), null);
  assert.equal(dryRun('dryRun=true&removals=false'), 'true');
  assert.equal(dryRun('dryRun=true&dryRun=true&dryRun='), 'true');
  assert.throws(() => dryRun('dryRun=true&dryRun=false'), /dryRun was sent with different values/);
  assert.throws(() => dryRun('dryRun=true&dry%52un=false'), /dryRun was sent with different values/);
});
