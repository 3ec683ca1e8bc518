import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SubjectIndex } from '../../../src/http/cache/subject-index.ts';

test('subject index: after any history it finds the same readers as their lists', () => {
  const step = fc.record({
    isAdded: fc.boolean(),
    reader: fc.nat(3),
    subjects: fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 4 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const index = new SubjectIndex<{ readonly name: number }>();
      const readers = [0, 1, 2, 3].map((name) => ({ name }));
      const naive = new Map<string, Set<number>>();
      for (const { isAdded, reader: name, subjects } of steps) {
        const reader = readers[name];
        assert.ok(reader);
        if (isAdded) index.add(subjects, reader);
        else index.remove(subjects, reader);
        for (const subject of subjects) {
          const names = naive.get(subject) ?? new Set();
          naive.set(subject, names);
          if (isAdded) names.add(name);
          else names.delete(name);
        }
        for (const subject of ['a', 'b', 'c']) {
          const names = index.readersOf(subject).map((one) => one.name);
          assert.deepEqual(names.sort(), [...(naive.get(subject) ?? [])].sort());
        }
      }
    }),
  );
});
