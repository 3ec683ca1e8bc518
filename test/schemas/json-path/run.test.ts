import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildStepsMax } from '../../../src/contract/limits.ts';
import { PathRun, within } from '../../../src/schemas/json-path/run.ts';
import { frameOver } from '../support/fixtures.ts';

test('run: a run spends the steps of its build and stops when there are none', () => {
  const frame = frameOver(null);
  new PathRun(frame).spend(buildStepsMax - 1);
  const spendOne = (run: PathRun) => {
    run.spend(1);
    return ['selected'];
  };
  assert.deepEqual(within(frame, spendOne), ['selected']);
  assert.deepEqual(within(frame, spendOne), []);
  assert.deepEqual(
    frame.build.outcome().diagnostics.map(({ kind }) => kind),
    ['limitReached'],
  );
});

test('run: a hole is evaluated once per run, whatever its value, and again in the next', () => {
  const frame = frameOver(null);
  for (const value of [null, '', 0, [1]]) {
    let evaluated = 0;
    const hole = () => {
      evaluated += 1;
      return value;
    };
    const run = new PathRun(frame);
    assert.deepEqual([run.filled(hole), run.filled(hole), evaluated], [value, value, 1]);
    new PathRun(frame).filled(hole);
    assert.equal(evaluated, 2);
  }
});

test('run: an error that is not about steps is rethrown', () => {
  const fail = () => {
    throw new Error('failed');
  };
  assert.throws(() => within(frameOver(null), fail), /failed/);
});
