import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { roundNumber, roundText } from '../../src/lib/json-number.ts';
import { runs } from '../support/runs.ts';
import { spentMs } from '../support/spent.ts';

test('JSON number: halves round to even on the written decimal value', () => {
  const cases: [string, number, number | null][] = [
    ['0.25', 1, 0.2],
    ['0.35', 1, 0.4],
    ['2.675', 2, 2.68],
    ['1.005', 2, 1],
    ['1.015', 2, 1.02],
    ['0.5', 0, 0],
    ['1.5', 0, 2],
    ['2.5', 0, 2],
    ['-0.5', 0, 0],
    ['-1.5', 0, -2],
    ['-2.5', 0, -2],
    ['0.50000000000000000000000001', 0, 1],
    ['2.4999999999999999999999999', 0, 2],
    ['9.995', 2, 10],
    ['99.5', 0, 100],
    ['0.05', 1, 0],
    ['0.15', 1, 0.2],
    ['1e21', 0, 1e21],
    ['1.5e3', 0, 1500],
    ['12345e-4', 2, 1.23],
    ['12355e-4', 3, 1.236],
    ['5e-324', 400, 5e-324],
    ['5e-324', 10, 0],
    ['1e-999999999999', 5, 0],
    ['0e999999999999', 5, 0],
    ['1e999', 0, null],
    ['-1e999', 0, null],
    [' \t\r\n7 ', 0, 7],
    ['', 0, null],
    [' ', 0, null],
    ['+1', 0, null],
    ['01', 0, null],
    ['.5', 0, null],
    ['1.', 0, null],
    ['0x10', 0, null],
    ['1 2', 0, null],
    ['NaN', 0, null],
    ['Infinity', 0, null],
    ['1_000', 0, null],
    ['\u00a01', 0, null],
  ];
  for (const [text, precision, wanted] of cases) {
    assert.equal(roundText(text, precision), wanted, `${text} at ${precision}`);
  }
});

test('JSON number: numbers round on their shortest form, and there is no negative zero', () => {
  assert.equal(roundNumber(2.675, 2), 2.68);
  assert.equal(roundNumber(1.005, 2), 1);
  assert.equal(roundNumber(0.1 + 0.2, 17), 0.30000000000000004);
  assert.equal(roundNumber(1e-7, 7), 1e-7);
  assert.equal(roundNumber(5e-7, 6), 0);
  assert.equal(roundNumber(15e-7, 6), 0.000002);
  assert.ok(Object.is(roundNumber(-0.4, 0), 0));
  assert.ok(Object.is(roundNumber(-0, 3), 0));
  assert.equal(roundNumber(Number.POSITIVE_INFINITY, 0), null);
});

/** Rounds with big integers: it shares no string handling with the code under test. */
function naiveRound(digits: bigint, exponent: number, precision: number): number {
  const shift = -precision - exponent;
  if (shift <= 0) return Number(`${digits}e${exponent}`);
  const unit = 10n ** BigInt(shift);
  const size = digits < 0n ? -digits : digits;
  const below = size / unit;
  const twice = (size % unit) * 2n;
  const up = twice > unit || (twice === unit && below % 2n === 1n);
  const rounded = up ? below + 1n : below;
  return Number(`${digits < 0n ? '-' : ''}${rounded}e${-precision}`) + 0;
}

test('JSON number: any decimal rounds like integer arithmetic', () => {
  const decimals = fc.record({
    digits: fc.oneof(fc.bigInt(-10_000n, 10_000n), fc.bigInt(-(10n ** 25n), 10n ** 25n)),
    exponent: fc.integer({ min: -40, max: 10 }),
    precision: fc.integer({ min: 0, max: 40 }),
  });
  fc.assert(
    fc.property(decimals, ({ digits, exponent, precision }) => {
      const text = digits < 0n ? `-${-digits}e${exponent}` : `${digits}e${exponent}`;
      assert.equal(roundText(text, precision), naiveRound(digits, exponent, precision) + 0);
    }),
    { numRuns: runs(2_000) },
  );
});

test('JSON number: a number rounds like its written form', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.nat(20), (value, precision) => {
      assert.equal(
        roundNumber(value, precision),
        (roundText(String(value).replace('e+', 'e'), precision) ?? 0) + 0,
      );
    }),
    { numRuns: runs(1_000) },
  );
});

test('JSON number: millions of digits are fast', () => {
  const started = spentMs();
  assert.equal(roundText(`${'9'.repeat(300)}.${'49'.repeat(1_000_000)}`, 3), 1e300);
  assert.equal(roundText(`0.${'9'.repeat(2_000_000)}`, 1_000), 1);
  assert.equal(roundText(`${' '.repeat(2_000_000)}x`, 1), null);
  assert.ok(spentMs() - started < 2_000);
});
