import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type DiffLine, lineDiff } from '../../../src/console/parts/line-diff.ts';

const texts = fc
  .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })
  .map((lines) => lines.join('\n'));
const without = (lines: readonly DiffLine[], kind: DiffLine['kind']) =>
  lines.filter((line) => line.kind !== kind).map(({ text }) => text);

/** Length of the longest common subsequence, from its definition. */
function commonLines(a: readonly string[], b: readonly string[]): number {
  const [head, ...rest] = a;
  if (head === undefined || b.length === 0) return 0;
  const at = b.indexOf(head);
  const taken = at === -1 ? 0 : 1 + commonLines(rest, b.slice(at + 1));
  return Math.max(taken, commonLines(rest, b));
}

test('line diff: a diff contains both texts, with as many common lines as possible', () => {
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const lines = lineDiff(before, after);
      assert.equal(without(lines, 'added').join('\n'), before);
      assert.equal(without(lines, 'removed').join('\n'), after);
      const same = lines.filter(({ kind }) => kind === 'same').length;
      assert.equal(same, commonLines(before.split('\n'), after.split('\n')));
    }),
  );
});
