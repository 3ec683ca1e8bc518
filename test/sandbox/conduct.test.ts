import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codePauseMaxMs, codeTenantPauseMs } from '../../src/contract/limits.ts';
import { Conduct } from '../../src/sandbox/conduct.ts';

function clocked() {
  const clock = { ms: 0 };
  return { clock, conduct: new Conduct(() => clock.ms) };
}

test('each time that a program takes too much it is not run for longer, up to a minute', () => {
  const { clock, conduct } = clocked();
  const pauses = Array.from({ length: 5 }, () => {
    conduct.offended('set', 'loop');
    const fromMs = clock.ms;
    clock.ms += conduct.pausedForMs('other set', 'loop');
    // A build that goes well between two others does not make it better.
    conduct.behaved('loop');
    return clock.ms - fromMs;
  });
  assert.deepEqual(pauses, [1_000, 4_000, 16_000, 60_000, 60_000]);
  clock.ms += codePauseMaxMs + 1;
  conduct.behaved('loop');
  conduct.offended('set', 'loop');
  clock.ms += 1_000;
  assert.equal(conduct.pausedForMs('other set', 'loop'), 0);
});

test('programs of the same tenant that are not known to be harmless wait with it; the others do not', () => {
  const { clock, conduct } = clocked();
  conduct.behaved('good');
  conduct.offended('set', 'loop');
  assert.deepEqual(
    ['loop', 'unknown', 'good'].map((program) => conduct.pausedForMs('set', program)),
    [codeTenantPauseMs, codeTenantPauseMs, 0],
  );
  assert.equal(conduct.pausedForMs('other set', 'unknown'), 0);
  clock.ms += codeTenantPauseMs;
  assert.equal(conduct.pausedForMs('set', 'unknown'), 0);
});

test('a program that behaves is known as sound, however many others were before it', () => {
  const { conduct } = clocked();
  for (let number = 0; number <= 20_000; number += 1) conduct.behaved(`program ${number}`);
  assert.deepEqual([conduct.isSound('program 20000'), conduct.isSound('program 0')], [true, false]);
});
