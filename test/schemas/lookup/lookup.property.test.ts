import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { StoredEntity } from '../../../src/contract/entity.ts';
import type { Json, JsonObject } from '../../../src/contract/json.ts';
import { layoutOf } from '../../../src/schemas/lookup-layout.ts';
import { runs } from '../../support/runs.ts';
import { answer, entityOf } from '../support/fixtures.ts';
import { compiledLookup, queryOf } from '../support/lookups.ts';

/* Conditions as a tree of their own, written out for the code under test and judged here by the plainest means. */

type Value = { hole: string } | { literal: string | number | boolean | null };
type Condition =
  | { is: 'and'; parts: Condition[] }
  | { is: 'or'; parts: Condition[] }
  | { is: 'not'; part: Condition }
  | { is: 'compare'; path: string; operator: string; value: Value }
  | { is: 'in'; path: string; values: Value[] }
  | { is: 'inHole'; path: string; hole: string }
  | { is: 'function'; name: string; path: string; value: Value }
  | { is: 'any'; path: string; variable: string; part: Condition }
  | { is: 'all'; path: string; variable: string; part: Condition };

const names = ['a', 'b', 'list'] as const;
const scalars = fc.constantFrom<Json>(null, 1, 2, 9, '9', '1', 'x', 'xy', 'y', '', true, false, 'true');
const someProperties = fc.dictionary(
  fc.constantFrom(...names),
  fc.oneof(
    { weight: 4, arbitrary: scalars },
    fc.array(scalars, { maxLength: 3 }),
    fc.array(fc.record({ a: scalars }), { maxLength: 2 }),
    fc.record({ a: scalars, b: scalars }),
  ),
);

const entities: fc.Arbitrary<StoredEntity[]> = fc
  .array(
    fc.record({
      properties: someProperties,
      type: fc.constantFrom('article', 'page'),
      url: fc.constantFrom(null, '/x'),
      originParentId: fc.constantFrom(null, 'o1', '9'),
      redirects: fc.subarray(['x', '/r']),
    }),
    { maxLength: 8 },
  )
  .map((list) =>
    list.map(({ properties, ...fields }, i) => entityOf(properties, { ...fields, originId: `o${i}` })),
  );

const literals = fc.constantFrom<Value>(
  { literal: 'x' },
  { literal: "it's" },
  { literal: '9' },
  { literal: 9 },
  { literal: 1 },
  { literal: -1.5 },
  { literal: true },
  { literal: null },
  { literal: 'article' },
  { literal: 'page' },
  { literal: '' },
);
const holes = fc.constantFrom(...names);
const values = fc.oneof(
  literals,
  holes.map((hole): Value => ({ hole })),
);

function conditions(paths: readonly string[], depth: number): fc.Arbitrary<Condition> {
  const path = fc.constantFrom(...paths);
  const operator = fc.constantFrom('eq', 'eq', 'eq', 'ne', 'gt', 'ge', 'lt', 'le');
  const types = fc.constantFrom('article', 'page');
  const compare = fc.tuple(path, operator, values).map(comparison);
  const typed = types.map((literal) => comparison(['type', 'eq', { literal }]));
  const listed = fc
    .tuple(path, fc.array(values, { minLength: 1, maxLength: 3 }))
    .map(([at, list]): Condition => ({ is: 'in', path: at, values: list }));
  const listedByHole = fc
    .tuple(path, holes)
    .map(([at, hole]): Condition => ({ is: 'inHole', path: at, hole }));
  const called = fc
    .tuple(fc.constantFrom('contains', 'startswith', 'endswith'), path, values)
    .map(([name, at, value]): Condition => ({ is: 'function', name, path: at, value }));
  const leaf = fc.oneof({ weight: 5, arbitrary: compare }, typed, listed, listedByHole, called);
  if (depth === 0) return leaf;
  const inner = conditions(paths, depth - 1);
  const variable = `v${depth}`;
  const parts = fc.array(inner, { minLength: 2, maxLength: 3 });
  const inLambda = fc.tuple(path, conditions([...paths, variable, `${variable}.a`], depth - 1));
  return fc.oneof(
    { weight: 2, arbitrary: leaf },
    parts.map((list): Condition => ({ is: 'and', parts: list })),
    parts.map((list): Condition => ({ is: 'or', parts: list })),
    inner.map((part): Condition => ({ is: 'not', part })),
    inLambda.map(([at, part]): Condition => ({ is: 'any', path: at, variable, part })),
    inLambda.map(([at, part]): Condition => ({ is: 'all', path: at, variable, part })),
  );
}

