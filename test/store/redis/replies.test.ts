/**
 * Every reply reaches its own command, or none. Everything that uses Redis runs at the same time, over a connection that
 * stalls, cuts replies at any byte and answers with errors, with a Redis that is killed while it loads. Each value contains the
 * name it was stored under. `MILLRACE_SECONDS` makes the test longer.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { JobQueue, JobRunner } from '../../../src/store/configuration/jobs-queue.ts';
import { Heartbeat } from '../../../src/store/processes/heartbeat.ts';
import { liveProcesses } from '../../../src/store/processes/registry.ts';
import { StoreUnavailableError, storeError } from '../../../src/store/redis/redis-errors.ts';
import { sendRaw } from '../../../src/store/redis/send.ts';
import { Subscription } from '../../../src/store/redis/subscription.ts';
import { openStore, type Store } from '../../../src/store/store.ts';
import { openStreamSource } from '../../../src/store/streams/shared-streams.ts';
import { StreamReader } from '../../../src/store/streams/stream.ts';
import { lastIdOf } from '../../../src/store/streams/stream-connection.ts';
import { type Fault, FaultyRedis } from '../../support/faulty-redis.ts';
import { TestRedis } from '../../support/redis.ts';
import { until } from '../../support/until.ts';
import { Random } from '../../system/support/random.ts';

const seconds = Number(process.env.MILLRACE_SECONDS ?? 20);
const recoveredMs = 15_000;
const fieldCount = 400;
const streamCount = 8;
const entriesMax = 2_000;
const errors = [
  '-MISCONF Errors writing to the AOF file: No space left on device',
  '-LOADING Redis is loading the dataset in memory',
  "-OOM command not allowed when used memory > 'maxmemory'.",
  "-READONLY You can't write against a read only replica.",
];

const redis = await TestRedis.start({ durable: true, loadDelayUs: 60 });
const wire = await FaultyRedis.start(() => redis.port);
after(() => wire.stop());
const random = Random.forTest('replies');

const streamKey = (number: number) => `stream:${number}`;
const storedValue = (key: string, field: string) =>
  `${key}/${field}/${'x'.repeat(20 + (Number(field.slice(1)) % 7) * 300)}`;

async function fill(): Promise<void> {
  const store = await redis.openEmptyStore(1);
  for (const key of ['one', 'two']) {
    for (let number = 0; number < fieldCount; number += 1) {
      await store.client.hset(key, `f${number}`, storedValue(key, `f${number}`));
    }
  }
  for (let number = 0; number < streamCount; number += 1) {
    await store.client.xadd(streamKey(number), `${number + 1}-0`, 'of', streamKey(number));
  }
  // Long enough to poll a restarting Redis many times.
  for (let number = 0; number < 3_000; number += 1) void store.client.hset('load', 'f', number);
  await store.client.xadd('log', '1-0', 'of', 'log 1');
}

/** Repeats an action until stopped. Errors must say that Redis is unavailable. */
class Lanes {
  readonly #working: Promise<void>[] = [];
  #isOver = false;
  answered = 0;
  refused = 0;
  readonly failures: string[] = [];

  /** @param act does one thing, and returns what was wrong with the reply, or null */
  add(name: string, act: () => Promise<string | null>): void {
    this.#working.push(this.#work(name, act));
  }

  async #work(name: string, act: () => Promise<string | null>): Promise<void> {
    while (!this.#isOver) {
      try {
        const failure = await act();
        this.answered += 1;
        if (failure !== null) this.failures.push(`${name}: ${failure.slice(0, 200)}`);
      } catch (error) {
        this.refused += 1;
        const kind = storeError(error);
        if (!(kind instanceof StoreUnavailableError))
          this.failures.push(`${name} failed: ${String(error).slice(0, 200)}`);
        await sleep(5);
      }
      await sleep(0);
    }
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#working);
  }
}

function readOf(reader: Store['fields']): () => Promise<string | null> {
  return async () => {
    const asked = Array.from({ length: 3 }, () => ({
      key: random.pick(['one', 'two']),
      field: `f${random.below(fieldCount)}`,
    }));
    const values = await reader.read(asked);
    const wrong = values.findIndex((value, at) => {
      const { key = '', field = '' } = asked[at] ?? {};
      return value?.toString() !== storedValue(key, field);
    });
    return wrong < 0 ? null : `${JSON.stringify(asked[wrong])} is ${values[wrong]?.toString()}`;
  };
}

