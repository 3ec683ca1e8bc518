import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { finish } from '../../../src/lib/cooperative-yield.ts';
import type { FieldType } from '../../../src/search/fields/field-type.ts';
import { type Fit, fitAutoField, fitField } from '../../../src/search/fields/fit.ts';
import { inferFieldType } from '../../../src/search/fields/infer.ts';

const fitting: [FieldType, Json[]][] = [
  ['keyword', ['', 'a', '12']],
  ['text', ['some words']],
  ['keywordText', ['Berlin']],
  ['integer', [0, -2147483648, 2147483647]],
  ['long', [5, '9223372036854775807', '-9223372036854775808', '9007199254740993', 2 ** 62]],
  ['float', [0.1, -3.4e38]],
  ['double', [0.1, 1e308]],
  ['boolean', [true, false]],
  [
    'date',
    ['2024-02-29', '2024-01-01T10:00', '2024-01-01T10:00:00.1234567+05:30', '0001-01-01', 0, -5, 1.7e12],
  ],
  ['integerRange', [{ gt: 1 }, { gte: 1, lt: 5 }, { lte: 5, gt: null }]],
  ['longRange', [{ gte: '9007199254740993' }]],
  ['dateRange', [{ gte: '2024-01-01', lt: 1.8e12 }]],
  ['object', [{}, { a: [1] }, [{ a: 1 }]]],
  ['keyword[]', [[], ['a', 'b']]],
];

const misfitting: [FieldType, Json[]][] = [
  ['keyword', [1, true, ['a'], {}]],
  ['integer', [1.5, 2147483648, -2147483649, '5', true]],
  ['long', ['9223372036854775808', '-9223372036854775809', '1.5', '', '5 ', 1.5, 2 ** 63, '1'.repeat(500)]],
  ['float', [3.5e38, '1.5']],
  ['double', ['1.5', true]],
  ['boolean', ['true', 0]],
  [
    'date',
    [
      '2024-02-30',
      '2023-02-29',
      '2024-13-01',
      '2024',
      '20240101',
      '2024-01-01T25:00:00Z',
      'today',
      9e15,
      true,
    ],
  ],
  ['integerRange', [{}, { gt: 1, gte: 1 }, { gt: 'a' }, { from: 1 }, { gt: 1.5 }, 5, [1, 2], { gt: null }]],
  ['object', ['text', 5, true]],
  ['keyword[]', ['a', [1, 2], {}]],
];

test('fit: a value that fits its type is stored as it was sent', () => {
  for (const [type, values] of fitting) {
    for (const value of values) {
      assert.deepEqual(
        fitField(type, value),
        { ok: true, value, leftOut: 0 },
        `${type} ${JSON.stringify(value)}`,
      );
    }
  }
});

test('fit: a value that does not fit its type is rejected', () => {
  for (const [type, values] of misfitting) {
    for (const value of values) {
      assert.deepEqual(fitField(type, value), { ok: false }, `${type} ${JSON.stringify(value)}`);
    }
  }
});

test('fit: list items that do not fit are omitted and counted, nulls only omitted', () => {
  assert.deepEqual(fitField('integer[]', [1, 'x', null, 2.5, 3]), { ok: true, value: [1, 3], leftOut: 2 });
  assert.deepEqual(fitField('keyword[]', [null]), { ok: true, value: [], leftOut: 0 });
});

test('fit: the first value of an auto-indexed field determines its type', () => {
  const expected: [Json, FieldType | null][] = [
    ['2024-01-31', 'date'],
    ['2024-01-31T10:00:00Z', 'date'],
    ['2024-02-30', 'keywordText'],
    ['2024', 'keywordText'],
    ['Berlin', 'keywordText'],
    [5, 'double'],
    [true, 'boolean'],
    [{ a: 1 }, 'object'],
    [[null, 'a'], 'keywordText[]'],
    [['2024-01-31'], 'date[]'],
    [[1, 'a'], 'double[]'],
    [[false], 'boolean[]'],
    [[{ a: 1 }], 'object'],
    [[[1]], 'object'],
    [[], null],
    [[null], null],
    [null, null],
  ];
  for (const [value, type] of expected) assert.equal(inferFieldType(value), type, JSON.stringify(value));
});

test('fitAutoField: a date field accepts no number, and a value that fits is not copied', () => {
  const cases: [FieldType, Json, Fit][] = [
    ['date', 5, { ok: false }],
    ['date', '2024-05-17', { ok: true, value: '2024-05-17', leftOut: 0 }],
    ['date[]', [5, null], { ok: false }],
    ['date[]', ['2024-05-17', 5, 'x'], { ok: true, value: ['2024-05-17'], leftOut: 2 }],
    ['date[]', [], { ok: true, value: [], leftOut: 0 }],
    ['double', 5, { ok: true, value: 5, leftOut: 0 }],
    ['double[]', [5], { ok: true, value: [5], leftOut: 0 }],
  ];
  for (const [type, value, expected] of cases) {
    const fit = finish(fitAutoField(type, value));
    assert.deepEqual(fit, expected);
    const isWhole = expected.ok && expected.leftOut === 0;
    assert.equal(fit.ok && fit.value === value, isWhole, JSON.stringify(value));
  }
});
