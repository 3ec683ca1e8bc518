import assert from 'node:assert/strict';
import { test } from 'node:test';
import { repeat } from '../../src/lib/repeat.ts';

const hourMs = 3_600_000;

test('repeat: an error is reported, and the action runs again', async () => {
  const stop = new AbortController();
  const errors: unknown[] = [];
  let times = 0;
  await repeat(
    async () => {
      times += 1;
      if (times === 3) stop.abort();
      else throw new Error(`time ${times}`);
    },
    { pauseMs: 1, signal: stop.signal, onError: (error) => errors.push(error) },
  );
  assert.equal(times, 3);
  assert.deepEqual(errors.map(String), ['Error: time 1', 'Error: time 2']);
});

test('repeat: the end does not wait for a pause, and nothing runs after it', async () => {
  const stop = new AbortController();
  let times = 0;
  const running = repeat(
    () => {
      times += 1;
    },
    { pauseMs: hourMs, signal: stop.signal, onError: assert.fail },
  );
  stop.abort();
  await running;
  assert.equal(times, 1);
});
