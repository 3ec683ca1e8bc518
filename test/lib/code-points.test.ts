import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareCodePoints, countCodePoints } from '../../src/lib/code-points.ts';
import { runs } from '../support/runs.ts';

/** Characters on both sides of the surrogates, including unpaired ones. */
const text = fc.string({
  unit: fc.constantFrom('a', 'b', '\u{10000}', '\u{10ffff}', '\ud800', '\udc00', '\ue000', '\uffff'),
  maxLength: 6,
});

function naiveOrder(a: string, b: string): number {
  const pointsA = [...a].map((point) => point.codePointAt(0) ?? 0);
  const pointsB = [...b].map((point) => point.codePointAt(0) ?? 0);
  for (const [index, point] of pointsA.entries()) {
    const other = pointsB[index];
    if (other === undefined) return 1;
    if (point !== other) return point - other;
  }
  return pointsA.length - pointsB.length;
}

test('code points: strings are ordered like their lists of code points', () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      assert.equal(Math.sign(compareCodePoints(a, b)), Math.sign(naiveOrder(a, b)));
    }),
    { numRuns: runs(2_000) },
  );
});

test('code points: code points are counted, an unpaired surrogate as one', () => {
  fc.assert(fc.property(text, (a) => assert.equal(countCodePoints(a), [...a].length)));
});
