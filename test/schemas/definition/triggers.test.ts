import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { readTriggers } from '../../../src/schemas/definition/triggers.ts';
import { cursorOver } from '../support/cursor.ts';

function read(json: Json | undefined) {
  const { at, places } = cursorOver(json);
  return { triggers: readTriggers(at), places: places() };
}

test('each source group has the entity types that it hands in', () => {
  const { triggers, places } = read({ cms: ['article', 'page', 'article'], pim: [] });
  assert.deepEqual(
    triggers,
    new Map([
      ['cms', new Set(['article', 'page'])],
      ['pim', new Set()],
    ]),
  );
  assert.deepEqual(places, []);
});

test('triggers are required, and every type is a text with something in it', () => {
  assert.deepEqual(read(undefined).places, ['$']);
  assert.deepEqual(read(['article']).places, ['$']);
  assert.deepEqual(read({ cms: 'article', pim: ['a', '', 3] }).places, ['$.cms', '$.pim[1]', '$.pim[2]']);
});
