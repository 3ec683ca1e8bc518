import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatGroup } from '../../../../src/query/protocol/shard-request.ts';
import {
  type CopyHolder,
  groupCountFor,
  groupIndexOf,
} from '../../../../src/query/worker/copies/shard-copies.ts';
import { runs } from '../../../support/runs.ts';

test('group assignment: there are as many groups as have enough workers each, and never more than partitions', () => {
  const of = (workers: number, copies: number, partitions = 16) => groupCountFor(workers, copies, partitions);
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6].map((workers) => of(workers, 2)),
    [1, 1, 1, 2, 2, 3],
  );
  assert.deepEqual(
    [1, 2, 3, 6].map((workers) => of(workers, 3)),
    [1, 1, 1, 2],
  );
  assert.equal(of(20, 2, 4), 4);
});

/** The group of each worker after each has chosen in turn, until none changes. */
function settle(
  ids: readonly string[],
  known: ReadonlyMap<string, string>,
  groups: number,
): Map<string, string> {
  let held = new Map(known);
  for (let round = 0; round < 5; round += 1) {
    const next = new Map<string, string>();
    const holders = (): CopyHolder[] =>
      ids.map((id) => ({ id, group: next.get(id) ?? held.get(id) ?? null }));
    for (const id of ids)
      next.set(id, formatGroup({ index: groupIndexOf(id, holders(), groups), of: groups }));
    if (ids.every((id) => next.get(id) === held.get(id))) return next;
    held = next;
  }
  assert.fail('the assignment does not settle');
}

test('group assignment: workers that come and go share the groups evenly, and move only if they must', () => {
  const ids = fc.uniqueArray(fc.stringMatching(/^[a-z]{2}$/), { minLength: 1, maxLength: 9 });
  fc.assert(
    fc.property(ids, ids, fc.integer({ min: 1, max: 3 }), (before, after, wanted) => {
      const groups = Math.min(wanted, before.length, after.length);
      const first = settle(before, new Map(), groups);
      const kept = new Map([...first].filter(([id]) => after.includes(id)));
      const held = settle(after, kept, groups);
      const counts = Array.from({ length: groups }, (_, index) => {
        return [...held.values()].filter((group) => group === formatGroup({ index, of: groups })).length;
      });
      assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, counts.join(' '));
      if (before.every((id) => after.includes(id)) && after.length === before.length)
        assert.deepEqual(held, first, 'no worker moves without need');
      const moved = [...kept].filter(([id, group]) => held.get(id) !== group).length;
      const left = before.length - kept.size;
      assert.ok(moved <= left + after.length - kept.size, `${moved} moved for ${left} that left`);
    }),
    { numRuns: runs(200) },
  );
});
