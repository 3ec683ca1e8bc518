import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json } from '../../../src/contract/json.ts';
import { runs } from '../../support/runs.ts';
import { buildView, entityOf } from '../support/fixtures.ts';
import { assertCases, diagnosedKinds, issuesIn, resultOf } from '../support/property.ts';

const object = (properties: Json): Json => ({ type: 'object', properties });

test('object: an object has the named properties', () => {
  assertCases([
    [object({ a: '1', b: object({}) }), {}, { a: '1', b: {} }],
    [object({}), {}, {}],
    [object({ a: '{p.missing}' }), {}, { a: null }],
  ]);
});

test('object: with `*` as its only property, it is whatever the path selects', () => {
  assertCases([
    [object({ '*': 'p.a' }), { a: ['a', 'b'] }, ['a', 'b']],
    [object({ '*': 'p.a' }), { a: 'text' }, 'text'],
    [object({ '*': 'p.missing' }), {}, null],
    [object({ '*': { '*': 'p.a' } }), { a: 1 }, 1],
    [object({ '*': { type: 'dynamic', value: 'p.a' } }), { a: 1 }, 1],
  ]);
});

test('object: `*` next to other properties adds the members that are not defined by name', () => {
  const name = fc.constantFrom('a', 'b', 'c', '0', '__proto__', 'constructor');
  const values = fc.dictionary(name, fc.constantFrom('x', 'y'), { noNullPrototype: true });
  fc.assert(
    fc.property(values, values, (named, given) => {
      const written = Object.entries(named);
      const wanted = Object.fromEntries([
        ...Object.entries(given).filter(([key]) => !Object.hasOwn(named, key)),
        ['z', '1'],
        ...written,
      ]);
      const properties = Object.fromEntries([['*', 'p.given'], ['z', '1'], ...written]);
      assert.deepEqual(resultOf(object(properties), { given }), wanted);
    }),
    { numRuns: runs(200) },
  );
});

test('object: if `*` next to other properties selects no object, it is ignored, and diagnosed unless it is null', () => {
  const definition = object({ z: 'z', '*': 'p.a' });
  for (const a of [['a'], 'text', 7]) {
    assert.deepEqual(resultOf(definition, { a }), { z: 'z' });
    assert.deepEqual(diagnosedKinds(definition, { a }), ['valueDoesNotFit']);
  }
  assert.deepEqual(resultOf(definition, { a: null }), { z: 'z' });
  assert.deepEqual(diagnosedKinds(definition, { a: null }), []);
});

test('object: a view is an object even if its only property is `*`', () => {
  const entity = entityOf({ meta: { a: 1, b: { c: 2 } }, tags: ['a'] });
  assert.deepEqual(buildView({ '*': 'p.meta' }, entity).view, { a: 1, b: { c: 2 } });
  const { view, diagnostics } = buildView({ '*': 'p.tags' }, entity);
  assert.deepEqual(view, {});
  assert.equal(diagnostics[0]?.kind, 'valueDoesNotFit');
});

test('object: properties are in the order of the schema, names and values as JSON.stringify writes them', () => {
  const odd = entityOf({ t: 'a"\u2028\ud800\\\n' });
  const { text } = buildView({ zeta: '{p.t}', 'a "b"': '1', alpha: { '*': '$.p' } }, odd);
  const wanted = { zeta: odd.properties.t, 'a "b"': '1', alpha: odd.properties };
  assert.equal(text, JSON.stringify(wanted));
});

test('object: __proto__ and constructor are ordinary names', () => {
  const hostile = entityOf(JSON.parse('{"o": {"__proto__": {"x": 1}, "constructor": 2}}'));
  const schema = JSON.parse(
    '{"__proto__": "{p.o.__proto__.x}", "copy": {"*": "$.p.o"}, "none": "{p.__proto__}"}',
  );
  const { text } = buildView(schema, hostile);
  assert.equal(text, '{"__proto__":"1","copy":{"__proto__":{"x":1},"constructor":2},"none":null}');
});

test('object: properties must be an object, whose definitions are read', () => {
  assert.deepEqual(issuesIn({ type: 'object' }), ['.properties']);
  assert.deepEqual(issuesIn(object([])), ['.properties']);
  assert.deepEqual(issuesIn({ type: 'object', properties: {}, items: 1 }), ['.items']);
  assert.deepEqual(issuesIn(object({ 'a b': '{p.', c: { type: 'x' } })), [
    ".properties['a b']",
    '.properties.c.type',
  ]);
  assert.deepEqual(issuesIn(object({ '*': 'p[' })), [".properties['*']"]);
});
