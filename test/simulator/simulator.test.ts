/**
 * A seeded simulator of the actor runtime: many schedules that a real network, real processes and a real clock would bring
 * about once in months.
 *
 * What is real: everything in `src/actors` and `src/store`, the client library, its reconnecting and sending again, the
 * wire protocol, and the Lua scripts, which run as they lie in `src/store/scripts`. What is simulated: time, the network
 * and Redis itself (`support/redis.ts`, which `redis.test.ts` holds against a real one). So a schedule decides when each
 * message arrives, which connection breaks with what under way, when a worker crashes, is paused beyond its lease or
 * loses it, and when a read of the stream comes twice, from further back or in another order.
 *
 * What it does not cover: loss of what Redis has acknowledged, Redis Cluster, several tenants, changes of the
 * configuration, and index shards (a list of items stands in for them). Those have tests with real processes.
 *
 * Checked after every script: epochs, checkpoints and commits never go back, nobody writes whose epoch was fenced. After
 * every schedule: what was acknowledged is stored; every view, claim, route, item and lookup entry is what a naive
 * recomputation makes of it; no work and no intent is left; each partition is served, by a shard that is as Redis is.
 *
 * `MILLRACE_SEED=… MILLRACE_RUNS=…` choose where it begins and how long it goes on.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { runs } from '../support/runs.ts';
import { type Fault, ScheduleError, Simulation } from './support/simulation.ts';

const schedules = 25;
/** A planted mistake that is not found by then is not found. */
const schedulesToFind = 200;

test('whatever breaks when, nothing is lost and everything is true afterwards', async (context) => {
  const first = Number(process.env.MILLRACE_SEED ?? randomInt(2 ** 30));
  context.diagnostic(`MILLRACE_SEED=${first}`);
  for (let seed = first; seed < first + runs(schedules); seed += 1) {
    try {
      await Simulation.run({ seed, partitions: 1 + (seed % 4) });
    } catch (error) {
      if (error instanceof ScheduleError) context.diagnostic(error.log.join('\n'));
      throw error;
    }
  }
});

test('a seed gives the same schedule again', async () => {
  const logs: (readonly string[])[] = [];
  for (let run = 0; run < 2; run += 1) {
    logs.push((await Simulation.run({ seed: 7, partitions: 3 })).log);
  }
  assert.deepEqual(logs[1], logs[0]);
});

function replaced(source: string, from: string | RegExp, to: string): string {
  const altered = source.replace(from, to);
  assert.notEqual(altered, source, `${from} is not in the script any more`);
  return altered;
}

const ownEpochCheck = "if redis.call('HGET', KEYS[1], 'epoch') ~= ARGV[1] then";
const fenceCheck =
  /if tonumber\(redis\.call\('HGET', (?:KEYS|group)\[1\], ARGV\[1\]\) or 0\) > tonumber\(ARGV\[2\]\) then/;
const moveCheckpoint = `
redis.call('HSET', KEYS[1], 'checkpoint', redis.call('HGET', string.sub(KEYS[1], 1, -6) .. 'clock', 'stream'))
return 1`;
const ofOwners = new Set(['commit', 'intend']);
const outside = new Set(['claim', 'mark', 'register', 'touch']);

interface Mistake {
  /** How a script would look then. */
  alter(script: string, source: string): string;
  /** Where the search begins: a schedule that brought it to light, while the code stays as it was then. */
  readonly seed: number;
  /** What brings it to light. */
  readonly faults: readonly [Fault, ...Fault[]];
}

const mistakes: Readonly<Record<string, Mistake>> = {
  'an owner whose epoch nobody looks at': {
    alter: (script, source) =>
      ofOwners.has(script) ? replaced(source, ownEpochCheck, 'if false then') : source,
    seed: 28,
    faults: ['lease', 'stall'],
  },
  'effects outside the partition by an owner that was fenced': {
    alter: (script, source) => (outside.has(script) ? replaced(source, fenceCheck, 'if false then') : source),
    seed: 1,
    faults: ['lease', 'stall'],
  },
  'a checkpoint that moves before the work is committed': {
    alter: (script, source) => (script === 'intend' ? replaced(source, 'return 1', moveCheckpoint) : source),
    seed: 1,
    faults: ['crash', 'redis'],
  },
  'intents that are not noted': {
    alter: (script, source) => (script === 'intend' ? replaced(source, /^for .* end$/m, '') : source),
    seed: 18,
    faults: ['crash', 'links'],
  },
};

for (const [mistake, { alter, seed: first, faults }] of Object.entries(mistakes)) {
  test(`it finds a planted mistake: ${mistake}`, async (context) => {
    for (let seed = first; seed < first + schedulesToFind; seed += 1) {
      try {
        await Simulation.run({ seed, partitions: 3, faults, plant: alter });
      } catch (error) {
        assert.ok(error instanceof ScheduleError, String(error));
        context.diagnostic(`found by schedule ${seed}: ${error.message.slice(0, 200)}`);
        return;
      }
    }
    assert.fail('not found');
  });
}
