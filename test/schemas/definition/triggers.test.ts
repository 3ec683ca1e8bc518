import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../src/contract/json.ts';
import { readTriggers } from '../../../src/schemas/definition/triggers.ts';
import { cursorOver } from '../support/cursor.ts';

function read(schema: Json) {
  const { at, places } = cursorOver(schema);
  return { triggers: readTriggers(at, ['cms', 'pim']), places: places() };
}

test('triggers: each source group has its list of entity types', () => {
  const { triggers, places } = read({ triggers: { cms: ['article', 'page', 'article'], pim: [] } });
  assert.deepEqual(
    triggers,
    new Map([
      ['cms', new Set(['article', 'page'])],
      ['pim', new Set()],
    ]),
  );
  assert.deepEqual(places, []);
});

test('triggers: types of any source group replace triggers, or complement them', () => {
  const alone = read({ sourceEntityTypes: ['article', 'page'] });
  assert.deepEqual(alone.places, []);
  assert.deepEqual(
    alone.triggers,
    new Map([
      ['cms', new Set(['article', 'page'])],
      ['pim', new Set(['article', 'page'])],
    ]),
  );
  const beside = read({ sourceEntityTypes: ['page'], triggers: { pim: ['product', 'page'] } });
  assert.deepEqual(beside.places, []);
  assert.deepEqual(
    beside.triggers,
    new Map([
      ['cms', new Set(['page'])],
      ['pim', new Set(['page', 'product'])],
    ]),
  );
});

test('triggers: one of the two is required, and every type is a non-empty string', () => {
  assert.deepEqual(read({}).places, ['$.triggers']);
  assert.deepEqual(read({ triggers: ['article'] }).places, ['$.triggers']);
  assert.deepEqual(read({ triggers: { cms: 'article', pim: ['a', '', 3] } }).places, [
    '$.triggers.cms',
    '$.triggers.pim[1]',
    '$.triggers.pim[2]',
  ]);
  assert.deepEqual(read({ sourceEntityTypes: 'article' }).places, ['$.sourceEntityTypes']);
  assert.deepEqual(read({ sourceEntityTypes: { cms: ['article'] } }).places, ['$.sourceEntityTypes']);
  assert.deepEqual(read({ sourceEntityTypes: ['a', ''], triggers: 3 }).places, [
    '$.sourceEntityTypes[1]',
    '$.triggers',
  ]);
});
