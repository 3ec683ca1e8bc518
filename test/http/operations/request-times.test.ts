import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RouteTimes, requestText } from '../../../src/http/operations/request-times.ts';

test('every request is counted and timed', () => {
  const times = new RouteTimes('endpoint="e"');
  times.observe(200, 2);
  times.observe(503, 600);
  times.observe(304, 4);
  times.observe(200, 4);
  const text = requestText([times]);
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const sampleOf = (name: string) => samples.find((line) => line.startsWith(name))?.split(' ')[1];
  const total = 'millrace_http_requests_total{endpoint="e",status=';
  assert.deepEqual(
    samples.filter((line) => line.startsWith(total)),
    [`${total}"200"} 2`, `${total}"304"} 1`, `${total}"503"} 1`],
  );
  const duration = 'millrace_http_request_duration_seconds';
  assert.equal(sampleOf(`${duration}_count`), '4');
  assert.equal(sampleOf(`${duration}_sum`), String((2 + 600 + 4 + 4) / 1000));
  assert.equal(sampleOf(`${duration}_bucket{endpoint="e",le="0.005"}`), '3');
  assert.equal(sampleOf(`${duration}_bucket{endpoint="e",le="+Inf"}`), '4');
});
