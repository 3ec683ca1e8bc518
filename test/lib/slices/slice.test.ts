import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TimeSlices } from '../../../src/lib/slices/slice.ts';

function work(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

test('slice: work with nothing ahead of it runs immediately', () => {
  const slices = new TimeSlices();
  const done: number[] = [];
  for (const number of [1, 2, 3]) void slices.run(() => done.push(number));
  assert.deepEqual(done, [1, 2, 3]);
});

test('slice: work too large for one turn yields to others, and keeps its order', async () => {
  const slices = new TimeSlices();
  const done: (number | string)[] = [];
  const all = [1, 2, 3].map((number) =>
    slices.run(() => {
      work(10);
      done.push(number);
    }),
  );
  setImmediate(() => void done.push('other'));
  assert.equal(done.length, 1);
  await Promise.all(all);
  assert.deepEqual(
    done.filter((one) => one !== 'other'),
    [1, 2, 3],
  );
  assert.ok(done.indexOf('other') < done.indexOf(3), String(done));
});

test('slice: work that throws rejects only its own promise', async () => {
  const slices = new TimeSlices();
  const broken = slices.run(() => {
    work(10);
    throw new Error('broken');
  });
  const later = slices.run(() => 'fine');
  await assert.rejects(broken, /broken/);
  assert.equal(await later, 'fine');
});
