import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { readCollations } from '../../../src/schemas/definition/collations.ts';
import { cursorOver } from '../support/cursor.ts';

function read(fields: Json) {
  const { at, places } = cursorOver({ fields });
  return { collations: [...readCollations(at)], places: places() };
}

test('readCollations: takes tags of locales that have an order', () => {
  const { collations, places } = read({
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

test('readCollations: refuses other tags and other types', () => {
  const { collations, places } = read({
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
