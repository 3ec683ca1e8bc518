import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeMetrics } from '../../../src/http/operations/front-metrics.ts';

test('metrics merge: metrics of several processes are one group per metric', () => {
  const text = (value: number) =>
    `# HELP a_seconds Time\n# TYPE a_seconds histogram\na_seconds_bucket{le="1"} ${value}\na_seconds_sum ${value}\na_seconds_count ${value}\n`;
  assert.equal(
    mergeMetrics([
      { process: 'x', role: 'web', text: text(1) },
      { process: 'y', role: 'jobs', text: text(2) },
    ]),
    [
      '# HELP a_seconds Time',
      '# TYPE a_seconds histogram',
      'a_seconds_bucket{process="x",role="web",le="1"} 1',
      'a_seconds_sum{process="x",role="web"} 1',
      'a_seconds_count{process="x",role="web"} 1',
      'a_seconds_bucket{process="y",role="jobs",le="1"} 2',
      'a_seconds_sum{process="y",role="jobs"} 2',
      'a_seconds_count{process="y",role="jobs"} 2',
      '',
    ].join('\n'),
  );
});
