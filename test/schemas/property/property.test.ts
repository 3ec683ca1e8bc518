import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { definitionDepthMax } from '../../../src/contract/limits.ts';
import { compileWithIssues, schemaOf } from '../support/fixtures.ts';
import { issuesIn, resultOf } from '../support/property.ts';

const types = ['string', 'number', 'boolean', 'array', 'object', 'reference', 'partial', 'dynamic'];

test('property: only the documented types exist', () => {
  for (const type of types) {
    const places = issuesIn({ type });
    assert.ok(!places.includes('.type'), type);
  }
  for (const type of ['', 'String', 'text', 'toString', '__proto__', 7, null]) {
    assert.deepEqual(issuesIn({ type }), ['.type'], String(type));
  }
});

test('property: an unknown key of any type is an error', () => {
  for (const type of types) assert.ok(issuesIn({ type, unknown: 1 }).includes('.unknown'), type);
});

test('property: a definition is a bare value, a dynamic one, or an object with its type', () => {
  assert.equal(resultOf('{p.a}', { a: 1 }), '1');
  assert.equal(resultOf(7, {}), 7);
  assert.equal(resultOf({ '*': 'p.a' }, { a: 1 }), 1);
  assert.equal(resultOf({ type: 'number', value: '{p.a}' }, { a: 1 }), 1);
  assert.deepEqual(issuesIn({}), ['']);
  assert.deepEqual(issuesIn({ value: 'x' }), ['']);
  assert.deepEqual(issuesIn(['x']), ['']);
});

test('property: a misspelt type gets a suggestion', () => {
  const { issues } = compileWithIssues({ schemas: { v: schemaOf({ x: { type: 'strng', value: '' } }) } });
  assert.match(issues[0]?.advice ?? '', /Did you mean "string"\?/);
});

test('property: an endlessly nested definition is rejected once, and not followed', () => {
  let deep: Json = { type: 'string', value: '{p.' };
  for (let levels = 0; levels < definitionDepthMax; levels++)
    deep = { type: 'object', properties: { a: deep } };
  const places = issuesIn(deep);
  assert.equal(places.length, 1);
  // Beneath `$.properties.x`, itself two levels down, each object adds two more.
  assert.equal(places[0], '.properties.a'.repeat(definitionDepthMax / 2));
});
