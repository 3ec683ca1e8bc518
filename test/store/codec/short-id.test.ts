import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { longId, shortId } from '../../../src/store/codec/short-id.ts';
import { runs } from '../../support/runs.ts';

const ids = fc.oneof(
  fc.uuid(),
  fc.uuid().map((id) => id.toUpperCase()),
  fc.uuid().map((id) => shortId(id)),
  fc.string({ unit: 'grapheme' }),
  fc.string().map((text) => `~${text}`),
);

test('short id: an id round-trips through its short form, and no two ids share one', () => {
  fc.assert(
    fc.property(ids, ids, (one, other) => {
      assert.equal(longId(shortId(one)), one);
      assert.equal(shortId(one) === shortId(other), one === other);
    }),
    { numRuns: runs(300) },
  );
});

test('short id: a UUID takes two thirds of its length, and its short form has no colon', () => {
  const short = shortId('1f0923db-39e0-4bb9-89bc-8fc1c4346018');
  assert.equal(short.length, 23);
  assert.ok(!short.includes(':'));
});
