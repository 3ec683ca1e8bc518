import assert from 'node:assert/strict';
import type { Part, PartReader, Parts } from '../../../src/search/snapshot/parts.ts';

/** A structure that can be written to a snapshot and restored. */
interface Snapshotable {
  parts(): Parts;
  restore(from: PartReader): Promise<void>;
}

/** Restores an empty structure from the parts of another one, as from a file. */
export async function restoredFrom<T extends Snapshotable>(from: T, empty: T): Promise<T> {
  const parts = [...from.parts()];
  await empty.restore({
    async numbers<A extends Part>(make: (length: number) => A): Promise<A> {
      const part = parts.shift();
      assert.ok(part !== undefined);
      const numbers = make(part.length);
      assert.equal(numbers.BYTES_PER_ELEMENT, part.BYTES_PER_ELEMENT);
      numbers.set(part);
      return numbers;
    },
  });
  assert.deepEqual(parts, []);
  return empty;
}