const namesItself = (reply: unknown, expected: string): string | null =>
  String(reply) === expected ? null : `${expected} is ${String(reply)}`;

let lastEcho = 0;

/** What a process does with its store. */
function addLanes(lanes: Lanes, store: Store, name: string): void {
  for (let lane = 0; lane < 4; lane += 1) lanes.add(`${name} fields`, readOf(store.fields));
  lanes.add(`${name} large`, readOf(store.large));
  lanes.add(`${name} echo`, async () => {
    lastEcho += 1;
    const text = `echo ${lastEcho}`;
    return namesItself(await sendRaw(store.client, 'ECHO', [text]), text);
  });
  lanes.add(`${name} pipelined`, async () => {
    const field = `f${random.below(fieldCount)}`;
    return namesItself(await store.client.hget('one', field), storedValue('one', field));
  });
  lanes.add(`${name} script`, async () => {
    const number = random.below(streamCount);
    return namesItself(await lastIdOf(store.client, streamKey(number)), `${number + 1}-0`);
  });
  lanes.add(`${name} write`, async () => {
    const reply = await sendRaw(store.client, 'HSET', ['load', 'f', lastEcho]);
    return reply === 0 ? null : `a write gave ${String(reply)}`;
  });
  lanes.add(`${name} processes`, async () => {
    const ids = (await liveProcesses(store)).map(({ id }) => id);
    await sleep(50);
    return ids.every((id) => id === 'front' || id === 'worker') ? null : `processes ${ids}`;
  });
}

/** Adds numbered entries to a stream. A reader must see them in order, each once and each with its number. */
function addLog(lanes: Lanes, direct: Store, store: Store): () => number {
  let written = 1;
  lanes.add('log', async () => {
    await sleep(5);
    if (written >= entriesMax) return null;
    const next = written + 1;
    const script =
      "if redis.call('exists', KEYS[1]) == 0 or #redis.call('xrange', KEYS[1], ARGV[1], ARGV[1]) == 0 then redis.call('xadd', KEYS[1], ARGV[1], 'of', ARGV[2]) end";
    await direct.client.eval(script, 1, 'log', `${next}-0`, `log ${next}`);
    written = next;
    return null;
  });
  const source = openStreamSource(store);
  after(() => source.close());
  let reader = new StreamReader(source, 'log', 0);
  let read = 0;
  lanes.add('stream', async () => {
    if (reader.isOver) {
      reader = new StreamReader(source, 'log', read);
    }
    for (const { sequence, fields } of await reader.next(50, 200)) {
      if (sequence !== read + 1) return `entry ${sequence} follows ${read}`;
      read = sequence;
      const failure = namesItself(fields.get('of'), `log ${sequence}`);
      if (failure !== null) return failure;
    }
    return null;
  });
  return () => written - read;
}

/** Injects one fault after another until the time is over. */
async function disturb(endMs: number): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  while (performance.now() < endMs) {
    const kind = random.pick(['stall', 'cut', 'error', 'restarts', 'restarts']);
    counts[kind] = (counts[kind] ?? 0) + 1;
    if (kind === 'stall') {
      wire.stall();
      await sleep(random.between(50, 1_500));
      wire.resume();
    } else if (kind === 'restarts') {
      // In quick succession: Redis is killed while it loads, so that what a client sent to one run arrives in another.
      for (let time = 0; time < 4; time += 1) {
        await redis.killServer();
        await sleep(random.between(0, 100));
        redis.beginServer();
        await sleep(random.between(200, 700));
      }
    } else {
      wire.fault = kind === 'cut' ? cutting : failing;
      await sleep(random.between(50, 500));
      wire.fault = () => null;
    }
    await sleep(random.between(0, 1_500));
  }
  wire.resume();
  await until('Redis replies', () => redis.answers());
  return counts;
}

function cutting(reply: Buffer): Fault {
  return random.chance(0.02) ? { cutBehind: random.below(reply.length) } : null;
}

