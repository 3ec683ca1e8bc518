import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProcessMetrics } from '../../src/lib/process-metrics.ts';

test('process metrics: counters and gauges are written with their values and labels', async () => {
  const metrics = new ProcessMetrics();
  metrics.counter('a_total', 'A').inc(2);
  metrics.counterBy(['kind'], 'b_total', 'B').inc({ kind: 'x' }, 3);
  let kept = 4;
  metrics.countOf('c_total', 'C', () => kept);
  metrics.gauge('d', 'D').set(5);
  metrics.gaugeBy(['queue'], 'e', 'E').set({ queue: 'q' }, 6);
  metrics.gaugeOf('f', 'F', () => kept + 3);
  metrics.gaugeOfPartitions('g', 'G', () => [kept, 9]);
  const samples = async () => (await metrics.text()).split('\n').filter((line) => /^[a-z]/.test(line));
  const others = ['a_total 2', 'b_total{kind="x"} 3', 'd 5', 'e{queue="q"} 6', 'g{partition="1"} 9'];
  assert.deepEqual((await samples()).sort(), [...others, 'c_total 4', 'f 7', 'g{partition="0"} 4'].sort());
  kept = 5;
  assert.deepEqual((await samples()).sort(), [...others, 'c_total 5', 'f 8', 'g{partition="0"} 5'].sort());
});
