import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatVersion, parseVersion, UnseenWrites } from '../../../src/store/visibility/version.ts';
import { runs } from '../../support/runs.ts';

const stamp = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });

const places = fc.array(fc.tuple(fc.nat(1023), stamp)).map((entries) => new Map(entries));
const inOrder = (map: ReadonlyMap<number, number>) => new Map([...map].sort(([a], [b]) => a - b));

test('version: a version round-trips through its token, which is safe in a header', () => {
  fc.assert(
    fc.property(places, places, (writes, announced) => {
      const token = formatVersion(writes, announced);
      assert.match(token, /^[A-Za-z0-9.~-]*$/);
      assert.deepEqual(parseVersion(token), { writes: inOrder(writes), announced: inOrder(announced) });
    }),
    { numRuns: runs(200) },
  );
});

test('version: only a token is parsed as a version', () => {
  for (const wrong of [
    '',
    'v2-0.1',
    'v1-0',
    'v1-0.',
    'v1-.1',
    'v1-0.1-',
    'v1-0.A',
    'v1--',
    'v1-0.1x!',
    '{}',
  ]) {
    assert.equal(parseVersion(wrong), null, wrong);
  }
  fc.assert(
    fc.property(fc.string({ maxLength: 50 }), (wrong) => {
      const parsed = parseVersion(wrong);
      assert.ok(parsed === null || wrong.startsWith('v1'));
    }),
    { numRuns: runs(200) },
  );
});

test('version: nobody waits for what Redis has lost', () => {
  const writes = new UnseenWrites(() => false);
  writes.add(
    'acme',
    new Map([
      [0, 3],
      [1, 3],
    ]),
  );
  writes.forgetBeyond(0, 2);
  writes.forgetBeyond(1, 3);
  assert.deepEqual(
    [...writes.add('acme', new Map([[2, 1]]))],
    [
      [1, 3],
      [2, 1],
    ],
  );
});

test('version: the last of several writes in one partition represents all, and a version is immutable', () => {
  const writes = new UnseenWrites(() => false);
  const first = writes.add('acme', new Map([[0, 5]]));
  assert.deepEqual([...writes.add('acme', new Map([[0, 4]]))], [[0, 5]], 'responses arrive out of order');
  writes.add('acme', new Map([[0, 6]]));
  assert.deepEqual([...first], [[0, 5]]);
});
