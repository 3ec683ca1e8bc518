import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../../src/contract/json.ts';
import { queryIdentity } from '../../../src/search/check/query.ts';
import { runs } from '../../support/runs.ts';
import { condition, errorsOf, queryOf } from '../support/checks.ts';

const numRuns = runs(300);

function assertSame(field: string, operator: string, asText: Json, plain: Json): void {
  const [a, b] = [asText, plain].map((value) => queryOf(condition(field, operator, value)));
  assert.ok(a !== undefined && b !== undefined);
  assert.deepEqual(a, b, `${field} ${operator} ${JSON.stringify(asText)}`);
  assert.equal(queryIdentity(a), queryIdentity(b), 'a token is valid for either notation');
}

test('value text: a number in a string means the number, on every numeric field', () => {
  // Beyond the safe integers, a string has digits that the number lacks.
  const number = fc
    .oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }))
    .filter((n) => !Number.isInteger(n) || Number.isSafeInteger(n));
  const fields = ['integer', 'long', 'float', 'double', 'integer[]', 'double[]', 'longRange', 'doubleRange'];
  const operators = ['equals', 'notEquals', 'greaterThan', 'lessThanOrEquals'];
  fc.assert(
    fc.property(
      number,
      fc.constantFrom(...fields),
      fc.constantFrom(...operators),
      fc.constantFrom('', ' '),
      (n, field, operator, blank) =>
        assertSame(field, operator, `${blank}${JSON.stringify(n)}${blank}`, n + 0),
    ),
    { numRuns },
  );
});

test('value text: a long keeps the digits that a double cannot represent', () => {
  assert.deepEqual(queryOf(condition('long', 'equals', '9223372036854775807')).filter, {
    kind: 'and',
    nodes: [
      {
        kind: 'condition',
        field: 'long',
        operator: 'equals',
        value: '9223372036854775807',
        caseInsensitive: false,
      },
    ],
  });
  assertSame('long', 'equals', '9007199254740991', 9007199254740991);
  assertSame('long', 'greaterThan', '1.5e3', 1500);
});

test('value text: a string that is not a number is reported once on a numeric field', () => {
  for (const text of ['', ' ', 'abc', '5x', '0x10', '1e999', 'Infinity', 'NaN', '1,5', '+5', '.5', '12 34']) {
    for (const [field, operator] of [
      ['integer', 'equals'],
      ['double', 'greaterThan'],
      ['float[]', 'contains'],
      ['integerRange', 'equals'],
      ['double', 'notEquals'],
    ] as const) {
      const errors = errorsOf(condition(field, operator, text));
      assert.deepEqual(
        errors,
        [`filters.and[0].value: must be a number, not ${JSON.stringify(text)}`],
        `${field} ${text}`,
      );
    }
  }
  assert.deepEqual(errorsOf(condition('integer', 'in', ['5', 'x', 6, null])), [
    'filters.and[0].value[1]: must be a number, not "x"',
  ]);
});

test('value text: booleans can be strings, spelled exactly', () => {
  assertSame('boolean', 'equals', 'true', true);
  assertSame('boolean', 'notEquals', 'false', false);
  assertSame('boolean[]', 'contains', 'true', true);
  assertSame('boolean', 'in', 'true,false', [true, false]);
  for (const text of ['True', 'yes', '1', '']) {
    assert.deepEqual(errorsOf(condition('boolean', 'equals', text)), [
      `filters.and[0].value: must be true or false, not ${JSON.stringify(text)}`,
    ]);
  }
});

test('value text: a string with commas is the list of `in`, for any field type', () => {
  assertSame('keyword', 'in', 'a , b,c', ['a', 'b', 'c']);
  assertSame('text', 'in', 'one', ['one']);
  assertSame('keyword', 'in', 'a b ,\t c d', ['a b', 'c d']);
  assertSame('integer', 'in', '1, 2 ,3', [1, 2, 3]);
  assertSame('integer', 'in', ['1', 2, null], [1, 2, null]);
  assertSame('date', 'in', '2024-01-01, 2024-05-01', ['2024-01-01', '2024-05-01']);
  assertSame('_originId', 'in', 'a,b', ['a', 'b']);
  assert.match(errorsOf(condition('integer', 'in', '1,,2'))[0] ?? '', /value\[1\]: must be a number, not ""/);
});

test('value text: a repeated item costs no further check, and half a million of them are cheap', () => {
  assertSame('integer', 'in', '1, 2,1,2', [1, 2]);
  assertSame('keyword', 'in', ','.repeat(500_000), ['']);
  const { length } = errorsOf(
    condition('integer', 'in', Array.from({ length: 50_000 }, (_, n) => `x${n}`).join()),
  );
  assert.equal(length, 100);
});

test('value text: blanks around a million commas take linear time', () => {
  const text = `a${' '.repeat(500_000)}b,${' '.repeat(500_000)}`;
  const { filter } = queryOf(condition('keyword', 'in', text));
  assert.ok(filter?.kind === 'and');
  const [node] = filter.nodes;
  assert.deepEqual(node?.kind === 'condition' && node.value, [text.slice(0, text.indexOf(',')), '']);
});

test('value text: a string on a text or date field is unchanged', () => {
  for (const [field, value] of [
    ['keyword', '5'],
    ['text', 'true'],
    ['keyword[]', 'a,b'],
    ['date', '2024-01-01'],
    ['_updatedAt', '2024-01-01'],
  ] as const) {
    const { filter } = queryOf(condition(field, 'equals', value));
    assert.ok(filter?.kind === 'and');
    const [node] = filter.nodes;
    assert.equal(node?.kind === 'condition' && node.value, value);
  }
});

test('value text: orders and sizes can be the numbers that some clients send', () => {
  const sort = [
    { field: 'integer', order: 0 },
    { field: 'keyword', order: 1 },
  ];
  assert.deepEqual(queryOf({ sort }).sort, [
    { field: 'integer', order: 'desc' },
    { field: 'keyword', order: 'asc' },
  ]);
  for (const order of [2, -1, 0.5, '0', true, 'DESC']) {
    assert.match(errorsOf({ sort: [{ field: 'integer', order }] })[0] ?? '', /^sort\[0\]\.order: /);
  }
  const facets = [{ field: 'keyword', name: null, size: 0 }];
  assert.deepEqual(queryOf({ facets }).facets, [
    { field: 'keyword', name: 'keyword', size: 10, isValid: true },
  ]);
  for (const size of [-1, 101, '', false]) {
    assert.match(errorsOf({ facets: [{ field: 'keyword', size }] })[0] ?? '', /^facets\[0\]\.size: /);
  }
  assert.equal(queryOf({ pagination: { size: 500 } }).pageSize, 10);
});
