import assert from 'node:assert/strict';
import { test } from 'node:test';
import { itemsPerStep, workBudget } from '../../src/lib/cooperative-yield.ts';
import { grown } from '../../src/search/growth.ts';
import { alwaysOver } from '../support/always-over.ts';

test('growth: a large array is copied in steps, and the new part is zero', () => {
  for (const blank of [0, Number.NaN]) {
    const numbers = Float64Array.from({ length: 300_000 }, (_, at) => at);
    const steps = grown(numbers, new Float64Array(600_000), blank);
    let count = 0;
    const copied = alwaysOver(() => {
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) {
        assert.equal(workBudget.units, 0, 'it checks the clock after each part');
        count += 1;
      }
      return step.value;
    });
    assert.ok(count >= (blank === 0 ? 300_000 : 600_000) / itemsPerStep, `${count} pauses`);
    assert.deepEqual(copied.subarray(0, 300_000), numbers);
    assert.ok(copied.subarray(300_000).every((number) => Object.is(number, blank)));
  }
});
