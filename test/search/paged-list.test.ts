import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PagedList } from '../../src/search/paged-list.ts';

test('values are where they were put, on every page', () => {
  const list = new PagedList<number | undefined>();
  assert.equal(list.at(0), undefined);
  for (let at = 30_000; at < 50_000; at += 1) list.set(at, at);
  list.set(39_000, -1);
  list.set(30_000, undefined);
  for (let at = 30_001; at < 50_000; at += 1) assert.equal(list.at(at), at === 39_000 ? -1 : at);
  assert.deepEqual(
    [list.at(0), list.at(30_000), list.at(50_000), list.at(100_000)],
    Array(4).fill(undefined),
  );
});