function failing(reply: Buffer): Fault {
  const isMessage = reply.includes('\r\nmessage\r\n');
  return random.chance(0.05) && !isMessage ? { bytes: Buffer.from(`${random.pick(errors)}\r\n`) } : null;
}

test('replies: each reply reaches its own command, whatever happens to the connections', async (context) => {
  await fill();
  const address = { kind: 'single', url: wire.url } as const;
  const direct = await redis.openStore(1);
  const front = await openStore({ address, partitionCount: 1, commandTimeoutMs: 1_000 });
  const worker = await openStore({ address, partitionCount: 1 });
  after(() => Promise.all([front.close(), worker.close()]));
  for (const [store, id] of [
    [front, 'front'],
    [worker, 'worker'],
  ] as const) {
    const beat = {
      id,
      role: 'web',
      host: 'here',
      pid: 1,
      layouts: 0,
      generation: 1,
      partitions: [],
      waitingFor: [],
    } as const;
    const heartbeat = new Heartbeat(store, { beat: () => beat, metrics: async () => `figures of ${id}\n` });
    after(() => heartbeat.close());
  }
  const lanes = new Lanes();
  after(() => lanes.end());
  addLanes(lanes, front, 'front');
  addLanes(lanes, worker, 'worker');
  const behind = addLog(lanes, direct, worker);
  const reported: string[] = [];
  const subscription = new Subscription(front, 'news', { message: (text) => reported.push(text) });
  after(() => subscription.close());
  const queue = new JobQueue<{ name: string }, { name: string }>(front, 'replies');
  const done = new Set<string>();
  const runner = new JobRunner<{ name: string }, { name: string }>(
    worker,
    'replies',
    2,
    async ({ task, save }) => {
      await save(task);
      done.add(task.name);
    },
    () => {},
  );
  after(() => Promise.all([runner.stop(), queue.close()]));

  const counts = await disturb(performance.now() + seconds * 1_000);
  const { answered } = lanes;
  context.diagnostic(`${answered} replies, ${lanes.refused} refusals, ${JSON.stringify(counts)}`);
  assert.deepEqual(lanes.failures.slice(0, 10), []);

  const backMs = performance.now();
  const name = `job ${lastEcho}`;
  const left = () => recoveredMs - (performance.now() - backMs);
  const adding = queue.add([{ id: 'last', task: { name } }]);
  await until(
    'every process is known',
    async () => (await liveProcesses(front).catch(() => [])).length === 2,
    left(),
  );
  await until(
    'both report their metrics',
    async () => (await front.registry.metrics('nobody')).length === 2,
    left(),
  );
  await until(
    'messages are received',
    async () => {
      await front.client.publish('news', 'last');
      return reported.includes('last');
    },
    left(),
  );
  await until('the stream is read to its end', () => behind() < 5, left());
  await adding;
  await until('a job is done', () => done.has(name), left());
  const [status] = await queue.statuses(['last']);
  assert.deepEqual(status?.progress, { name });
  const { refused } = lanes;
  await sleep(1_000);
  await lanes.end();
  assert.equal(lanes.refused, refused, 'nothing fails from now on');
  assert.deepEqual(lanes.failures.slice(0, 10), []);
});

test('replies: a connection that receives an unsolicited reply is closed', async () => {
  const address = { kind: 'single', url: wire.url } as const;
  const store = await openStore({ address, partitionCount: 1, commandTimeoutMs: 1_000 });
  after(() => store.close());
  const idOf = async () => Number(await sendRaw(store.client, 'CLIENT', ['ID']));
  const before = await idOf();
  const { joined } = wire;
  wire.say('$5\r\nstray\r\n');
  // A command that waits for its reply at that moment would get this one.
  await until('it reconnects', () => wire.joined > joined, recoveredMs);
  await until(
    'there is another connection',
    async () => (await idOf().catch(() => before)) !== before,
    recoveredMs,
  );
  assert.equal(String(await sendRaw(store.client, 'ECHO', ['mine'])), 'mine');
});

test('replies: a connection whose SELECT is refused is not used with another database', async () => {
  const address = { kind: 'single', url: `${redis.url}/99` } as const;
  await assert.rejects(
    openStore({ address, partitionCount: 1, commandTimeoutMs: 500 }),
    StoreUnavailableError,
  );
});
