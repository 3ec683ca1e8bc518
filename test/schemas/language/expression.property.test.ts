import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { StoredEntity } from '../../../src/contract/entity.ts';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { runs } from '../../support/runs.ts';
import { buildWith, compileValid, entityOf, schemaOf } from '../support/fixtures.ts';
import { interpret } from '../support/naive-language.ts';

/* Random schemas over random entities: the compiled closures against an interpreter that walks the JSON. */

const names = ['a', 'b', 'list', 'deep'] as const;
const name = fc.constantFrom(...names);

const leaf = fc.constantFrom<Json>(
  null,
  0,
  -0.5,
  1.25,
  2.5,
  1e21,
  'x',
  '',
  ' 3.75 ',
  'TRUE',
  'false',
  true,
  'é"\\',
  '\ud800',
);
const { value: values } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    { weight: 3, arbitrary: leaf },
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3 }),
  ),
}));
const properties = fc.dictionary(name, values) as fc.Arbitrary<JsonObject>;

const starts = [
  'p',
  'root',
  'item',
  'parent',
  'input',
  'originId',
  'originParentId',
  'id',
  'redirects',
  'type',
  'url',
];
const partialStarts = ['root', 'item', 'parent', 'input', 'a', 'b', 'p', 'id'];

function holes(from: readonly string[]): fc.Arbitrary<string> {
  const step = fc.oneof(
    name.map((n) => `.${n}`),
    name.map((n) => `?.${n}`),
    name.map((n) => `['${n}']`),
    fc.constantFrom('[0]', '[1]', '.p', '.properties', '.id', '.originId'),
  );
  const path = fc
    .tuple(fc.constantFrom(...from), fc.array(step, { maxLength: 3 }))
    .map(([start, steps]) => start + steps.join(''));
  const literal = fc.constantFrom("'lit'", '7', 'true', 'null');
  return fc
    .array(fc.oneof({ weight: 5, arbitrary: path }, literal), { minLength: 1, maxLength: 2 })
    .map((operands) => `{${operands.join(' ?? ')}}`);
}

function expressions(from: readonly string[]): fc.Arbitrary<string> {
  const hole = holes(from);
  return fc.oneof(
    { weight: 4, arbitrary: hole },
    fc
      .array(fc.oneof(hole, fc.constantFrom('text', '{{', '}}', ' ')), { maxLength: 3 })
      .map((parts) => parts.join('')),
  );
}

/** @param aliases partials that may be used, without cycles, which would double endlessly in the interpreter */
function definitions(from: readonly string[], depth: number, aliases: readonly string[]): fc.Arbitrary<Json> {
  const text = expressions(from);
  const optional = (key: string, arbitrary: fc.Arbitrary<Json>) =>
    fc.option(arbitrary).map((value): JsonObject => (value === null ? {} : { [key]: value }));
  const simple = fc.oneof<fc.Arbitrary<Json>[]>(
    text,
    fc
      .tuple(text, optional('default', fc.constantFrom('D', '{type}')))
      .map(([value, more]) => ({ type: 'string', value, ...more })),
    fc
      .tuple(
        text,
        optional('default', fc.constantFrom<Json>(1.55, '{p.a}')),
        optional('precision', fc.nat(3)),
      )
      .map(([value, fallback, precision]) => ({ type: 'number', value, ...fallback, ...precision })),
    fc
      .tuple(text, optional('default', fc.constantFrom<Json>(true, '{p.b}')))
      .map(([value, more]) => ({ type: 'boolean', value, ...more })),
    fc.array(name, { minLength: 1, maxLength: 2 }).map((steps) => ({ '*': `$.p.${steps.join('.')}` })),
    fc
      .tuple(text, fc.constantFrom('originId', 'id'))
      .map(([id, key]) => ({ type: 'reference', alias: 'card', [key]: id })),
    fc
      .tuple(holes(from), fc.constantFrom(...aliases))
      .map(([input, alias]) => ({ type: 'partial', input, alias })),
  );
  if (depth === 0) return simple;
  const inner = definitions(from, depth - 1, aliases);
  const variable = `v${depth}`;
  const list = fc.oneof(
    holes(from),
    fc.array(name, { maxLength: 2 }).map((steps) => ({ $path: ['p', ...steps].join('.') })),
    fc.constant({ $path: 'p.list[*]' }),
  );
  return fc.oneof<fc.Arbitrary<Json>[]>(
    simple,
    fc
      .dictionary(fc.constantFrom('x', 'y y', 'z'), inner)
      .map((members) => ({ type: 'object', properties: members })),
    fc
      .tuple(inner, name)
      .map(([x, at]) => ({ type: 'object', properties: { a: x, '*': `p.${at}`, z: '1' } })),
    list.map((input) => ({ type: 'array', input })),
    fc.tuple(list, inner).map(([input, items]) => ({ type: 'array', input, items })),
    fc
      .tuple(list, definitions([...from, variable], depth - 1, aliases))
      .map(([input, items]) => ({ type: 'array', input, items, var: variable })),
  );
}

const schemas = fc.dictionary(
  fc.constantFrom('one', 'two three', 'four'),
  definitions(starts, 3, ['one', 'two', '{type}']),
  {
    minKeys: 1,
  },
);
const bodies = (aliases: readonly string[]) => {
  return fc.dictionary(fc.constantFrom('m', 'n'), definitions(partialStarts, 1, aliases));
};

const entities: fc.Arbitrary<StoredEntity> = fc
  .record({
    properties,
    type: fc.constantFrom('one', 'article'),
    originParentId: fc.constantFrom(null, 'up'),
    redirects: fc.subarray(['/r', '/s']),
  })
  .map(({ properties: own, ...fields }) => entityOf(own, fields));

test('expression: the compiled language equals a plain interpreter of the same JSON', () => {
  fc.assert(
    fc.property(schemas, bodies(['two', 'none']), bodies(['none']), entities, (view, one, two, entity) => {
      const partials = { one: { properties: one }, two: { properties: two } };
      const compiled = compileValid({ schemas: { view: schemaOf(view) }, partials });
      const schema = compiled.schemas.get('view');
      assert.ok(schema);
      const built = buildWith(schema, compiled, entity);
      assert.equal(built.text, JSON.stringify(interpret(view, { one, two }, entity)));
      assert.equal(buildWith(schema, compiled, entity).text, built.text);
    }),
    { numRuns: runs(1_000) },
  );
});
