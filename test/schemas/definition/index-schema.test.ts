import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { buildWith, compileValid, compileWithIssues, entityOf, inputOf, runs } from '../support/fixtures.ts';

const triggers = { cms: ['article'] };

function itemOf(properties: Json, entity: JsonObject, fields: JsonObject = { any: { type: 'text' } }) {
  const { indexes } = compileValid({ indexes: { i: { triggers, index: { fields }, properties } } });
  const schema = indexes.get('i');
  assert.ok(schema);
  return schema.build(inputOf(entityOf(entity)));
}

const properties: JsonObject = {
  text: '{p.a}',
  around: 'x {p.b} y',
  number: { type: 'number', value: '{p.a}', precision: 2, default: '{p.b}' },
  boolean: { type: 'boolean', value: '{p.c}' },
  list: { type: 'array', input: '{p.d}' },
  mapped: { type: 'array', input: '{p.d}', items: '<{item}>' },
  inner: { type: 'object', properties: { one: '{p.d}', two: { type: 'number', value: 7 } } },
};

test('an item has the values that a view of the same properties has', () => {
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
  const compiled = compileValid({ schemas: { view: { triggers, properties } } });
  const view = compiled.schemas.get('view');
  assert.ok(view);
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), value), (entity) => {
      const built = buildWith(view, compiled, entityOf(entity));
      const item = itemOf(properties, entity);
      assert.deepEqual(item.fields, built.view);
      assert.deepEqual(item.diagnostics, built.diagnostics);
    }),
    { numRuns: runs * 300 },
  );
});

test('a bare hole is the value itself for a field that holds no text', () => {
  const fields = { count: { type: 'integer' }, name: { type: 'text' } };
  const item = itemOf({ count: '{p.n}', name: '{p.n}' }, { n: 7 }, fields);
  assert.deepEqual(item.fields, { count: 7, name: '7' });
});

test('an item that outgrows its limit is cut and says so', () => {
  const huge = 'x'.repeat(9 * 1024 * 1024);
  const item = itemOf({ a: '{p.a}', b: '{p.b}' }, { a: huge, b: huge });
  assert.deepEqual(item.fields, { a: huge, b: null });
  assert.deepEqual(
    item.diagnostics.map(({ kind }) => kind),
    ['limitReached'],
  );
});

test('an index item cannot hold a reference, nor a partial that has one', () => {
  const reference = { type: 'reference', id: '{p.id}', alias: 'card' };
  const { issues } = compileWithIssues({
    partials: { card: { properties: { of: reference } } },
    indexes: {
      own: { triggers, index: { fields: {} }, properties: { of: reference } },
      through: {
        triggers,
        index: { fields: {} },
        properties: { of: { type: 'partial', input: '{root}', alias: 'card' } },
      },
    },
  });
  assert.deepEqual(
    issues.map(({ file, path }) => `${file} ${path}`),
    ['indexes/own.json $.properties.of', 'indexes/through.json $.properties'],
  );
});
