import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isJsonObject, type Json, type JsonObject, setOwn } from '../../../src/contract/json.ts';
import { readEntityValue } from '../../../src/http/ingest/entity-reading.ts';
import { plainProperties } from '../../../src/http/ingest/typed-properties.ts';
import { runs } from '../../support/runs.ts';

interface Wire {
  /** The name of a member as this client writes it. */
  member(name: string): string;
  number(value: number): Json;
  readonly sendsNull: boolean;
  /** Items that are objects are sent as bare maps. */
  readonly isBare: boolean;
}

const wireA: Wire = {
  member: (name) => name.charAt(0).toUpperCase() + name.slice(1),
  number: (value) => JSON.stringify(value),
  sendsNull: false,
  isBare: false,
};
const wireB: Wire = { member: (name) => name, number: (value) => value, sendsNull: true, isBare: false };
const wires: readonly Wire[] = [wireA, wireB, { ...wireA, isBare: true }, { ...wireB, isBare: true }];

function typed(value: Json, wire: Wire): JsonObject {
  const [type, member, written] = partsOf(value, wire);
  const property: JsonObject = { [wire.member('type')]: type };
  if (written !== null || wire.sendsNull) property[wire.member(member)] = written;
  return property;
}

function partsOf(value: Json, wire: Wire): [type: string, member: string, written: Json] {
  if (typeof value === 'number') return ['number', 'value', wire.number(value)];
  if (typeof value === 'boolean') return ['boolean', 'value', value];
  if (Array.isArray(value)) return ['array', 'items', value.map((item) => typedItem(item, wire))];
  if (isJsonObject(value)) return ['object', 'properties', typedMap(value, wire)];
  return ['string', 'value', value];
}

function typedItem(item: Json, wire: Wire): Json {
  return wire.isBare && isJsonObject(item) ? typedMap(item, wire) : typed(item, wire);
}

function typedMap(value: JsonObject, wire: Wire): JsonObject {
  const map: JsonObject = {};
  for (const name of Object.keys(value)) setOwn(map, name, typed(value[name] ?? null, wire));
  return map;
}

const name = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.constantFrom(
    'type',
    'Type',
    'value',
    'Value',
    'properties',
    'items',
    'name',
    '__proto__',
    'constructor',
  ),
);
const { map: plainMap } = fc.letrec<{ map: JsonObject; value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<Json>(null, true, false, 0, -1.5, 1e21, 1e-7, 2 ** 53 + 2),
    fc.string(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('map'),
  ),
  map: fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }).map((entries) => {
    const object: JsonObject = {};
    for (const [key, value] of entries) setOwn(object, key, value);
    return object;
  }),
}));

test('typed properties: any plain JSON that a client writes in a typed form is restored', () => {
  fc.assert(
    fc.property(plainMap, fc.constantFrom(...wires), (inner, wire) => {
      // Names are unrestricted only inside.
      const plain = { inner };
      const sent = JSON.parse(JSON.stringify(typedMap(plain, wire)));
      const { properties, errors } = plainProperties(sent);
      assert.deepEqual(errors, []);
      assert.equal(JSON.stringify(properties), JSON.stringify(plain));
    }),
    { numRuns: runs(300) },
  );
});

test('typed properties: any JSON is either read or gets errors, and nothing else changes', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const sent = JSON.parse(JSON.stringify({ a: { type: 'object', properties: { b, a } }, b: a }));
      const { properties, errors } = plainProperties(sent);
      assert.ok(isJsonObject(properties));
      assert.ok(errors.length <= 20);
    }),
    { numRuns: runs(300) },
  );
});

const read = (properties: Json) =>
  readEntityValue({ id: 'a', type: 't', properties }, { kind: 'typed', propertiesOptional: false }, null);

function propertyOf(property: Json): Json {
  const { properties, errors } = plainProperties({ p: property });
  assert.deepEqual(errors, []);
  assert.ok(isJsonObject(properties));
  return properties.p ?? null;
}

test('typed properties: a precision rounds half to even, and without one nothing is rounded', () => {
  for (const [value, precision, expected] of [
    ['2.675', 2, 2.68],
    [0.25, 1, 0.2],
    ['0.35', 1, 0.4],
    [2.5, 0, 2],
    ['3.5', 0, 4],
    ['1.23456789', null, 1.23456789],
    [1.23456789, null, 1.23456789],
    ['1E+16', null, 1e16],
    [1.5, 1e9, 1.5],
  ] as const) {
    assert.equal(propertyOf({ type: 'number', value, precision }), expected, `${value} at ${precision}`);
    assert.equal(propertyOf({ Type: 'number', Value: value, Precision: precision }), expected);
  }
  assert.equal(propertyOf({ type: 'number', value: 2.5 }), 2.5);
});

