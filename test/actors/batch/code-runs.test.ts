import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CallMemory } from '../../../src/actors/batch/call-memory.ts';
import { CodeRuns } from '../../../src/actors/batch/code-runs.ts';
import { codeOpenBuildsMax, codePatienceMs, deferredWaitMs } from '../../../src/contract/limits.ts';
import type { CodeCall, CodeReply } from '../../../src/schemas/build/code-call.ts';
import { until } from '../../support/until.ts';

const reply: CodeReply = { kind: 'asks', lookups: [], findings: [], log: [], cpuMs: 1 };

function callOf(input: string, owner = 'acme'): CodeCall {
  const set = { id: 'set', owner, programs: new Map() };
  return { set, task: 'full', alias: 'a', input, answers: new Map(), spentMs: 0 };
}

/** A sandbox whose replies the test controls. */
function scene(memory = new CallMemory(1000)) {
  const asked = new Map<string, (reply: CodeReply) => void>();
  const withdrawn: string[] = [];
  const counts = { asked: 0, answers: 0 };
  const source = {
    ask: ({ input }: CodeCall) => {
      counts.asked += 1;
      const given = new Promise<CodeReply>((resolve) => asked.set(input, resolve));
      return { reply: given, withdraw: () => void withdrawn.push(input) };
    },
  };
  const runs = new CodeRuns(
    source,
    memory,
    () => {
      counts.answers += 1;
    },
    () => {},
  );
  return { asked, withdrawn, counts, runs };
}

test('code runs: a batch waits for a bounded time, and the next one finds the reply', async () => {
  const { asked, counts, runs } = scene();
  runs.begin();
  const startMs = performance.now();
  assert.deepEqual(await runs.run([callOf('slow')], ['acme|x']), [null]);
  assert.ok(performance.now() - startMs > codePatienceMs / 2);
  const laterMs = performance.now();
  await runs.run([callOf('slow too')], ['acme|y']);
  assert.ok(performance.now() - laterMs < codePatienceMs, 'it waits once per batch');
  runs.settle(new Set(['acme|x']));
  assert.deepEqual([runs.isOpen('acme|x'), runs.isOpen('acme|y')], [true, false]);
  assert.equal(runs.isAnswered('acme|x'), false);
  asked.get('slow')?.(reply);
  await new Promise(setImmediate);
  assert.equal(runs.isAnswered('acme|x'), true);
  assert.equal(counts.answers, 1);
  runs.begin();
  assert.deepEqual(await runs.run([callOf('slow')], ['acme|x']), [reply]);
  runs.settle(new Set());
  assert.equal(counts.asked, 2, 'no call was repeated');
  assert.equal(runs.isOpen('acme|x'), false);
});

test('code runs: a batch of deferred outputs waits for less time', async () => {
  const { asked, runs } = scene();
  for (const waitMs of [deferredWaitMs, undefined]) {
    runs.begin(waitMs);
    // Timers of one process fire in the order of their times, however busy the machine is.
    const outcome = await Promise.race([
      runs.run([callOf('slow')], ['acme|x']).then(() => 'over'),
      sleep((deferredWaitMs + codePatienceMs) / 2).then(() => 'waits'),
    ]);
    assert.equal(outcome, waitMs === undefined ? 'waits' : 'over');
    runs.settle(new Set(['acme|x']));
    assert.equal(runs.isOpen('acme|x'), true);
  }
  asked.get('slow')?.(reply);
});

test('code runs: a changed entity does not get the reply for its previous state', async () => {
  const { asked, withdrawn, runs } = scene();
  runs.begin();
  await runs.run([callOf('before')], ['acme|x']);
  runs.settle(new Set(['acme|x']));
  runs.begin();
  assert.deepEqual(await runs.run([callOf('after')], ['acme|x']), [null]);
  runs.settle(new Set(['acme|x']));
  assert.deepEqual(withdrawn, ['before']);
  asked.get('before')?.(reply);
  await new Promise(setImmediate);
  assert.equal(runs.isAnswered('acme|x'), false);
});

test('code runs: a tenant has a bounded number of builds in progress, and others have room', async () => {
  const { runs, withdrawn } = scene(new CallMemory(10_000));
  const names = Array.from({ length: codeOpenBuildsMax + 2 }, (_, number) => `acme|${number}`);
  runs.begin();
  await runs.run(
    names.map((name) => callOf(name)),
    names,
  );
  runs.settle(new Set(names));
  assert.equal(names.filter((name) => runs.isOpen(name)).length, codeOpenBuildsMax);
  assert.deepEqual(withdrawn, names.slice(codeOpenBuildsMax));
  assert.deepEqual([runs.hasRoom('acme'), runs.hasRoom('other')], [false, true]);
  runs.forget('acme|0');
  assert.equal(runs.hasRoom('acme'), true);
});

test('code runs: if the sandbox cannot start, there are no calls for a while', async () => {
  const errors: unknown[] = [];
  const source = { ask: () => ({ reply: Promise.reject(new Error('no process')), withdraw() {} }) };
  const runs = new CodeRuns(
    source,
    new CallMemory(1000),
    () => {},
    (error) => errors.push(error),
  );
  runs.begin();
  assert.deepEqual(await runs.run([callOf('a'), callOf('b')], ['acme|x', 'acme|y']), [null, null]);
  runs.settle(new Set(['acme|x', 'acme|y']));
  assert.equal(errors.length, 1);
  assert.deepEqual([runs.isOpen('acme|x'), runs.hasRoom('acme')], [false, false]);
});

