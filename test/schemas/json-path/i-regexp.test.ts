import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { finish } from '../../../src/lib/cooperative-yield.ts';
import { compilePattern, patternTakes } from '../../../src/schemas/json-path/i-regexp.ts';
import { runs } from '../../support/runs.ts';
import { spentMs } from '../../support/spent.ts';

const free = () => {};

function takes(pattern: string, text: string, extent: 'whole' | 'part'): boolean | null {
  const compiled = compilePattern(pattern, free);
  return compiled === null ? null : finish(patternTakes(compiled, text, extent, free));
}

test('i regexp: patterns match according to RFC 9485', () => {
  const cases: [string, string, boolean | null, boolean | null][] = [
    ['a|b', 'b', true, true],
    ['a|b', 'ax', false, true],
    ['', '', true, true],
    ['', 'x', false, true],
    ['a{2,3}', 'aaaa', false, true],
    ['a{2}', 'a', false, false],
    ['(ab)+', 'abab', true, true],
    ['[a-c^]*', 'ab^', true, true],
    ['[^a-c]', 'd', true, true],
    ['[-a]', '-', true, true],
    ['[a-]', '-', true, true],
    ['\\p{Lu}\\P{Lu}', 'Éé', true, true],
    ['.', '😀', true, true],
    ['.', '\n', false, false],
    ['\\.', '.', true, true],
    ['\\d\\d', '42', true, true],
    ['^b', 'ab', false, false],
    ['b$', 'ab', false, true],
    ['(a', 'a', null, null],
    ['a{3,2}', 'aaa', null, null],
    ['*', '', null, null],
    ['[]', '', null, null],
    ['[b-a]', '', null, null],
    ['\\q', 'q', null, null],
    ['(a{1000}){1000}', 'a', null, null],
    ['(){1000000000}', '', null, null],
  ];
  for (const [pattern, text, whole, part] of cases) {
    assert.equal(takes(pattern, text, 'whole'), whole, `match ${pattern} ${text}`);
    assert.equal(takes(pattern, text, 'part'), part, `search ${pattern} ${text}`);
  }
});

test('i regexp: small patterns match like the JavaScript engine', () => {
  const { pattern } = fc.letrec<{ pattern: string; piece: string }>((tie) => ({
    piece: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '') },
      fc
        .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{1,2}', ''))
        .map(([inner, q]) => `(${inner})${q}`),
    ),
    pattern: fc.oneof(
      { maxDepth: 4 },
      tie('piece'),
      fc.tuple(tie('piece'), tie('pattern')).map(([a, b]) => a + b),
      fc.tuple(tie('piece'), tie('pattern')).map(([a, b]) => `${a}|${b}`),
    ),
  }));
  const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 });
  fc.assert(
    fc.property(pattern, texts, (source, text) => {
      assert.equal(takes(source, text, 'whole'), new RegExp(`^(?:${source})$`, 'u').test(text));
      assert.equal(takes(source, text, 'part'), new RegExp(source, 'u').test(text));
    }),
    { numRuns: runs(500) },
  );
});

test('i regexp: a flood of patterns used once does not evict one in use', () => {
  const used = compilePattern('kept-[0-9]+', free);
  const once = compilePattern('once', free);
  for (let i = 0; i < 1_000; i++) {
    compilePattern(`flood-${i}`, free);
    if (i % 100 === 0) assert.equal(compilePattern('kept-[0-9]+', free), used);
  }
  assert.equal(compilePattern('kept-[0-9]+', free), used);
  assert.notEqual(compilePattern('once', free), once, 'unused patterns are evicted, so the cache is bounded');
});

test('i regexp: a pattern with catastrophic backtracking elsewhere is fast', () => {
  const started = spentMs();
  assert.equal(takes('(a+)+', `${'a'.repeat(5_000)}!`, 'whole'), false);
  assert.equal(takes('(a|aa)*(a|a)*b', 'a'.repeat(5_000), 'part'), false);
  assert.ok(spentMs() - started < 2_000);
});

test('i regexp: empty transitions, class members and compilation cost steps', () => {
  const stepsOf = (pattern: string, text: string) => {
    let spent = 0;
    const spend = (steps: number) => {
      spent += steps;
    };
    const compiled = compilePattern(pattern, spend);
    if (compiled !== null) finish(patternTakes(compiled, text, 'part', spend));
    return spent;
  };
  assert.ok(stepsOf('(){4990}a', 'b'.repeat(100)) > 100 * 4_990, 'empty groups');
  assert.ok(stepsOf(`[${'c'.repeat(1_000)}b]+`, 'd'.repeat(100)) > 100 * 1_000, 'a class of many characters');
  assert.ok(stepsOf('a{4900}', '') > 4_900, 'many states');
  assert.ok(stepsOf('a{6000}', '') > 4_900, 'too many states');
  assert.ok(stepsOf('a[bc]', 'b'.repeat(100)) < 100 * 10, 'an ordinary pattern');
});
