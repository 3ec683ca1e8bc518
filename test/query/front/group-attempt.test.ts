import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { GatheredReply } from '../../../src/query/front/attempt.ts';
import { GroupAttempt } from '../../../src/query/front/group-attempt.ts';
import { WorkerHealth } from '../../../src/query/front/worker-health.ts';
import { encodeReply, nothingHeld } from '../../../src/query/protocol/shard-reply.ts';
import type { LiveWorker, Reply } from '../../../src/query/transport/messages.ts';
import { until } from '../../support/until.ts';

const gone: Reply = { kind: 'lost', reason: 'gone' };
const refused: Reply = { kind: 'answer', body: nothingHeld };

function replyFor(partitions: readonly number[]): Reply {
  const covers = new Map(partitions.map((partition) => [partition, 1]));
  const held = { covers, applied: covers, configuration: null };
  return { kind: 'answer', body: encodeReply({ held, answers: ['answer'] }) };
}

const workers = (ids: string): LiveWorker[] => [...ids].map((id) => ({ id, host: 'here', addresses: null }));

/** An attempt with groups of one partition each. @param groups ids of the workers that hold each */
class Trial {
  /** Worker and group of each request, in order. */
  readonly asked: string[] = [];
  readonly ends: (string | null)[] = [];
  readonly #waiting = new Map<string, (reply: Reply | null) => void>();
  readonly health: WorkerHealth;
  readonly attempt: GroupAttempt;

  constructor(
    context: TestContext,
    /** Can be replaced, as heartbeats change what the front knows. */
    public groups: readonly string[],
    health?: WorkerHealth,
  ) {
    this.health = health ?? new WorkerHealth(() => this.attempt.passOver());
    context.after(() => this.health.close());
    this.health.follow(workers([...new Set(groups.join(''))].join('')));
    this.attempt = new GroupAttempt({
      groups: groups.length,
      holders: () => this.groups.map(workers),
      sizeOf: () => 1,
      health: this.health,
      send: ({ id }, group, onReply) => {
        this.asked.push(`${id}${group}`);
        this.#waiting.set(`${id}${group}`, onReply);
      },
      onEnd: (cover: GatheredReply[] | null) =>
        this.ends.push(cover?.map(({ workerId }) => workerId).join('') ?? null),
    });
    this.attempt.begin();
  }

  reply(name: string, reply: Reply | null): void {
    const onReply = this.#waiting.get(name);
    assert.ok(onReply !== undefined, `${name} got a request`);
    this.#waiting.delete(name);
    onReply(reply);
  }

  /** The last worker that got a request for a group. */
  lastFor(group: number): string {
    return this.asked.findLast((name) => name.endsWith(String(group))) ?? '';
  }
}

test('group attempt: one worker of each group gets a request, and their replies are the cover', (context) => {
  const trial = new Trial(context, ['ab', 'cd']);
  assert.equal(trial.asked.length, 2);
  trial.reply(trial.lastFor(1), replyFor([1]));
  assert.deepEqual(trial.ends, []);
  trial.reply(trial.lastFor(0), replyFor([0]));
  assert.deepEqual(trial.ends, [`${trial.lastFor(0)[0]}${trial.lastFor(1)[0]}`]);
});

test('group attempt: if a worker cannot answer, another one is asked immediately', (context) => {
  for (const first of [gone, refused, null, replyFor([0, 1])]) {
    const trial = new Trial(context, ['ab']);
    const former = trial.lastFor(0);
    trial.reply(former, first);
    assert.equal(trial.asked.length, 2);
    assert.notEqual(trial.lastFor(0), former);
    trial.reply(trial.lastFor(0), replyFor([0]));
    assert.deepEqual(trial.ends, [trial.lastFor(0)[0]]);
  }
});

test('group attempt: it ends with null if no holder of a group answers', (context) => {
  const trial = new Trial(context, ['ab', 'c']);
  trial.reply(trial.lastFor(0), gone);
  trial.reply(trial.lastFor(0), gone);
  assert.deepEqual(trial.ends, [null]);
});

test('group attempt: if a worker is silent, another one is asked too, and the first reply counts', async (context) => {
  const trial = new Trial(context, ['ab']);
  const silent = trial.lastFor(0);
  await until('the other one gets a request', () => trial.asked.length === 2);
  // A silent worker is chosen only if there is no other.
  const next = new Trial(context, ['ab'], trial.health);
  assert.notEqual(next.lastFor(0), silent);
  trial.reply(silent, replyFor([0]));
  assert.deepEqual(trial.ends, [silent[0]]);
  assert.equal(trial.health.isSilent(silent.slice(0, 1)), false);
});

test('group attempt: a worker that could not answer is asked again in another try, while the other one is silent', async (context) => {
  const trial = new Trial(context, ['ab']);
  const first = trial.lastFor(0);
  trial.reply(first, refused);
  assert.notEqual(trial.lastFor(0), first);
  await until('the try is over', () => trial.ends.length > 0);
  assert.deepEqual(trial.ends, [null]);
});

test('group attempt: a worker that received its copy after the try began replaces a silent one', async (context) => {
  const trial = new Trial(context, ['a']);
  trial.groups = ['ab'];
  trial.health.follow(workers('ab'));
  await until('the new one gets a request', () => trial.asked.length === 2);
  trial.reply('b0', replyFor([0]));
  assert.deepEqual(trial.ends, ['b']);
});

test('group attempt: a try with outdated groups ends when its workers are silent', async (context) => {
  const trial = new Trial(context, ['a']);
  trial.groups = ['a', 'b'];
  await until('the try is over', () => trial.ends.length > 0);
  assert.deepEqual([trial.ends, trial.asked], [[null], ['a0']]);
});

test('group attempt: a worker that has left is not awaited', (context) => {
  const trial = new Trial(context, ['ab', 'a']);
  trial.health.follow(workers('b'));
  trial.attempt.passOver();
  assert.deepEqual(trial.ends, [null]);
});

test('group attempt: requests are spread over the holders', (context) => {
  const health = new WorkerHealth(() => {});
  const counts = new Map<string, number>();
  for (let request = 0; request < 30; request += 1) {
    const [asked = ''] = new Trial(context, ['abc'], health).asked;
    counts.set(asked, (counts.get(asked) ?? 0) + 1);
  }
  assert.deepEqual([...counts.values()], [10, 10, 10]);
});
