import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { GatheredPieces } from '../../../src/http/uws/body.ts';
import { runs } from '../../support/runs.ts';

test('gathered pieces: the output equals the input, in pieces of at least 2 KiB on average, exactly one of them last', () => {
  const size = fc.oneof(fc.nat(3), fc.integer({ min: 4_000, max: 4_200 }), fc.nat(20_000));
  fc.assert(
    fc.property(fc.array(size, { minLength: 1, maxLength: 400 }), (sizes) => {
      const taken: Buffer[] = [];
      const lasts: boolean[] = [];
      const pieces = new GatheredPieces((piece, isLast) => {
        taken.push(Buffer.from(piece));
        lasts.push(isLast);
      });
      const given = sizes.map((length, at) => Uint8Array.from({ length }, (_, byte) => (at + byte) % 251));
      for (const [at, piece] of given.entries()) pieces.push(piece, at === given.length - 1);
      const whole = Buffer.concat(given);
      assert.ok(whole.equals(Buffer.concat(taken)));
      assert.ok(taken.length <= 2 + whole.length / 2048, `${taken.length} pieces of ${whole.length} bytes`);
      assert.deepEqual(
        lasts,
        lasts.map((_, at) => at === lasts.length - 1),
      );
    }),
    { numRuns: runs(300) },
  );
});
