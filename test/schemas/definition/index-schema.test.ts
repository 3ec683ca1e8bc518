import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { finish } from '../../../src/lib/cooperative-yield.ts';
import { runs } from '../../support/runs.ts';
import {
  buildWith,
  compileValid,
  compileWithIssues,
  entityOf,
  inputOf,
  type SchemaTexts,
} from '../support/fixtures.ts';

const indexed = (fields: Json, properties: JsonObject): SchemaTexts => ({
  indexes: { i: { triggers: { cms: ['article'] }, index: { fields }, properties } },
});

function places(texts: SchemaTexts): string[] {
  return compileWithIssues(texts).issues.map(({ file, path }) => `${file} ${path}`);
}

const triggers = { cms: ['article'] };

/** @returns a function that builds an item from the properties of an entity */
function itemBuilder(properties: Json, fields: JsonObject = { any: { type: 'text' } }) {
  const { indexes } = compileValid({ indexes: { i: { triggers, index: { fields }, properties } } });
  const schema = indexes.get('i');
  assert.ok(schema);
  return (entity: JsonObject) => finish(schema.build(inputOf(entityOf(entity))));
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

test('index schema: the string of an item is what JSON.stringify writes for its fields, or is omitted', () => {
  const build = itemBuilder(properties);
  const merged = itemBuilder({ named: '{p.named}', '*': '$.p' });
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', '10', '2'), fc.jsonValue()), (given) => {
      const entity = JSON.parse(JSON.stringify(given)) as JsonObject;
      const { fields, text } = build(entity);
      assert.equal(text, JSON.stringify(fields));
      const other = merged(entity);
      if (other.text !== null) assert.equal(other.text, JSON.stringify(other.fields));
    }),
    { numRuns: runs(300) },
  );
});

test('index schema: an item has the values of a view with the same properties', () => {
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
  const itemOf = itemBuilder(properties);
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), value), (entity) => {
      const built = buildWith(view, compiled, entityOf(entity));
      const item = itemOf(entity);
      assert.deepEqual(item.fields, built.view);
      assert.deepEqual(item.diagnostics, built.diagnostics);
    }),
    { numRuns: runs(300) },
  );
});

test('index schema: a single hole fills a text field with its string, and any other field with the value itself', () => {
  const texts = indexed(
    { n: { type: 'double' }, list: { type: 'keyword[]' }, k: { type: 'keyword' }, t: { type: 'double' } },
    { n: '{p.n}', list: '{p.list}', k: '{p.n}', t: '{p.n} m' },
  );
  const schema = compileValid(texts).indexes.get('i');
  assert.ok(schema);
  const item = finish(schema.build(inputOf(entityOf({ n: 1.5, list: ['a'] }))));
  assert.equal(JSON.stringify(item.fields), '{"n":1.5,"list":["a"],"k":"1.5","t":"1.5 m"}');
});

test('index schema: an index item contains the mapped values', () => {
  const texts = indexed(
    { a: { type: 'keyword[]', metadata: { any: 1 } }, n: { type: 'double' }, o: { type: 'object' } },
    {
      a: { type: 'array', input: '{p.tags}' },
      n: { type: 'number', value: '{p.n}', precision: 1 },
      o: { '*': 'p.o' },
    },
  );
  const schema = compileValid(texts).indexes.get('i');
  const entity = entityOf(JSON.parse('{"tags": ["x", null], "n": "1.25", "o": {"__proto__": 1}}'));
  assert.ok(schema);
  const item = finish(schema.build(inputOf(entity)));
  assert.equal(JSON.stringify(item.fields), '{"a":["x",null],"n":1.2,"o":{"__proto__":1}}');
  assert.deepEqual(
    [...(schema.fields ?? [])],
    [
      ['a', 'keyword[]'],
      ['n', 'double'],
      ['o', 'object'],
    ],
  );
});

test('index schema: an item beyond its limit is truncated and diagnosed', () => {
  const huge = 'x'.repeat(9 * 1024 * 1024);
  const item = itemBuilder({ a: '{p.a}', b: '{p.b}' })({ a: huge, b: huge });
  assert.deepEqual(item.fields, { a: huge, b: null });
  assert.deepEqual(
    item.diagnostics.map(({ kind }) => kind),
    ['limitReached'],
  );
});

test('index schema: field types are known, references are rejected even in partials, and fields need no property', () => {
  assert.deepEqual(places(indexed({ a: { type: 'keywrd' } }, { a: '1' })), [
    'indexes/i.json $.index.fields.a.type',
  ]);
  assert.deepEqual(places(indexed({ a: { type: 'keyword' } }, {})), []);
  assert.deepEqual(places(indexed({}, { a: '1' })), []);
  assert.deepEqual(places(indexed({ a: { type: 'long[]' } }, { '*': 'p' })), []);
  assert.deepEqual(places(indexed({ _score: { type: 'float' } }, { _score: '1' })), [
    'indexes/i.json $.index.fields._score',
  ]);
  const reference = { type: 'reference', alias: 'a', id: '{id}' };
  assert.deepEqual(places(indexed({ a: { type: 'object' } }, { a: reference })), [
    'indexes/i.json $.properties.a',
  ]);
  const viaPartial = indexed(
    { a: { type: 'object' } },
    { a: { type: 'partial', input: '{root}', alias: 'c' } },
  );
  assert.deepEqual(places({ ...viaPartial, partials: { c: { properties: { r: reference } } } }), [
    'indexes/i.json $.properties',
  ]);
});
