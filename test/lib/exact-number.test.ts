import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isInexact, quoteInexact } from '../../src/lib/exact-number.ts';

test('isInexact: integers beyond 2^53 that a double changes', () => {
  for (const token of [
    '9007199254740993',
    '-9007199254740993',
    '12345678901234567890',
    '9007199254740993.0',
    '-1e400',
  ]) {
    assert.ok(isInexact(token), token);
  }
  for (const token of [
    '9007199254740991',
    '9007199254740992',
    '0.1',
    '1e23',
    '1e+300',
    '18446744073709551616',
  ]) {
    assert.ok(!isInexact(token), token);
  }
});

test('isInexact: reads a number of megabytes in linear time', () => {
  // A quadratic algorithm would take hours.
  assert.ok(isInexact(`9007199254740993.${'0'.repeat(2_000_000)}1`));
});

test('isInexact: a formatted double is never changed', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      assert.ok(!isInexact(JSON.stringify(value)));
    }),
  );
});

test('isInexact: an integer is changed if the nearest double differs', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (value) => {
      const written = String(value);
      const isKept = BigInt(Number(value)) === value || BigInt(Number(value)).toString() === written;
      if (isKept) assert.ok(!isInexact(written));
      else
        assert.equal(
          isInexact(written),
          BigInt(String(Number(value)).includes('e') ? 0 : String(Number(value))) !== value,
        );
    }),
  );
});

test('quoteInexact: only numbers that are changed become strings, never text within strings', () => {
  assert.equal(
    quoteInexact('{"a\\\\":[9007199254740993,1],"b\\"9007199254740993":"9007199254740993"}', 'm'),
    '{"a\\\\":["m9007199254740993",1],"b\\"9007199254740993":"9007199254740993"}',
  );
  assert.equal(quoteInexact('{"a":9007199254740992}', ''), null);
});
