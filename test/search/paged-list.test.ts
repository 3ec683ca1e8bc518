import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PagedList } from '../../src/search/paged-list.ts';

test('values are where they were put, on every page', () => {
  const list = new PagedList<number | undefined>();
  assert.equal(list.at(0), undefined);
  for (let at = 0; at < 20_000; at += 1) list.push(at);
  list.set(9_000, -1);
  list.set(0, undefined);
  assert.equal(list.length, 20_000);
  for (let at = 1; at < 20_000; at += 1) assert.equal(list.at(at), at === 9_000 ? -1 : at);
  assert.deepEqual([list.at(0), list.at(20_000), list.at(100_000)], [undefined, undefined, undefined]);
});
