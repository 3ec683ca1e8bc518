import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compilePattern } from '../../../src/search/columns/pattern.ts';
import { runs } from '../../support/runs.ts';
import { spentMs } from '../../support/spent.ts';

const runCount = runs(1000);

test('pattern: a pattern matches the whole string, and only * is special', () => {
  const matches = (pattern: string, text: string): boolean => compilePattern(pattern)(text);
  assert.ok(matches('*word*', 'a word here'));
  assert.ok(matches('word', 'word'));
  assert.ok(!matches('word', 'a word'));
  assert.ok(matches('', ''));
  assert.ok(!matches('', 'a'));
  assert.ok(matches('*', ''));
  assert.ok(matches('a*a', 'aa'));
  assert.ok(!matches('a*a', 'a'));
  assert.ok(matches('a.?[b]\\*', 'a.?[b]\\ and more'));
  assert.ok(!matches('a.c', 'abc'));
  assert.ok(!matches('*\ud83d*', '😀'), 'half a surrogate pair does not match');
});

test('pattern: patterns match like a dynamic-programming table over all prefixes', () => {
  const part = fc.constantFrom('a', 'b', 'ab', '*', '**', '😀', '\ud83d', '\ude00', 'aabaab'.repeat(7));
  const text = fc.array(fc.constantFrom('a', 'b', 'ab', '😀', '\ud83d', '\ude00', 'aabaab'.repeat(7), 'aab'));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), text, (parts, texts) => {
      const pattern = parts.join('');
      const whole = texts.join('');
      assert.equal(compilePattern(pattern)(whole), slowMatch([...pattern], [...whole]));
    }),
    { numRuns: runCount },
  );
});

function slowMatch(pattern: string[], text: string[]): boolean {
  let ends = new Set([0]);
  for (const symbol of pattern) {
    const next = new Set<number>();
    for (const end of ends) {
      if (symbol !== '*') {
        if (text[end] === symbol) next.add(end + 1);
        continue;
      }
      for (let at = end; at <= text.length; at += 1) next.add(at);
    }
    ends = next;
  }
  return ends.has(text.length);
}

test('pattern: no pattern takes more than linear time', () => {
  const text = 'a'.repeat(2_000_000);
  const hostile = [
    `*${'a'.repeat(400_000)}b*`,
    `${'*a'.repeat(20_000)}b`,
    `*${'ab*'.repeat(10_000)}`,
    `*${'a'.repeat(31)}b*`,
  ];
  const begin = spentMs();
  for (const pattern of hostile) assert.equal(compilePattern(pattern)(text), false);
  assert.ok(spentMs() - begin < 5000);
});
