import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nextStep } from '../../../src/actors/ownership/assignment.ts';
import { runs } from '../../support/runs.ts';

/** Partitions and workers with their state in Redis; each step is taken by a single worker. */
class Fleet {
  readonly owners: (string | null)[];
  readonly live = new Set<string>();
  /** Partitions whose items a worker has from a snapshot. */
  readonly preferred = new Map<string, ReadonlySet<number>>();
  moves = 0;

  constructor(partitions: number) {
    this.owners = new Array(partitions).fill(null);
  }

  step(workerId: string, seen: { live: readonly string[]; owners: readonly (string | null)[] }): boolean {
    const { take, release } = nextStep({
      workerId,
      liveWorkerIds: seen.live,
      owners: seen.owners,
      preferred: this.preferred.get(workerId) ?? new Set(),
      takesPreferredOnly: false,
    });
    let changed = false;
    for (const partition of release) {
      if (this.owners[partition] !== workerId) continue;
      this.owners[partition] = null;
      changed = true;
    }
    for (const partition of take) {
      if (this.owners[partition] !== null) continue;
      this.owners[partition] = workerId;
      this.moves += 1;
      changed = true;
    }
    return changed;
  }

  view() {
    return { live: [...this.live], owners: [...this.owners] };
  }

  settle(): void {
    for (let round = 0; ; round += 1) {
      assert.ok(round < 20, 'it converges');
      const changed = [...this.live].map((id) => this.step(id, this.view()));
      if (!changed.includes(true)) return;
    }
  }

  counts(): number[] {
    return [...this.live].map((id) => this.owners.filter((owner) => owner === id).length);
  }

  assertEven(): void {
    if (this.live.size === 0) return;
    assert.ok(!this.owners.includes(null), 'every partition has an owner');
    const counts = this.counts();
    assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, counts.join(' '));
  }
}

const names = fc.stringMatching(/^[a-z]{1,3}$/);
const preferences = fc.array(fc.nat(63), { maxLength: 40 });

test('assignment: workers that come and go share the partitions evenly, in any order of their steps', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 64 }),
      fc.array(fc.tuple(fc.boolean(), names, preferences), { minLength: 1, maxLength: 12 }),
      (partitions, events) => {
        const fleet = new Fleet(partitions);
        for (const [joins, id, preferred] of events) {
          fleet.preferred.set(id, new Set(preferred));
          if (joins) fleet.live.add(id);
          else {
            fleet.live.delete(id);
            for (const [partition, owner] of fleet.owners.entries()) {
              if (owner === id) fleet.owners[partition] = null;
            }
          }
          fleet.settle();
          fleet.assertEven();
        }
      },
    ),
    { numRuns: runs(200) },
  );
});

test('assignment: workers that act on outdated state converge once the state is correct again', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.uniqueArray(names, { minLength: 1, maxLength: 6 }),
      fc.infiniteStream(fc.tuple(fc.nat(), fc.nat(5))),
      (partitions, ids, choices) => {
        const fleet = new Fleet(partitions);
        const views = [fleet.view()];
        for (const [pick, age] of choices.take(60)) {
          const id = ids[pick % ids.length];
          if (id === undefined) continue;
          fleet.live.add(id);
          const seen = views.at(-1 - age) ?? views[0];
          if (seen !== undefined) fleet.step(id, seen);
          views.push(fleet.view());
        }
        fleet.settle();
        fleet.assertEven();
      },
    ),
    { numRuns: runs(200) },
  );
});

test('assignment: a worker that stops moves only its own partitions', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 64 }),
      fc.uniqueArray(names, { minLength: 2, maxLength: 6 }),
      (partitions, ids) => {
        const fleet = new Fleet(partitions);
        for (const id of ids) fleet.live.add(id);
        fleet.settle();
        const gone = ids[0] ?? '';
        const owned = fleet.owners.filter((owner) => owner === gone).length;
        fleet.live.delete(gone);
        for (const [partition, owner] of fleet.owners.entries())
          if (owner === gone) fleet.owners[partition] = null;
        fleet.moves = 0;
        fleet.settle();
        assert.ok(fleet.moves <= owned + ids.length, `${fleet.moves} moves for ${owned}`);
      },
    ),
    { numRuns: runs(200) },
  );
});

test('assignment: a worker that joins takes about its share, and no more partitions move', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 64 }),
      fc.uniqueArray(names, { minLength: 2, maxLength: 6 }),
      (partitions, ids) => {
        const fleet = new Fleet(partitions);
        for (const id of ids.slice(1)) fleet.live.add(id);
        fleet.settle();
        fleet.moves = 0;
        fleet.live.add(ids[0] ?? '');
        fleet.settle();
        assert.ok(fleet.moves <= Math.ceil(partitions / ids.length) + ids.length, `${fleet.moves} moves`);
      },
    ),
    { numRuns: runs(200) },
  );
});

test('assignment: workers that start again own the partitions of their snapshots, if they are two or start together', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 64 }),
      fc.uniqueArray(names, { minLength: 1, maxLength: 6 }),
      fc.infiniteStream(fc.nat(5)),
      (partitions, formerIds, choices) => {
        const former = new Fleet(partitions);
        for (const id of formerIds) former.live.add(id);
        former.settle();
        const fleet = new Fleet(partitions);
        const ids = formerIds.map((id) => `${id}'`);
        for (const [at, id] of ids.entries()) {
          const own = former.owners.flatMap((owner, partition) =>
            owner === formerIds[at] ? [partition] : [],
          );
          fleet.preferred.set(id, new Set(own));
        }
        if (ids.length > 2) for (const id of ids) fleet.live.add(id);
        for (const choice of choices.take(40)) {
          const id = ids[choice % ids.length] ?? '';
          fleet.live.add(id);
          fleet.step(id, fleet.view());
        }
        for (const id of ids) fleet.live.add(id);
        fleet.settle();
        const wanted = former.owners.map((owner) => `${owner}'`);
        assert.deepEqual(fleet.owners, wanted);
      },
    ),
    { numRuns: runs(200) },
  );
});

test('assignment: nothing moves in an even fleet', () => {
  const owners = ['a', 'b', 'a', 'b', 'a'];
  for (const workerId of ['a', 'b']) {
    const preferred = new Set([1, 3]);
    assert.deepEqual(
      nextStep({ workerId, liveWorkerIds: ['a', 'b'], owners, preferred, takesPreferredOnly: false }),
      {
        take: [],
        release: [],
      },
    );
  }
});

test('assignment: a worker counts itself before others know it', () => {
  const view = {
    workerId: 'b',
    liveWorkerIds: ['a'],
    owners: [null, null],
    preferred: new Set<number>(),
    takesPreferredOnly: false,
  };
  assert.deepEqual(nextStep(view).take.length, 1);
});

test('assignment: a worker that waits for others takes only the partitions of its snapshot', () => {
  const preferred = new Set([1, 2]);
  const owners = [null, null, 'b', null];
  const view = { workerId: 'a', liveWorkerIds: [], owners, preferred, takesPreferredOnly: true };
  assert.deepEqual(nextStep(view), { take: [1], release: [] });
});
