import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { countCodePoints } from '../../../src/lib/code-points.ts';
import { compareText, orderPrefix } from '../../../src/search/sort/text-order.ts';
import { runs } from '../../support/runs.ts';

const runCount = runs(500);

test('text order: strings are ordered by code points, and prefix keys never contradict that', () => {
  const any = fc.string({
    unit: fc.constantFrom('a', 'b', 'é', '中', '\uffee', '\ud83d', '\ude00', '😀', '\ue000', '\u0000'),
    maxLength: 8,
  });
  fc.assert(
    fc.property(any, any, (a, b) => {
      const expected = Math.sign(compareArrays(codePoints(a), codePoints(b)));
      assert.equal(Math.sign(compareText(a, b)), expected);
      const byPrefix = Math.sign(orderPrefix(a) - orderPrefix(b));
      assert.ok(byPrefix === 0 || byPrefix === expected);
      assert.equal(countCodePoints(a), codePoints(a).length);
    }),
    { numRuns: runCount * 2 },
  );
});

function codePoints(text: string): number[] {
  return [...text].map((char) => char.codePointAt(0) ?? 0);
}

function compareArrays(a: number[], b: number[]): number {
  const at = a.findIndex((point, index) => point !== b[index]);
  if (at < 0) return a.length - b.length;
  return (a[at] ?? -1) - (b[at] ?? -1);
}

test('text order: strings of megabytes that differ late are ordered like short ones', () => {
  const long = 'é'.repeat(1_000_000);
  assert.ok(compareText(`${long}\uffff`, `${long}😀`) < 0);
  assert.ok(compareText(`${long}b`, `${long}a`) > 0);
  assert.equal(compareText(`${long}a`, `${long}a`), 0);
});
