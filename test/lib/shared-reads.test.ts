import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedReads } from '../../src/lib/shared-promises.ts';

test('shared reads: a caller during a read shares the next one, which starts after the call', async () => {
  const reads = new SharedReads<number>();
  const ends: (() => void)[] = [];
  let begun = 0;
  const read = () => {
    begun += 1;
    const number = begun;
    return new Promise<number>((resolve) => ends.push(() => resolve(number)));
  };
  const first = reads.get('page', read);
  const others = [reads.get('page', read), reads.get('page', read)];
  const elsewhere = reads.get('another page', read);
  assert.equal(begun, 2, 'the others wait');
  ends[0]?.();
  assert.equal(await first, 1);
  ends[1]?.();
  assert.equal(await elsewhere, 2);
  assert.equal(begun, 3);
  const late = reads.get('page', read);
  ends[2]?.();
  assert.deepEqual(await Promise.all(others), [3, 3]);
  ends[3]?.();
  assert.equal(await late, 4, 'it was called after the previous one had started');
});

test('shared reads: a failed read is not the result of the next caller', async () => {
  const reads = new SharedReads<string>();
  const failing = reads.get('page', () => Promise.reject(new Error('gone')));
  const next = reads.get('page', () => Promise.resolve('there'));
  await assert.rejects(failing, /gone/);
  assert.equal(await next, 'there');
});
