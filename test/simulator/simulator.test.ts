/**
 * A seeded simulator of the actor runtime. It runs interleavings that a real network, real processes and a real clock would
 * produce once in months.
 *
 * Real: everything in `src/actors` and `src/store`; the jobs that follow a change of the configuration; the Redis client
 * library with its reconnects and resends, except for its wire protocol (`support/redis/client-library.ts`); the Lua scripts
 * in `src/store/scripts`. Simulated: time, the network and Redis (`support/redis/`; `redis.test.ts` compares it with a real
 * one). A schedule decides when each message arrives; which connection breaks with which messages in flight, and which of them
 * arrive much later; when a worker or jobs process crashes, is paused beyond its lease or loses it; when a stream read is
 * repeated, starts earlier or is reordered; and when schemas, indexes and lookups are added and removed. It writes to two
 * tenants with the same entities and URLs. Leaves of ordered lists hold only two strings, so that few entities fill several (`support/lua/small-leaves.ts`).
 * Entities have publication times, and Redis' clock is set back between schedules.
 *
 * A schedule is a few requests with failures, and ends when there is no work left. The schedules of a seed run one after the
 * other on the same platform and store.
 *
 * Not covered: loss of acknowledged writes in Redis, Redis Cluster, the job queue library (replaced by a list), and index
 * shards (replaced by a list of items). Those have tests with real processes.
 *
 * Checked after every script: epochs, fences, checkpoints and commits never go back; a fenced owner never writes; no worker
 * takes a partition that another worker holds; an owner starts only after all older ones are fenced; a commit announces the
 * invalidations that it caused; every owner reads a lookup layout that still exists. Checked after every request: its
 * response. Checked after every schedule: acknowledged writes are stored; every view, claim, route, clash, item, lookup entry,
 * directory and scheduled moment equals a naive recomputation, with claims in order; leaves of ordered lists have the right
 * content and lists the right length; every change was announced; no work or intent is left; each partition is served by a
 * shard that equals Redis.
 *
 * Blind spots were found by mutating the scripts statement by statement. A mutation that it does not find is redundant with
 * another check (the previous commit number besides the epoch; a layout that is not replaced while it exists, besides
 * `LayoutWatch`), only an optimization, or only relevant in Redis Cluster.
 *
 * `MILLRACE_SEED` and `MILLRACE_RUNS` choose the first seed and the number of seeds.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, test } from 'node:test';
import { runs } from '../support/runs.ts';
import { mistakes } from './support/checks/mistakes.ts';
import { scriptTexts } from './support/lua/script-names.ts';
import { Simulation } from './support/simulation.ts';
import { Threads } from './support/threads.ts';

/** Only the first schedule of a seed has to wait for the platform to start. */
const schedulesPerSeed = 25;
const seeds = 20;
/** A planted bug must be found within this many seeds. */
const seedsToFind = 40;

const threads = new Threads();
after(() => threads.end());

test('simulator: after any failures, nothing is lost and every output is correct', async (context) => {
  const first = Number(process.env.MILLRACE_SEED ?? randomInt(2 ** 30));
  context.diagnostic(`MILLRACE_SEED=${first}`);
  const startMs = performance.now();
  const { schedules, leaves, failure } = await threads.runSeeds(first, runs(seeds), schedulesPerSeed);
  const seconds = (performance.now() - startMs) / 1000;
  context.diagnostic(`${schedules} schedules, ${(schedules / seconds).toFixed(0)} a second`);
  if (failure !== null) context.diagnostic(failure.log.join('\n'));
  assert.equal(failure?.message, undefined);
  context.diagnostic(`leaves of ordered lists: ${leaves.cut} were cut, ${leaves.joined} joined`);
  assert.ok(leaves.cut > 0 && leaves.joined > 0, 'ordered lists grow and shrink by leaves');
});

test('simulator: a seed reproduces its schedules', async () => {
  const logs: (readonly string[])[] = [];
  for (let run = 0; run < 2; run += 1) {
    logs.push((await Simulation.run({ seed: 2, partitions: 3, schedules: 6 })).log);
  }
  assert.deepEqual(logs[1], logs[0]);
});

for (const [mistake, { seed: first, alter }] of Object.entries(mistakes)) {
  test(`simulator: finds a planted bug: ${mistake}`, async (context) => {
    const altered = [...scriptTexts()].filter(([script, text]) => alter(script, text) !== text);
    assert.ok(altered.length > 0, 'it alters a script');
    const seeds = Array.from({ length: seedsToFind }, (_, index) => first + index);
    const { schedules, failure } = await threads.run({ seeds, schedules: schedulesPerSeed, mistake });
    assert.ok(failure, 'not found');
    context.diagnostic(`found after ${schedules} schedules: ${failure.message.slice(0, 200)}`);
  });
}
