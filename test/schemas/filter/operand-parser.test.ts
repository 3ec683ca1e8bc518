import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../../src/contract/json.ts';
import { QueryValues } from '../../../src/schemas/filter/node.ts';
import { OperandParser } from '../../../src/schemas/filter/operand-parser.ts';
import { Reader, SchemaSyntaxError } from '../../../src/schemas/language/reader.ts';
import { Scope } from '../../../src/schemas/language/scope.ts';
import { runs } from '../../support/runs.ts';
import { frameOver } from '../support/fixtures.ts';

function take(text: string) {
  const reader = new Reader(text);
  const values = new QueryValues();
  const operand = new OperandParser(reader, Scope.partial, values).take();
  return {
    operand,
    rest: text.slice(reader.position),
    value: (root: Json) => values.values(frameOver(root))[0],
  };
}

test('operand parser: numbers, words and strings are literals', () => {
  const written: [string, Json][] = [
    ['12', 12],
    ['-1.5e1', -15],
    ['true', true],
    ['false', false],
    ['null', null],
    ["''", ''],
    ["'it''s'", "it's"],
    ["'{{x}}'", '{x}'],
  ];
  for (const [text, value] of written) {
    const { operand, rest } = take(`${text} and`);
    assert.deepEqual([operand.constant, rest], [value, ' and'], text);
  }
});

test('operand parser: any string can be written by doubling its quotes and braces', () => {
  const unit = fc.oneof(
    fc.constantFrom("'", '{', '}', '\\', '😀'),
    fc.string({ unit: 'binary', maxLength: 2 }),
  );
  fc.assert(
    fc.property(
      fc.array(unit).map((units) => units.join('')),
      (text) => {
        const quoted = `'${text.replace(/['{}]/g, '$&$&')}'`;
        assert.equal(take(quoted).operand.constant, text);
      },
    ),
    { numRuns: runs(300) },
  );
});

test('operand parser: a single hole keeps the type of its value, within a string it is a string', () => {
  const { operand, value } = take('{v}');
  assert.equal(operand.constant, undefined);
  assert.deepEqual(value({ v: [9] }), [9]);
  assert.equal(take("'{v}'").value({ v: 9 }), '9');
  assert.equal(take("'a{v}''{v}'").value({ v: "'" }), "a''" + "'");
  assert.equal(take("'a{v}'").value({}), 'a');
});

test('operand parser: an invalid value is an error at its position', () => {
  for (const text of ['x', 'True', '"x"', '', "'x", "'{v", "'{v'"]) {
    assert.throws(() => take(text), SchemaSyntaxError, text);
  }
  assert.throws(() => take('nul'), { position: 0 });
});