function comparison([path, operator, value]: [string, string, Value]): Condition {
  return { is: 'compare', path, operator, value };
}

const entityPaths = [
  'type',
  'url',
  'originId',
  'originParentId',
  'redirects',
  'properties.a',
  'properties.b',
  'properties.list',
  'properties.list.a',
  'p.a',
];

function write(condition: Condition): string {
  switch (condition.is) {
    case 'and':
    case 'or':
      return condition.parts.map((part) => `(${write(part)})`).join(` ${condition.is} `);
    case 'not':
      return `not (${write(condition.part)})`;
    case 'compare':
      return `${condition.path} ${condition.operator} ${writeValue(condition.value)}`;
    case 'in':
      return `${condition.path} in (${condition.values.map(writeValue).join(', ')})`;
    case 'inHole':
      return `${condition.path} in {p.${condition.hole}}`;
    case 'function':
      return `${condition.name}(${condition.path}, ${writeValue(condition.value)})`;
    default:
      return `${condition.path}/${condition.is}(${condition.variable}: ${write(condition.part)})`;
  }
}

function writeValue(value: Value): string {
  if ('hole' in value) return `{p.${value.hole}}`;
  return typeof value.literal === 'string'
    ? `'${value.literal.replaceAll("'", "''")}'`
    : String(value.literal);
}

type Bindings = Record<string, Json>;

function read(path: string, entity: StoredEntity, bindings: Bindings): Json {
  const [head = '', ...rest] = path.split('.');
  const fields = { ...entity, p: entity.properties } as unknown as Bindings;
  let value: Json | undefined = head in bindings ? bindings[head] : fields[head];
  for (const name of rest) {
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    value = isObject ? (value as JsonObject)[name] : null;
  }
  return value ?? null;
}

function given(value: Value, asking: JsonObject): Json {
  return 'hole' in value ? (asking[value.hole] ?? null) : value.literal;
}

/** Through their JSON, because objects that fast-check creates have no prototype, which is not a difference here. */
function equal(a: Json, b: Json): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)));
}

function holds(condition: Condition, entity: StoredEntity, asking: JsonObject, bindings: Bindings): boolean {
  const inner = (part: Condition, more: Bindings = {}) =>
    holds(part, entity, asking, { ...bindings, ...more });
  if (condition.is === 'and') return condition.parts.filter((part) => !inner(part)).length === 0;
  if (condition.is === 'or') return condition.parts.filter((part) => inner(part)).length > 0;
  if (condition.is === 'not') return !inner(condition.part);
  const value = read(condition.path, entity, bindings);
  if (condition.is === 'in') return condition.values.some((one) => equal(value, given(one, asking)));
  if (condition.is === 'inHole')
    return [asking[condition.hole] ?? null].flat().some((one) => equal(value, one));
  if (condition.is === 'any' || condition.is === 'all') {
    const elements = value === null ? [] : [value].flat();
    const hits = elements.filter((element) => inner(condition.part, { [condition.variable]: element }));
    return condition.is === 'any' ? hits.length > 0 : hits.length === elements.length;
  }
  const wanted = given(condition.value, asking);
  if (condition.is === 'compare') return compared(value, condition.operator, wanted);
  if (condition.name === 'contains' && Array.isArray(value)) return value.some((one) => equal(one, wanted));
  if (typeof value !== 'string' || typeof wanted !== 'string') return false;
  const at =
    { contains: value.indexOf(wanted), startswith: 0, endswith: value.length - wanted.length }[
      condition.name
    ] ?? -1;
  return at >= 0 && value.slice(at, at + wanted.length) === wanted;
}

function compared(a: Json, operator: string, b: Json): boolean {
  if (operator === 'eq') return equal(a, b);
  if (operator === 'ne') return !equal(a, b);
  if (a === null || b === null || typeof a !== typeof b || typeof a === 'object' || typeof b === 'object')
    return false;
  const order = a < b ? -1 : a > b ? 1 : 0;
  return { gt: order > 0, ge: order >= 0, lt: order < 0, le: order <= 0 }[operator] ?? false;
}

const supersetPlans = [
  { filter: "properties.a eq 'q' and type eq 'article' or contains(properties.b, 'z')" },
  { operator: 'contains', sourceEntityProperty: 'list', matchValue: 'x', orderBy: { property: 'b' } },
].flatMap((lookup) => compiledLookup(lookup).lookupPlans);

