/** The rate control of ingest, with positions in the streams that the test sets. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ProblemError } from '../../../src/contract/errors.ts';
import {
  type Accepted,
  IngestRateController,
  IngestWindow,
} from '../../../src/http/ingest/rate-controller.ts';
import { WaitingWrites, type WriteKind } from '../../../src/http/ingest/writes-under-way.ts';
import type { PlaceListener } from '../../../src/store/visibility/progress.ts';
import { until } from '../../support/until.ts';

const perRequest = 50;

/** Partitions whose progress the test sets. */
function scene(ingestBacklogEntries = 1_000) {
  const listeners: PlaceListener[] = [];
  const pace = new IngestRateController(
    { onPlace: (listener) => void listeners.push(listener) },
    { ingestBacklogEntries },
  );
  const order: string[] = [];
  const [checkpoints, last] = [
    [0, 0],
    [0, 0],
  ];
  const process = (count: number, announced: number | null = null, partition = 0) => {
    const checkpoint = (checkpoints[partition] ?? 0) + count;
    checkpoints[partition] = checkpoint;
    for (const listener of listeners) listener(partition, checkpoint, announced);
  };
  const accept = async (
    name: string,
    tenant: string,
    kind: WriteKind = 'bulk',
    work = perRequest,
    partition = 0,
  ) => {
    await pace.accept({ kind, tenant, work }, async (): Promise<Accepted> => {
      order.push(name);
      const sequence = (last[partition] ?? 0) + 1;
      last[partition] = sequence;
      return { version: new Map([[partition, sequence]]), changedShare: 1 };
    });
  };
  return { pace, order, process, accept };
}

/** As many concurrent bulk saves of `a` as are admitted; the next one waits. */
async function fill({ accept, order }: ReturnType<typeof scene>): Promise<number> {
  let sent = 0;
  while (order.length === sent) {
    sent += 1;
    assert.ok(sent < 1_000, 'the queue is bounded');
    accept(`a${sent}`, 'a').catch(() => {});
    await nextTurn();
  }
  return order.length;
}

test('rate controller: accepted but unprocessed work is bounded, and more is admitted as it is processed', async () => {
  const at = scene();
  const first = await fill(at);
  assert.ok(first >= 2, `${first} concurrent requests`);
  at.process(Math.floor(first / 4));
  await nextTurn();
  assert.equal(at.order.length, first, 'not one by one: concurrent entities cost less');
  at.process(first - Math.floor(first / 4));
  await nextTurn();
  assert.equal(at.order.length, first + 1);
});

test('rate controller: single saves do not wait for bulk saves, nor a tenant for the queue of another', async () => {
  const at = scene();
  const first = await fill(at);
  for (const name of ['a+1', 'a+2', 'a+3']) void at.accept(name, 'a');
  void at.accept('b', 'b');
  await at.accept('single', 'a', 'single', 1);
  assert.equal(at.order.at(-1), 'single');
  at.process(first + 1);
  await nextTurn();
  assert.deepEqual(at.order.slice(first + 1, first + 3), [`a${first + 1}`, 'b']);
});

test('rate controller: unchanged entities take no room', async () => {
  const { pace } = scene();
  for (let count = 0; count < 1_000; count += 1) {
    await pace.accept({ kind: 'bulk', tenant: 'a', work: perRequest }, async () => ({
      version: new Map([[0, 1]]),
      changedShare: 0,
    }));
  }
});

test('rate controller: rejected entities take no room', async () => {
  const { pace } = scene();
  for (let count = 0; count < 1_000; count += 1) {
    const failing = pace.accept({ kind: 'bulk', tenant: 'a', work: perRequest }, async () => {
      throw new Error('away');
    });
    await assert.rejects(failing, /away/);
  }
});

test('rate controller: absent workers delay nobody', async () => {
  const at = scene();
  const first = await fill(at);
  const startedMs = performance.now();
  await until('it is admitted', () => at.order.length > first);
  assert.ok(performance.now() - startedMs > 1_000, 'but they were awaited');
  await at.accept('at once', 'a');
});

