import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { compileTest, Reads } from '../../../src/schemas/filter/evaluate.ts';
import type { FilterNode } from '../../../src/schemas/filter/node.ts';
import { layoutOf, project } from '../../../src/schemas/lookup-layout.ts';
import { entityOf, frameOf } from '../support/fixtures.ts';
import { parseFilter } from '../support/lookups.ts';

/** Whether a condition matches an entity whose row also has values that the condition does not read. */
function holdsFor(node: FilterNode, values: readonly Json[], properties: JsonObject): boolean {
  const reads = new Reads();
  const holds = compileTest(node, reads);
  const layout = layoutOf([{ sourceGroup: null, indexes: [], reads: [['id'], ...reads.paths] }]);
  const inLayout = layout.projection.map((path) => path.join('.'));
  const positions = reads.paths.map((path) => inLayout.indexOf(path.join('.')));
  const row = project(layout, entityOf(properties));
  return holds({ row, positions, values, sets: new Map(), elements: [] });
}

function holds(filter: string, properties: JsonObject, asking: JsonObject = {}): boolean {
  const { node, values } = parseFilter(filter);
  return holdsFor(node, values.values(frameOf(entityOf(asking))), properties);
}

test('filter: an absent value is null, which `ne` matches and comparisons do not', () => {
  assert.ok(holds('p.none ne 1 and p.none eq null and not (p.none lt 1) and not (p.none ge 1)', {}));
  assert.ok(holds('p.a.b.c eq null', { a: 'text' }));
});

test('filter: over absent and empty lists, `any` is false and `all` is true', () => {
  for (const properties of [{}, { list: null }, { list: [] }]) {
    assert.equal(holds('p.list/any(x: x eq null)', properties), false);
    assert.ok(holds('p.list/all(x: x eq 1)', properties));
  }
});

test('filter: a value that is not an array is treated as its only element', () => {
  assert.ok(holds('p.a/any(x: x eq 1) and p.a/all(x: x eq 1)', { a: 1 }));
});

test('filter: a lambda reads its own element, those of outer lambdas, and the entity', () => {
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

test('filter: a lambda does not affect its sibling with the same variable', () => {
  assert.ok(holds('p.a/any(x: x eq 1) and p.b/any(x: x eq 2)', { a: [0, 1], b: [2] }));
  assert.equal(holds('p.a/any(x: x eq 1) and p.b/any(x: x eq 2)', { a: [1, 2], b: [1] }), false);
});

test('filter: `in` spreads a placeholder that is an array, but not one in parentheses', () => {
  assert.ok(holds('p.a in {p.v}', { a: 'x' }, { v: ['w', 'x'] }));
  assert.ok(holds('p.a in {p.v}', { a: 'x' }, { v: 'x' }));
  assert.equal(holds('p.a in {p.v}', { a: '9' }, { v: [9] }), false);
  assert.ok(holds('p.a in ({p.v})', { a: [1] }, { v: [1] }), 'in parentheses the array is the value');
});

test('filter: two `in` operators of one condition keep separate values', () => {
  assert.ok(holds('p.a in (1, 2) and not (p.a in (2, 3))', { a: 1 }));
  assert.equal(holds('p.a in (1, 2) and not (p.a in (2, 3))', { a: 2 }), false);
});

test('filter: a property match uses the first path with a value', () => {
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

test('filter: a runtime type matches exactly; `*` and null match all types', () => {
  const ofType: FilterNode = { kind: 'ofType', operand: { index: 0, constant: undefined } };
  for (const wanted of ['article', '*', null]) assert.ok(holdsFor(ofType, [wanted], {}), `${wanted}`);
  for (const wanted of ['page', 'Article', '']) assert.equal(holdsFor(ofType, [wanted], {}), false, wanted);
});

test('filter: reads each path once', () => {
  const reads = new Reads();
  compileTest(parseFilter('p.a eq 1 or p.a gt 5 and properties.a/any(x: p.b eq 1)').node, reads);
  assert.deepEqual(reads.paths, [
    ['properties', 'a'],
    ['properties', 'b'],
  ]);
  assert.equal(reads.add(['properties', 'b']), 1);
  assert.equal(reads.add(['properties.b']), 2, 'a dot in a name does not separate steps');
});
