import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatDependent } from '../../../src/store/derived/dependents.ts';
import {
  type IntakeEntry,
  Mailboxes,
  portionsOf,
  rebuildWorks,
} from '../../../src/store/partitions/intake.ts';
import { runs } from '../../support/runs.ts';

function changed(sequence: number, originIds: readonly string[], bytes = 100): IntakeEntry {
  return { kind: 'entities', sequence, tenant: 'acme', sourceId: 's', originIds, bytes };
}

function invalidation(sequence: number, dependents: readonly string[]): IntakeEntry {
  return { kind: 'invalidation', sequence, tenant: 'acme', dependents, causes: dependents.map(() => null) };
}

function view(originId: string, name = 'page') {
  return { kind: 'view' as const, environmentId: 'env', name, sourceId: 's', originId };
}

test('intake: later changes of one entity in a portion are merged into one turn', () => {
  const [portion, ...more] = [
    ...portionsOf([changed(1, ['a', 'b']), changed(2, ['a']), changed(3, ['c', 'a'])]),
  ];
  assert.equal(more.length, 0);
  assert.deepEqual(
    portion?.works.map(({ originId, only }) => [originId, only]),
    [
      ['a', null],
      ['b', null],
      ['c', null],
    ],
  );
  assert.equal(portion?.sequence, 3);
});

const entries = fc
  .array(
    fc.oneof(
      fc.record({
        originIds: fc.array(fc.integer({ min: 0, max: 400 }).map(String), { maxLength: 50 }),
        bytes: fc.constantFrom(100, 1_000_000, 30_000_000),
      }),
      fc.record({ members: fc.array(fc.integer({ min: 0, max: 5000 }).map(String), { maxLength: 1000 }) }),
    ),
    { maxLength: 64 },
  )
  .map((list) =>
    list.map((entry, index) =>
      'members' in entry
        ? invalidation(index + 1, entry.members)
        : changed(index + 1, entry.originIds, entry.bytes),
    ),
  );

test('intake: portions contain everything that was read, in order and bounded in size', () => {
  fc.assert(
    fc.property(entries, (read) => {
      let done = 0;
      for (const { works, invalidations, sequence } of portionsOf(read)) {
        assert.ok(sequence > done);
        const part = read.filter((entry) => entry.sequence > done && entry.sequence <= sequence);
        const expected = new Set(part.flatMap((entry) => (entry.kind === 'entities' ? entry.originIds : [])));
        assert.deepEqual(new Set(works.map(({ originId }) => originId)), expected);
        assert.deepEqual(
          invalidations.map(({ sequence }) => sequence),
          part.filter(({ kind }) => kind === 'invalidation').map((entry) => entry.sequence),
        );
        // Without its last entry, each portion must have been below the bound.
        assert.ok(expected.size < 400 + 50);
        assert.ok(invalidations.reduce((sum, { dependents }) => sum + dependents.length, 0) < 2000 + 1000);
        done = sequence;
      }
      const last = read.findLast((entry) => entry.kind === 'invalidation' || entry.originIds.length > 0);
      assert.ok(done >= (last?.sequence ?? 0));
    }),
    { numRuns: runs(100) },
  );
});

test('intake: dependents of one entity are rebuilt in one turn, and nothing else of the entity is', () => {
  const works = rebuildWorks(
    [view('a'), view('a', 'card'), view('b')].map((dependent) => ({
      tenant: 'acme',
      dependent: formatDependent(dependent),
    })),
  );
  assert.deepEqual(
    works.map(({ originId, only }) => [originId, only?.map(({ name }) => name)]),
    [
      ['a', ['page', 'card']],
      ['b', ['page']],
    ],
  );
});

test('intake: a turn for the whole entity includes the requested parts of it', () => {
  const mailboxes = new Mailboxes();
  mailboxes.addDependent('acme', view('a'));
  mailboxes.addDependent('acme', {
    kind: 'entity',
    environmentId: '',
    name: '',
    sourceId: 's',
    originId: 'a',
  });
  mailboxes.addDependent('acme', view('a', 'card'));
  assert.deepEqual(
    mailboxes.works.map(({ originId, only }) => [originId, only]),
    [['a', null]],
  );
});

test('intake: entities of two tenants or sources with the same id are two turns', () => {
  const mailboxes = new Mailboxes();
  mailboxes.addEntity({ tenant: 'acme', sourceId: 's', originId: '1' });
  mailboxes.addEntity({ tenant: 'other', sourceId: 's', originId: '1' });
  mailboxes.addEntity({ tenant: 'acme', sourceId: 't', originId: '1' });
  assert.equal(mailboxes.size, 3);
});

test('intake: a dependent without a name causes no work', () => {
  assert.deepEqual(rebuildWorks([{ tenant: 'acme', dependent: 'nonsense' }]), []);
});
