import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecentRates } from '../../../src/http/operations/front-load.ts';

test('recent rates: the rates of all fronts are stored together, for the last five minutes', () => {
  const recent = new RecentRates();
  recent.add([
    { rates: { ingest: 1, delivery: 2, query: 3 } },
    {},
    { rates: { ingest: 10, delivery: 20, query: 30 } },
  ]);
  assert.deepEqual(recent.samples, [{ ingest: 11, delivery: 22, query: 33 }]);
  for (let at = 1; at <= 60; at += 1) recent.add([{ rates: { ingest: at, delivery: 0, query: 0 } }]);
  assert.equal(recent.samples.length, 60);
  assert.equal(recent.samples[0]?.ingest, 1, 'the oldest is gone');
  assert.equal(recent.samples.at(-1)?.ingest, 60);
});
