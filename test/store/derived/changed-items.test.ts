import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedItems, type ItemChange, packItemNames } from '../../../src/store/derived/items.ts';

const scope = { tenant: 'acme', environmentId: 'env' };

function change(index: string, originId: string, isThere = true): ItemChange {
  const item = isThere ? { sourceId: 's', originId, updatedAtMs: 1, fields: {} } : null;
  return { scope, index, sourceId: 's', originId, item };
}

test('changed items: an item that several commits changed is named once, by its index', () => {
  const lists = [
    packItemNames([
      change('schema:things', 'a'),
      change('auto:cms:a|b', 'ü:1'),
      change('schema:things', 'b'),
    ]),
    packItemNames([]),
    packItemNames([change('schema:things', 'a', false), change('schema:others', 'a')]),
  ];
  assert.deepEqual(changedItems(lists), [
    { index: { scope, index: 'schema:things' }, sourceId: 's', originIds: new Set(['a', 'b']) },
    { index: { scope, index: 'auto:cms:a|b' }, sourceId: 's', originIds: new Set(['ü:1']) },
    { index: { scope, index: 'schema:others' }, sourceId: 's', originIds: new Set(['a']) },
  ]);
});
