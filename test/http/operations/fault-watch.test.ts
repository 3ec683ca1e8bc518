import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FaultWatch } from '../../../src/http/operations/fault-watch.ts';
import type { Readiness } from '../../../src/http/operations/readiness.ts';
import { whole } from '../support/front.ts';

const unowned: Readiness = { ...whole, faults: [{ kind: 'partitions', reason: 'no owner: partition 0' }] };
/** The registry did not answer this time. */
const silent: Readiness = {
  ...whole,
  unknown: ['partitions', 'indexes', 'jobs'],
  partitionsWithoutOwner: null,
};

/** The log lines of a monitor that sees these results in order. */
async function linesOf(...found: readonly Readiness[]): Promise<string[]> {
  const lines: string[] = [];
  const note = (_: object, line: string) => lines.push(line);
  const states = found.values();
  const watch = new FaultWatch(
    { check: async () => states.next().value ?? whole },
    { info: note, warn: note },
  );
  watch.start();
  for (const _ of found) {
    await watch.poll();
    await new Promise((resolve) => setImmediate(resolve));
  }
  watch.close();
  return lines;
}

test('fault watch: a fault is logged once at its start and once at its end', async () => {
  assert.deepEqual(await linesOf(unowned, unowned, unowned, whole, whole), [
    'partitions have no owner',
    'every partition has an owner again',
  ]);
});

test('fault watch: a fault neither ends nor starts while its state is unknown', async () => {
  assert.deepEqual(await linesOf(unowned, unowned, silent, unowned, unowned, silent, whole), [
    'partitions have no owner',
    'every partition has an owner again',
  ]);
  assert.deepEqual(await linesOf(unowned, silent, whole), []);
});
