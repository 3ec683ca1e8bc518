import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../src/contract/json.ts';
import type { BuiltItem } from '../../src/schemas/build/outcome.ts';
import { compileValid, entityOf, inputOf, runs } from './support/fixtures.ts';

const properties: JsonObject = {
  text: '{p.a}',
  around: 'x {p.b} y',
  number: { type: 'number', value: '{p.a}', precision: 2, default: '{p.b}' },
  plain: { type: 'number', value: '{p.b}' },
  boolean: { type: 'boolean', value: '{p.c}' },
  any: '{p.c}',
  list: { type: 'array', input: '{p.d}' },
  inner: { type: 'object', properties: { one: '{p.d}', two: { type: 'number', value: 7 } } },
};
/** Only its text tells its value, and so that of the whole item. */
const mapped: JsonObject = { mapped: { type: 'array', input: '{p.none}', items: '{item}' } };

function builderOf(properties: JsonObject): (entity: JsonObject) => BuiltItem {
  const { indexes } = compileValid({
    indexes: {
      i: { triggers: { cms: ['article'] }, index: { fields: { any: { type: 'object' } } }, properties },
    },
  });
  const schema = indexes.get('i');
  assert.ok(schema);
  return (entity) => schema.build(inputOf(entityOf(entity)));
}

const byValues = builderOf(properties);
const byText = builderOf({ ...properties, ...mapped });

function checkSame(entity: JsonObject): void {
  const item = byValues(entity);
  const { fields, fieldsText, diagnostics } = byText(entity);
  assert.ok(fieldsText !== null && item.fieldsText !== null);
  assert.equal(item.fieldsText, fieldsText.replace(/,"mapped":\[\]\}$/, '}'));
  const { mapped: _, ...others } = fields;
  assert.deepEqual(item.fields, others);
  assert.deepEqual(item.fields, JSON.parse(item.fieldsText));
  assert.deepEqual(item.diagnostics, diagnostics);
}

test('an item that is built as values is the one that its text says', () => {
  const scalar: fc.Arbitrary<Json> = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('1.005', 'true', '', null, 1e21, 0.1),
    fc.integer(),
    fc.boolean(),
  );
  const value: fc.Arbitrary<Json> = fc.oneof(
    scalar,
    fc.array(scalar, { maxLength: 4 }),
    fc.constant<Json>({ deep: [1, { er: 'x' }] }),
  );
  fc.assert(fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), value), checkSame), {
    numRuns: runs * 500,
  });
});

test('a list too long to be built as a value, or a text too long for an item, is cut as ever', () => {
  checkSame({ d: Array.from({ length: 2_000 }, (_, index) => index) });
  checkSame({ d: ['x'.repeat(5_000)] });
  const huge = 'x'.repeat(9 * 1024 * 1024);
  checkSame({ a: huge, b: huge });
});
