import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type DocRun, Postings } from '../../../src/search/text/postings.ts';
import { docsAt } from '../support/docs-at.ts';
import { restoredFrom } from '../support/parts.ts';

const terms = 40;
const step = fc.oneof(
  { weight: 20, arbitrary: fc.record({ kind: fc.constant('add'), termId: fc.nat(terms - 1) }) },
  fc.record({
    kind: fc.constant('keep'),
    termId: fc.nat(terms - 1),
    modulus: fc.integer({ min: 1, max: 4 }),
  }),
);

/** Small values, and values too large for a posting. */
function frequencyOf(doc: number): number {
  return doc % 5 === 0 ? 30 + (doc % 7) : 1 + (doc % 3);
}

function frequenciesAt(postings: Postings, termId: number): number[] {
  const run: DocRun = { docs: new Int32Array(0), from: 0, end: 0 };
  postings.show(termId, run);
  return Array.from(run.docs.subarray(run.from, run.end), (posting) => postings.frequency(termId, posting));
}

function addTimes(postings: Postings, termId: number, doc: number, frequency: number): void {
  for (let time = 0; time < frequency; time += 1) assert.equal(postings.add(termId, doc), time === 0);
}

test('postings: lists equal plain arrays after any additions and removals', () => {
  fc.assert(
    fc.property(fc.array(step, { size: 'max', maxLength: 3000 }), (steps) => {
      const postings = new Postings();
      const lists = Array.from({ length: terms }, (): number[] => []);
      for (const [doc, { kind, termId, ...rest }] of steps.entries()) {
        const list = lists[termId] ?? [];
        if (kind === 'add') {
          addTimes(postings, termId, doc, frequencyOf(doc));
          list.push(doc);
          continue;
        }
        const passes = (each: number) => 'modulus' in rest && each % rest.modulus === 0;
        const kept = list.filter(passes);
        assert.deepEqual(postings.keep(termId, passes), { before: list.length, after: kept.length });
        lists[termId] = kept;
      }
      for (const [termId, list] of lists.entries()) {
        assert.deepEqual(docsAt(postings, termId), list);
        assert.deepEqual(frequenciesAt(postings, termId), list.map(frequencyOf));
      }
    }),
  );
});

test('postings: a list longer than a page is complete, and so are its neighbors', () => {
  const postings = new Postings();
  const long = 300_000;
  for (let doc = 0; doc < long; doc += 1) {
    postings.add(0, doc);
    if (doc % 1000 === 0) postings.add(1 + doc / 1000, doc);
  }
  assert.deepEqual(
    docsAt(postings, 0),
    Array.from({ length: long }, (_, doc) => doc),
  );
  for (let termId = 1; termId < long / 1000; termId += 1) {
    assert.deepEqual(docsAt(postings, termId), [(termId - 1) * 1000]);
  }
  assert.ok(postings.bytes < 4 * 4 * long, `${postings.bytes} bytes`);
});

test('postings: memory freed by a list is reused by others', () => {
  const postings = new Postings();
  const fill = () => {
    for (let termId = 0; termId < 1000; termId += 1) {
      for (let doc = 0; doc < 20; doc += 1) postings.add(termId, doc);
    }
  };
  fill();
  const { bytes } = postings;
  for (let termId = 0; termId < 1000; termId += 1) postings.keep(termId, () => false);
  fill();
  assert.equal(postings.bytes, bytes);
});

test('postings: renumbered terms keep their lists', () => {
  const postings = new Postings();
  for (const [termId, doc] of [
    [3, 1],
    [5, 2],
    [5, 3],
  ] as const)
    addTimes(postings, termId, doc, 100 * doc);
  postings.renumber([3, 5]);
  assert.deepEqual([frequenciesAt(postings, 0), frequenciesAt(postings, 1)], [[100], [200, 300]]);
  assert.deepEqual([docsAt(postings, 0), docsAt(postings, 1), docsAt(postings, 2)], [[1], [2, 3], []]);
});

test('postings: a snapshot contains the frequencies', async () => {
  const before = new Postings();
  for (let doc = 0; doc < 200; doc += 1) addTimes(before, doc % 3, doc, frequencyOf(doc));
  const after = await restoredFrom(before, new Postings());
  for (const termId of [0, 1, 2])
    assert.deepEqual(frequenciesAt(after, termId), frequenciesAt(before, termId));
});
