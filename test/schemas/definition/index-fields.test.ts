import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { reservedFields } from '../../../src/contract/query-names.ts';
import { fieldTypes, readCollations, readIndexFields } from '../../../src/schemas/definition/index-fields.ts';
import { cursorOver } from '../support/cursor.ts';

function read(json: Json | undefined) {
  const { at, places } = cursorOver(json);
  return { fields: readIndexFields(at), places: places() };
}

test('index fields: every field type is accepted, in the order of the file and with any metadata', () => {
  const fields = Object.fromEntries(fieldTypes.map((type, i) => [`f${i}`, { type, metadata: [i] }]));
  const found = read({ fields, metadata: { any: 1 } });
  assert.deepEqual(
    [...found.fields],
    fieldTypes.map((type, i) => [`f${i}`, type]),
  );
  assert.deepEqual(found.places, []);
});

test('index fields: lists contain only scalars', () => {
  for (const type of ['object[]', 'dateRange[]', 'keyword[][]', 'Keyword', 'constructor']) {
    const { fields, places } = read({ fields: { a: { type } } });
    assert.deepEqual([[...fields], places], [[], ['$.fields.a.type']], type);
  }
});

test('index fields: a field cannot have a built-in name', () => {
  for (const name of reservedFields) {
    assert.equal(read({ fields: { [name]: { type: 'text' } } }).places.length, 1, name);
  }
});

test('index fields: an invalid index is an error at its path', () => {
  assert.deepEqual(read(undefined).places, ['$']);
  assert.deepEqual(read({}).places, ['$.fields']);
  assert.deepEqual(read({ fields: { a: 'text', b: {}, c: { type: 'text', x: 1 } }, x: 1 }).places, [
    '$.x',
    '$.fields.a',
    '$.fields.b.type',
    '$.fields.c.x',
  ]);
});

function readCollationsOf(fields: Json) {
  const { at, places } = cursorOver({ fields });
  return { collations: [...readCollations(at)], places: places() };
}

test('readCollations: accepts locale tags with a collation', () => {
  const { collations, places } = readCollationsOf({
    a: { type: 'text', collation: 'da' },
    b: { type: 'keyword', collation: 'de-u-co-phonebk' },
    c: { type: 'text' },
  });
  assert.deepEqual(collations, [
    ['a', 'da'],
    ['b', 'de-u-co-phonebk'],
  ]);
  assert.deepEqual(places, []);
});

test('readCollations: rejects other tags and other types', () => {
  const { collations, places } = readCollationsOf({
    a: { type: 'text', collation: 'not a tag' },
    b: { type: 'text', collation: 'xx' },
    c: { type: 'text', collation: 5 },
    d: { type: 'text[]', collation: 'da' },
    e: { type: 'integer', collation: 'da' },
  });
  assert.deepEqual(collations, []);
  assert.deepEqual(
    places,
    ['a', 'b', 'c', 'd', 'e'].map((name) => `$.fields.${name}.collation`),
  );
});
