import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { finish } from '../../../src/lib/cooperative-yield.ts';
import { compileFullSchema } from '../../../src/schemas/definition/full-schema.ts';
import { Scope } from '../../../src/schemas/language/scope.ts';
import { cursorOver } from '../support/cursor.ts';
import { entityOf, inputOf } from '../support/fixtures.ts';

const surroundings = { partials: new Map(), scope: Scope.entity, sourceGroups: ['cms', 'shop'] };

function compile(json: Json) {
  const { at, places } = cursorOver(json);
  return { schema: compileFullSchema('view', at, surroundings), places: places() };
}

const triggers = { cms: ['article'] };

test('full schema: the smallest schema has triggers and properties, and no claims or lookups', () => {
  const { schema, places } = compile({ triggers, properties: { title: '{p.title}' } });
  assert.deepEqual(places, []);
  const input = inputOf(entityOf({ title: 'T' }));
  assert.deepEqual(finish(schema.build(input)).body.texts, ['{"title":"T"}']);
  assert.deepEqual(finish(schema.claims(input)), { url: null, handles: [] });
  assert.deepEqual(schema.actions(input), []);
  assert.deepEqual(schema.triggers, new Map([['cms', new Set(['article'])]]));
});

test('full schema: declares whether its views should have a URL', () => {
  const claimsUrl = (route: Json) => compile({ triggers, properties: {}, route }).schema.claimsUrl;
  assert.equal(claimsUrl({ url: '{url}' }), true);
  assert.equal(claimsUrl({ handles: ['a'] }), false);
});

test('full schema: a build keeps no state of the previous one', () => {
  const { schema } = compile({ triggers, properties: { a: '{p.a}' } });
  const texts = ['x', 'y', 'x'].map((a) => finish(schema.build(inputOf(entityOf({ a })))).body.texts);
  assert.deepEqual(texts, [['{"a":"x"}'], ['{"a":"y"}'], ['{"a":"x"}']]);
});

test('full schema: triggers and properties are required, and unknown keys are rejected', () => {
  assert.deepEqual(compile({}).places.sort(), ['$.properties', '$.triggers']);
  assert.deepEqual(compile({ triggers, properties: {}, index: {} }).places, ['$.index']);
});
