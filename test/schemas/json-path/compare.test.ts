import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { Json } from '../../../src/contract/json.ts';
import { compareValues } from '../../../src/schemas/json-path/query.ts';
import { runs } from '../../support/runs.ts';

function codePoints(text: string): number[] {
  return Array.from(text, (character) => character.codePointAt(0) ?? 0);
}

function isLess(a: Json | undefined, b: Json | undefined): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a < b;
  if (typeof a !== 'string' || typeof b !== 'string') return false;
  const [left, right] = [codePoints(a), codePoints(b)];
  const at = left.findIndex((codePoint, i) => codePoint !== right[i]);
  return at < 0 ? left.length < right.length : (left[at] ?? 0) < (right[at] ?? -1);
}

test('compare: every operator follows RFC 9535', () => {
  const scalar = fc.constantFrom<Json>(
    null,
    0,
    1,
    -2.5,
    '',
    'a',
    'ab',
    '1',
    '\uffff',
    '😀',
    '😁',
    true,
    false,
  );
  const value = fc.oneof(
    { weight: 3, arbitrary: scalar },
    fc.constant(undefined),
    fc.array(scalar, { maxLength: 2 }),
    fc
      .array(fc.tuple(fc.constantFrom('a', 'b'), scalar), { maxLength: 2 })
      .map((m): Json => Object.fromEntries(m)),
  );
  fc.assert(
    fc.property(value, value, (a, b) => {
      const holds = (operator: string) => compareValues(a, operator, b, () => {});
      const equal = isDeepStrictEqual(a, b);
      assert.deepEqual(['==', '!=', '<', '>', '<=', '>='].map(holds), [
        equal,
        !equal,
        isLess(a, b),
        isLess(b, a),
        isLess(a, b) || equal,
        isLess(b, a) || equal,
      ]);
    }),
    { numRuns: runs(1_000) },
  );
});

test('compare: members of a prototype are not members', () => {
  assert.equal(
    compareValues(JSON.parse('{"__proto__": {}}'), '==', { x: {} }, () => {}),
    false,
  );
  assert.equal(
    compareValues({ constructor: 1 }, '==', { x: 1 }, () => {}),
    false,
  );
});

test('compare: a comparison spends steps for what it compares, and stops without steps', () => {
  const spent = (a: Json, operator: string, b: Json) => {
    let steps = 0;
    compareValues(a, operator, b, (more) => {
      steps += more;
    });
    return steps;
  };
  const wide = Array.from({ length: 1_000 }, (_, i) => i);
  assert.ok(spent(wide, '==', [...wide]) >= 1_000);
  assert.ok(spent('x'.repeat(100_000), '<', 'x'.repeat(100_000)) >= 1_000);
  assert.ok(spent(wide, '==', [1]) < 10, 'values that differ early are cheap');
  const refuse = () => {
    throw new Error('no steps left');
  };
  assert.throws(() => compareValues(1, '==', 1, refuse), /no steps left/);
});