test('rate controller: an absent worker of one partition delays nobody while others work', async () => {
  const at = scene();
  const first = await fill(at);
  let done = 0;
  // The partition of the import makes no progress, while the worker of the other one continues. If each request of `b` waited
  // until the first worker is given up, this would take twice the available time.
  const progressed = () => {
    at.accept('b', 'b', 'bulk', perRequest, 1).catch(() => {});
    const accepted = at.order.filter((name) => name === 'b').length;
    at.process(accepted - done, null, 1);
    done = accepted;
    return done >= 20;
  };
  await until(`they are admitted after ${first} of the import`, progressed, 30_000);
});

test('rate controller: entries that Redis has lost are not awaited', async () => {
  const at = scene();
  const first = await fill(at);
  at.process(0, 0);
  await nextTurn();
  assert.equal(at.order.length, first + 1);
});

test('rate controller: only the tenant with too much waiting work is refused, and its queue counts', async () => {
  const at = scene(20);
  at.pace.refuseWhenBusy('a');
  for (let count = 0; count < 30; count += 1) void at.accept(`a${count}`, 'a');
  await nextTurn();
  assert.ok(at.order.length < 21, 'some of them wait in the queue');
  assert.throws(() => at.pace.refuseWhenBusy('a'), ProblemError);
  at.pace.refuseWhenBusy('b');
  for (let count = 0; count < 30; count += 1) {
    at.process(at.order.length);
    await nextTurn();
  }
  at.pace.refuseWhenBusy('a');
});

test('rate controller: entries count once per call, for the tenant that wrote them', () => {
  const done: [number, number | null][] = [];
  const writes = new WaitingWrites(({ work }, waitedMs) => done.push([work, waitedMs]));
  const part = { kind: 'bulk', work: 2 } as const;
  writes.add(
    'a',
    new Map([
      [0, 1],
      [1, 1],
    ]),
    part,
    10,
  );
  writes.add('a', new Map([[0, 1]]), part, 10);
  writes.add('b', new Map([[1, 2]]), part, 20);
  assert.deepEqual([writes.entriesOf('a'), writes.entriesOf('b')], [1, 1]);
  writes.passed(0, 1, 110);
  assert.deepEqual(done.splice(0), [
    [1, 100],
    [2, 100],
  ]);
  writes.add('a', new Map([[0, 1]]), part, 115);
  assert.deepEqual(done.splice(0), [[2, null]], 'it was processed before its response arrived');
  writes.passed(1, 2, 120);
  assert.deepEqual(done.splice(0), [
    [1, 110],
    [2, 100],
  ]);
  assert.equal(writes.entriesOf('a'), 0);
});

test('rate controller: stalled work is given up once, and still counts for its tenant', () => {
  const done: [number, number | null][] = [];
  const writes = new WaitingWrites(({ work }, waitedMs) => done.push([work, waitedMs]));
  writes.add('a', new Map([[0, 1]]), { kind: 'bulk', work: 1 }, 10);
  writes.add('a', new Map([[1, 1]]), { kind: 'bulk', work: 2 }, 10);
  writes.passed(1, 0, 20);
  writes.giveUpUnmoved(15);
  assert.deepEqual(done.splice(0), [[1, null]]);
  writes.add('a', new Map([[0, 2]]), { kind: 'bulk', work: 3 }, 30);
  writes.giveUpUnmoved(15);
  assert.deepEqual(done.splice(0), [[3, null]]);
  assert.equal(writes.entriesOf('a'), 2);
  writes.passed(0, 1, 40);
  writes.add('a', new Map([[0, 3]]), { kind: 'bulk', work: 4 }, 45);
  writes.giveUpUnmoved(35);
  writes.passed(0, 3, 50);
  assert.deepEqual(done, [
    [2, null],
    [4, 5],
  ]);
  assert.equal(writes.entriesOf('a'), 1);
});

for (const perMs of [2.5, 5, 50]) {
  test(`rate controller: workers that process ${perMs} entities per millisecond lag by about 100 ms`, () => {
    const window = new IngestWindow();
    for (let round = 0; round < 300; round += 1) window.fit(window.size, window.size / perMs, true);
    assert.ok(Math.abs(window.size / perMs - 100) < 10, `${window.size}`);
  });
}

test('rate controller: an import is never stopped by latencies that it did not cause', () => {
  const window = new IngestWindow();
  for (let round = 0; round < 300; round += 1) window.fit(window.size, 2_000, true);
  assert.ok(window.size >= 4 * perRequest, `${window.size}`);
});
