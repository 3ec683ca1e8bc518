import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { compileTest, Reads } from '../../../src/schemas/filter/evaluate.ts';
import type { FilterNode } from '../../../src/schemas/filter/node.ts';
import { layoutOf, project } from '../../../src/schemas/lookup-layout.ts';
import { entityOf, frameOf } from '../support/fixtures.ts';
import { parseFilter } from '../support/lookups.ts';

/** Whether a condition holds for an entity; its row has values beside those that are read. */
function holdsFor(node: FilterNode, values: readonly Json[], properties: JsonObject): boolean {
  const reads = new Reads();
  const holds = compileTest(node, reads);
  const layout = layoutOf([{ sourceGroup: null, indexes: [], reads: [['id'], ...reads.paths] }]);
  const inLayout = layout.projection.map((path) => path.join('.'));
  const places = reads.paths.map((path) => inLayout.indexOf(path.join('.')));
  const row = project(layout, entityOf(properties));
  return holds({ row, places, values, sets: new Map(), elements: [] });
}

function holds(filter: string, properties: JsonObject, asking: JsonObject = {}): boolean {
  const { node, values } = parseFilter(filter);
  return holdsFor(node, values.values(frameOf(entityOf(asking))), properties);
}

test('what is absent is null: `ne` any value holds, an order does not', () => {
  assert.ok(holds('p.none ne 1 and p.none eq null and not (p.none lt 1) and not (p.none ge 1)', {}));
  assert.ok(holds('p.a.b.c eq null', { a: 'text' }));
});

test('of what is absent or empty `any` is false and `all` is true', () => {
  for (const properties of [{}, { list: null }, { list: [] }]) {
    assert.equal(holds('p.list/any(x: x eq null)', properties), false);
    assert.ok(holds('p.list/all(x: x eq 1)', properties));
  }
});

test('what is no array is its only element', () => {
  assert.ok(holds('p.a/any(x: x eq 1) and p.a/all(x: x eq 1)', { a: 1 }));
});

test('a lambda reads its own element, those around it and the entity', () => {
  const filter = "p.rows/any(row: row.cells/all(cell: cell gt 1 and row.kind eq 'k' and p.open eq true))";
  const rows = [
    { kind: 'k', cells: [1] },
    { kind: 'k', cells: [2, 8] },
  ];
  assert.ok(holds(filter, { open: true, rows }));
  assert.equal(holds(filter, { open: false, rows }), false);
  assert.equal(holds(filter, { open: true, rows: rows.slice(0, 1) }), false);
  assert.equal(holds(filter, { open: true, rows: [{ kind: 'other', cells: [2] }] }), false);
});

test('a lambda leaves nothing behind for the one beside it', () => {
  assert.ok(holds('p.a/any(x: x eq 1) and p.b/any(x: x eq 2)', { a: [0, 1], b: [2] }));
  assert.equal(holds('p.a/any(x: x eq 1) and p.b/any(x: x eq 2)', { a: [1, 2], b: [1] }), false);
});

test('`in` takes the items of a hole that is an array, and the value of any other', () => {
  assert.ok(holds('p.a in {p.v}', { a: 'x' }, { v: ['w', 'x'] }));
  assert.ok(holds('p.a in {p.v}', { a: 'x' }, { v: 'x' }));
  assert.equal(holds('p.a in {p.v}', { a: '9' }, { v: [9] }), false);
  assert.ok(holds('p.a in ({p.v})', { a: [1] }, { v: [1] }), 'in parentheses the array is the value');
});

test('two `in` of one condition have values of their own', () => {
  assert.ok(holds('p.a in (1, 2) and not (p.a in (2, 3))', { a: 1 }));
  assert.equal(holds('p.a in (1, 2) and not (p.a in (2, 3))', { a: 2 }), false);
});

test('a property match counts the first path at which the entity has something', () => {
  const match: FilterNode = {
    kind: 'match',
    operator: 'equals',
    paths: [['properties', 'type'], ['type']],
    operand: { index: 0, constant: undefined },
  };
  assert.ok(holdsFor(match, ['article'], {}));
  assert.ok(holdsFor(match, ['article'], { type: null }));
  assert.equal(holdsFor(match, ['article'], { type: 'own' }), false);
  assert.ok(holdsFor(match, ['own'], { type: 'own' }));
});

test('a type known at run time alone is compared by its text; `*` and null are all types', () => {
  const ofType: FilterNode = { kind: 'ofType', operand: { index: 0, constant: undefined } };
  for (const wanted of ['article', '*', null]) assert.ok(holdsFor(ofType, [wanted], {}), `${wanted}`);
  for (const wanted of ['page', 'Article', '']) assert.equal(holdsFor(ofType, [wanted], {}), false, wanted);
});

test('each path is read once, whoever reads it', () => {
  const reads = new Reads();
  compileTest(parseFilter('p.a eq 1 or p.a gt 5 and properties.a/any(x: p.b eq 1)').node, reads);
  assert.deepEqual(reads.paths, [
    ['properties', 'a'],
    ['properties', 'b'],
  ]);
  assert.equal(reads.add(['properties', 'b']), 1);
  assert.equal(reads.add(['properties.b']), 2, 'a dot in a name is no step');
});