test('lookup: a filter finds through its keys what testing every entity finds, in any layout that has its indexes', () => {
  fc.assert(
    fc.property(conditions(entityPaths, 3), entities, someProperties, (condition, stored, asking) => {
      const schema = compiledLookup({ filter: write(condition) });
      const query = queryOf(schema, entityOf(asking));
      const wanted = stored.filter((entity) => holds(condition, entity, asking, {}));
      for (const layout of [
        layoutOf(schema.lookupPlans),
        layoutOf([...supersetPlans, ...schema.lookupPlans]),
      ]) {
        const found = answer(query, layout, stored);
        assert.deepEqual(
          found.map((entity) => entity.originId),
          wanted.map((entity) => entity.originId),
          write(condition),
        );
      }
    }),
    { numRuns: runs(1_500) },
  );
});

const matches = fc.record({
  operator: fc.constantFrom('equals', 'contains'),
  property: fc.constantFrom('a', 'b', 'list', 'list.a', 'originParentId', 'type', 'properties.a', 'p.b'),
  hole: holes,
  type: fc.constantFrom(null, '*', 'page', '{p.a}'),
  orderBy: fc.option(
    fc.record({ property: fc.constantFrom('a', 'b', 'url'), sort: fc.constantFrom('asc', 'desc') }),
  ),
  top: fc.constantFrom<Json>(null, 2, '1', '{p.b}'),
});

function text(value: Json): string | null {
  return value === null || typeof value === 'object' ? null : `${value}`;
}

function propertyOf(name: string, entity: StoredEntity): Json {
  const inProperties = read(`properties.${name.replace(/^(properties|p)\./, '')}`, entity, {});
  return inProperties ?? (name.includes('.') ? null : read(name, entity, {}));
}

const kindOrder = ['number', 'string', 'boolean'];

test('lookup: a property match finds what testing every entity finds, sorted and limited', () => {
  fc.assert(
    fc.property(
      matches,
      entities,
      someProperties,
      ({ operator, property, hole, type, orderBy, top }, stored, asking) => {
        const lookup = {
          operator,
          sourceEntityProperty: property,
          matchValue: `{p.${hole}}`,
          ...(type === null ? {} : { sourceEntityType: type }),
          ...(orderBy === null ? {} : { orderBy }),
          ...(top === null ? {} : { top }),
        };
        const schema = compiledLookup(lookup);
        const query = queryOf(schema, entityOf(asking));
        const wantedText = text(asking[hole] ?? null);
        const wantedType =
          type === '{p.a}'
            ? typeof asking.a === 'object' && asking.a !== null
              ? JSON.stringify(asking.a)
              : text(asking.a ?? null)
            : type;
        const found = stored.filter((entity) => {
          if (wantedText === null) return false;
          if (wantedType !== null && wantedType !== '*' && wantedType !== entity.type) return false;
          const value = propertyOf(property, entity);
          if (operator === 'equals') return text(value) === wantedText;
          return Array.isArray(value)
            ? value.map(text).includes(wantedText)
            : typeof value === 'string' && value.includes(wantedText);
        });
        const ids = found.map((entity) => entity.originId);
        if (orderBy !== null) {
          const keyed = found.map((entity) => ({
            id: entity.originId,
            value: propertyOf(orderBy.property, entity),
          }));
          const present = keyed.filter(({ value }) => kindOrder.includes(typeof value));
          present.sort((a, b) => {
            const kinds = kindOrder.indexOf(typeof a.value) - kindOrder.indexOf(typeof b.value);
            const order =
              kinds || ((a.value as string) < (b.value as string) ? -1 : a.value === b.value ? 0 : 1);
            return (orderBy.sort === 'desc' ? -order : order) || (a.id < b.id ? -1 : 1);
          });
          const absent = keyed.filter(({ value }) => !kindOrder.includes(typeof value));
          ids.splice(0, ids.length, ...present.map(({ id }) => id), ...absent.map(({ id }) => id));
        }
        const asked = top === '{p.b}' ? (asking.b ?? null) : top;
        const limit =
          typeof asked === 'number' || (typeof asked === 'string' && /^[0-9]+$/.test(asked))
            ? Number(asked)
            : 1_000;
        const layout = layoutOf([...supersetPlans, ...schema.lookupPlans]);
        assert.deepEqual(
          answer(query, layout, stored).map((entity) => entity.originId),
          ids.slice(0, limit),
        );
      },
    ),
    { numRuns: runs(1_500) },
  );
});