test('typed properties: an omitted or null value is null', () => {
  for (const type of ['string', 'number', 'boolean', 'object', 'array']) {
    assert.equal(propertyOf({ type }), null, type);
    assert.equal(propertyOf({ Type: type, Name: 'x' }), null, type);
    assert.equal(propertyOf({ type, value: null, properties: null, items: null, precision: null }), null);
  }
  assert.equal(propertyOf(null), null);
});

test('typed properties: each error is reported with the path of its property', () => {
  const at = (property: Json): string[] =>
    plainProperties({ p: property }).errors.map(({ field, text }) => {
      assert.ok(text.startsWith(`${field} `), text);
      return field;
    });
  for (const property of [
    5,
    'text',
    true,
    [],
    {},
    { value: 'x' },
    { type: 5 },
    { type: null, value: 1 },
    { type: 'String', value: 'x' },
    { type: 'date', value: '2024-01-01' },
    { type: 'string', value: 5 },
    { type: 'string', value: ['x'] },
    { type: 'number', value: 'abc' },
    { type: 'number', value: '' },
    { type: 'number', value: '0x10' },
    { type: 'number', value: 'NaN' },
    { type: 'number', value: '1e999' },
    { type: 'number', value: true },
    { type: 'number', value: 1, precision: -1 },
    { type: 'number', value: 1, precision: 1.5 },
    { type: 'number', value: 1, precision: '1' },
    { type: 'boolean', value: 1 },
    { type: 'boolean', value: 'yes' },
    { type: 'object', properties: [] },
    { type: 'object', properties: 'x' },
    { type: 'array', items: {} },
  ] as Json[]) {
    assert.deepEqual(at(property), ['properties.p'], JSON.stringify(property));
  }
  assert.deepEqual(at({ type: 'object', properties: { q: { type: 'nope' }, r: 5 } }), [
    'properties.p.q',
    'properties.p.r',
  ]);
  assert.deepEqual(
    at({
      Type: 'array',
      Items: [{ Type: 'string', Value: 'x' }, 5, { title: { type: 'number', value: 'x' } }, []],
    }),
    ['properties.p[1]', 'properties.p[2].title', 'properties.p[3]'],
  );
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`p${n}`, 5]));
  assert.equal(plainProperties(many).errors.length, 20);
  assert.deepEqual(at({ type: 'object', properties: { 'half\ud800': 5 } }), ['properties.p.half\ufffd']);
  const [long] = plainProperties({ ['x'.repeat(1_000_000)]: 5 }).errors;
  assert.ok(long !== undefined && long.field.length < 400);
});

function nested(levels: number, isBare: boolean): Json {
  let property: Json = { type: 'string', value: 'x' };
  for (let level = 0; level < levels; level += 1) {
    property = isBare
      ? { type: 'array', items: [{ in: property }] }
      : { type: 'object', properties: { in: property } };
  }
  return { p: property };
}

test('typed properties: stored values can nest 100 levels, as in ingest v2', () => {
  assert.equal(read(nested(99, false)).kind, 'entity');
  for (const [levels, isBare] of [
    [100, false],
    [50, true],
    [100_000, false],
    [100_000, true],
  ] as const) {
    const reading = read(nested(levels, isBare));
    assert.ok(reading.kind === 'invalid', `${levels} levels`);
    assert.match(reading.errors[0]?.text ?? '', /^properties is nested too deep/);
  }
  assert.equal(read(nested(49, true)).kind, 'entity');
});

test('typed properties: errors name the fields of an entity as in ingest v1', () => {
  const validate = (value: Json) => {
    const reading = readEntityValue(value, { kind: 'typed', propertiesOptional: false }, null);
    return reading.kind === 'invalid' ? reading.errors.map(({ field }) => field) : [];
  };
  assert.deepEqual(validate({}), ['id', 'type', 'properties']);
  assert.deepEqual(validate({ id: 5, type: '', url: 'x', parentId: 5, redirects: 'x', properties: [] }), [
    'id',
    'type',
    'url',
    'parentId',
    'redirects',
    'properties',
  ]);
  const badNames = { '1x': { type: 'string' }, a: { type: 'string' }, 'b-c': 5, __: null };
  assert.deepEqual(validate({ id: 'a', properties: badNames }), [
    'properties.1x',
    'properties.b-c',
    'properties.__',
    'type',
  ]);
  const inside = { a: { type: 'object', properties: { '1x': { type: 'string', value: 'free' } } } };
  assert.deepEqual(validate({ id: 'a', type: 't', properties: inside }), []);
  assert.deepEqual(validate({ id: 'a\ud800', type: 't', properties: {} }), ['id']);
  assert.deepEqual(validate({ id: 'a', type: 't', parentId: '\ud800', properties: {} }), ['parentId']);
  assert.deepEqual(validate([]), ['']);
});
