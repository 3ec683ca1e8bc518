import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatGroup, parseGroup, partitionsOf } from '../../../src/query/protocol/shard-request.ts';

test('partition group: the groups of a division contain each partition once, and are equally large', () => {
  for (const count of [1, 4, 16, 1024]) {
    for (let of = 1; of <= Math.min(count, 20); of += 1) {
      const groups = Array.from({ length: of }, (_, index) => partitionsOf({ index, of }, count));
      assert.deepEqual(
        groups.flat(),
        Array.from({ length: count }, (_, partition) => partition),
      );
      const sizes = groups.map(({ length }) => length);
      assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1);
    }
  }
});

test('partition group: the name of a group is parsed, and any other string is not', () => {
  assert.deepEqual(parseGroup(formatGroup({ index: 3, of: 12 })), { index: 3, of: 12 });
  for (const text of ['', '1', '2/2', '0/0', '-1/2', '1/2/3', 'a/b']) assert.equal(parseGroup(text), null);
});