test('code runs: after a failure of the sandbox there is room as soon as its end is reported', async () => {
  const source = { ask: () => ({ reply: Promise.reject(new Error('no process')), withdraw() {} }) };
  const reported: boolean[] = [];
  const runs: CodeRuns = new CodeRuns(
    source,
    new CallMemory(1000),
    () => reported.push(runs.hasRoom('acme')),
    () => {},
  );
  runs.begin();
  await runs.run([callOf('a')], ['acme|x']);
  runs.settle(new Set());
  await until('its end is reported', () => reported.length > 0);
  assert.deepEqual(reported, [true]);
});

let inputs = 0;

/** A build that waits. @returns its name */
async function waits(runs: CodeRuns, tenant: string, characters: number): Promise<string> {
  inputs += 1;
  const input = `${tenant} ${inputs} `.padEnd(characters, 'x');
  const name = `${tenant}|${inputs}`;
  runs.begin();
  await runs.run([callOf(input, tenant)], [name]);
  runs.settle(new Set([name]));
  return name;
}

test('code runs: limit the memory of calls over all partitions without locking out smaller tenants', async () => {
  const memory = new CallMemory(1000);
  const [one, two] = [scene(memory), scene(memory)];
  const first = await waits(one.runs, 'large', 450);
  const second = await waits(one.runs, 'large', 450);
  const third = await waits(two.runs, 'large', 450);
  assert.deepEqual(
    [one.runs.isOpen(first), one.runs.isOpen(second), two.runs.isOpen(third)],
    [true, true, false],
  );
  assert.deepEqual([two.runs.hasRoom('large'), two.runs.hasRoom('small')], [false, true]);

  const small = await waits(two.runs, 'small', 200);
  assert.equal(two.runs.isOpen(small), true);
  assert.equal(one.withdrawn.length, 1, 'the last of the tenant that has the most');
  assert.deepEqual([one.runs.isAnswered(first), one.runs.isAnswered(second)], [false, true]);
  assert.equal(one.counts.answers, 1, 'its partition is notified to repeat it');
  assert.equal(one.runs.isOpen(await waits(one.runs, 'large', 450)), false);

  const before = two.counts.answers;
  one.runs.forget(first);
  assert.ok(two.counts.answers > before, 'the other partition is notified of the free room');
  assert.equal(two.runs.hasRoom('large'), true);
});

test('code runs: count unused replies, and cancel builds that use too much', async () => {
  const { asked, counts, runs } = scene(new CallMemory(1000));
  const made = (characters: number): CodeReply => ({
    kind: 'made',
    value: { texts: ['x'.repeat(characters)], holes: [] },
    urls: [],
    handles: [],
    actions: [],
    destinations: [],
    findings: [],
    log: [],
    cpuMs: 1,
  });
  const names = [await waits(runs, 'acme', 10), await waits(runs, 'acme', 10), await waits(runs, 'acme', 10)];
  for (const answer of asked.values()) answer(made(450));
  await until('all have replies', () => names.every((name) => runs.isAnswered(name)));
  assert.equal(counts.asked, 3);
  runs.begin();
  const inputs = [...asked.keys()];
  const replies = await runs.run(
    inputs.map((input) => callOf(input)),
    names,
  );
  assert.deepEqual(
    replies.map((given) => given?.kind ?? null),
    ['made', 'made', null],
  );
  assert.equal(counts.asked, 4, 'the cancelled one starts again');
});

test('code runs: a build larger than the bound waits alone', async () => {
  const memory = new CallMemory(1000);
  const [one, two] = [scene(memory), scene(memory)];
  const name = await waits(one.runs, 'acme', 5000);
  assert.equal(one.runs.isOpen(name), true);
  one.runs.end();
  assert.equal(two.runs.isOpen(await waits(two.runs, 'acme', 10)), true);
});

test('code runs: a reply that arrives after the batch stopped waiting is used by the next one', async () => {
  const { asked, counts, runs } = scene();
  runs.begin();
  assert.deepEqual(await runs.run([callOf('slow')], ['acme|x']), [null]);
  asked.get('slow')?.(reply);
  await new Promise(setImmediate);
  runs.settle(new Set(['acme|x']));
  assert.deepEqual([runs.isOpen('acme|x'), runs.isAnswered('acme|x')], [true, true]);
  runs.begin();
  assert.deepEqual(await runs.run([callOf('slow')], ['acme|x']), [reply]);
  assert.equal(counts.asked, 1);
});

test('code runs: an output that changes faster than it is built is awaited in the end', async () => {
  const { asked, runs } = scene();
  const batch = async (input: string) => {
    runs.begin();
    const replies = runs.run([callOf(input)], ['acme|x']);
    setTimeout(() => asked.get(input)?.(reply), 3 * codePatienceMs);
    const [given = null] = await replies;
    runs.settle(new Set(given === null ? ['acme|x'] : []));
    return given;
  };
  for (const input of ['1', '2', '3', '4']) assert.equal(await batch(input), null);
  assert.deepEqual(await batch('5'), reply);
  assert.equal(await batch('6'), null, 'it starts to count again');
  for (const input of ['7', '8', '9', '10'])
    assert.equal(await batch(input), null, 'others had to wait for it');
});
