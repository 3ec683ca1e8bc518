import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { compilePartialSchema } from '../../../src/schemas/definition/full-schema.ts';
import { Scope } from '../../../src/schemas/language/scope.ts';
import { cursorOver } from '../support/cursor.ts';
import { buildView, entityOf } from '../support/fixtures.ts';

function compile(json: Json) {
  const { at, places } = cursorOver(json);
  return { draft: compilePartialSchema('card', at, Scope.partial), places: places() };
}

test('partial schema: bare names are the members of the input', () => {
  const card = { properties: { name: '{name}', all: { '*': 'root' } } };
  const use = { type: 'partial', input: '{p.person}', alias: 'card' };
  const { view } = buildView({ use }, entityOf({ person: { name: 'A' } }), { partials: { card } });
  assert.deepEqual(view, { use: { name: 'A', all: { name: 'A' } } });
});

test('partial schema: knows the partials, lookups and references that it needs', () => {
  const { draft } = compile({
    properties: {
      a: { type: 'partial', input: '{root}', alias: 'other' },
      b: { type: 'array', input: { $lookup: { filter: "type eq 'page'" } } },
      c: { type: 'reference', alias: 'page', id: '{id}' },
    },
  });
  assert.deepEqual([...draft.needs.partials], ['other']);
  assert.equal(draft.needs.anyPartial, false);
  assert.equal(draft.needs.lookupPlans.length, 1);
  assert.deepEqual(
    draft.needs.references.map(({ path }) => path),
    ['$.properties.c'],
  );
});

test('partial schema: an alias that is an expression can mean any partial', () => {
  const { draft } = compile({ properties: { a: { type: 'partial', input: '{root}', alias: '{kind}' } } });
  assert.equal(draft.needs.anyPartial, true);
});

test('partial schema: properties are required, and unknown keys are rejected', () => {
  assert.deepEqual(compile({}).places, ['$.properties']);
  assert.deepEqual(compile({ properties: {}, triggers: {} }).places, ['$.triggers']);
});

test('partial schema: a file can repeat its own alias; another one is a warning, and the file name wins', () => {
  const warningsOf = (json: Json) => {
    const { at, places, warnings } = cursorOver(json);
    compilePartialSchema('card', at, Scope.partial);
    return [...places(), ...warnings.map(({ path, message }) => `${path} ${message}`)];
  };
  assert.deepEqual(warningsOf({ alias: 'card', properties: {} }), []);
  assert.deepEqual(warningsOf({ alias: 'Block-card', properties: {} }), [
    '$.alias the file name gives the partial the alias "card", but "alias" is "Block-card"',
  ]);
  assert.deepEqual(warningsOf({ alias: 3, properties: {} }), ['$.alias']);
});

test('partial schema: runtime diagnostics name the partial', () => {
  const card = { properties: { a: { type: 'partial', input: '{root}', alias: 'none' } } };
  const use = { type: 'partial', input: '{root}', alias: 'card' };
  const { diagnostics } = buildView({ use }, entityOf({}), { partials: { card } });
  assert.deepEqual(
    diagnostics.map(({ place }) => place),
    ['partials/card $.properties.a'],
  );
});
