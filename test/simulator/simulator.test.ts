/**
 * A seeded simulator of the actor runtime: many schedules that a real network, real processes and a real clock would bring
 * about once in months.
 *
 * What is real: everything in `src/actors` and `src/store`, the jobs that follow a change of the configuration, the client
 * library but for its wire protocol (`support/redis/client-library.ts`), its reconnecting and sending again, and the Lua scripts,
 * which run as they lie in `src/store/scripts`. What is simulated: time, the network and Redis itself (`support/redis/`,
 * which `redis.test.ts` holds against a real one). So a schedule decides when each message arrives, which connection breaks
 * with what under way, when a worker or a jobs process crashes, is paused beyond its lease or loses it, when a read of the
 * stream comes twice, from further back or in another order, and when schemas, indexes and lookups come and go. Two tenants
 * with the same entities and URLs are written to. Leaves of ordered lists hold two texts, so that few entities have several
 * (`support/lua/small-leaves.ts`). Entities wait for moments, and Redis' clock is set back between schedules.
 *
 * A schedule is a few requests and what breaks meanwhile, until nothing is left to do. Those of one seed follow one another
 * on one platform, each on what the one before left.
 *
 * What it does not cover: loss of what Redis has acknowledged, Redis Cluster, the library that keeps the queue of jobs (a
 * list stands in for it), and index shards (a list of items stands in for them). Those have tests with real processes.
 *
 * Checked after every script: epochs, fences, checkpoints and commits never go back, nobody writes whose epoch was fenced,
 * nobody takes what another holds, an owner works when all older ones are fenced, a commit tells of the invalidations that it
 * caused, and every owner reads a lookup layout that is kept. After every request: what it is told. After every schedule:
 * what was acknowledged is stored; every view, claim, route, clash, item, lookup entry, directory and moment of the schedule is what a naive
 * recomputation makes of it, claims in their order; leaves of ordered lists hold what belongs there, and lists have their
 * length; what changed was announced; no work and no intent is left; each partition is served, by a shard that is as Redis is.
 *
 * What it is blind to was found by removing and altering the scripts statement by statement. What it does not find is either
 * a second lock on a door that another check has closed (the number of the commit before, beside the epoch; a former layout
 * that is not replaced while it is kept, beside `LayoutWatch`), a shortcut, or for Redis Cluster alone.
 *
 * `MILLRACE_SEED=… MILLRACE_RUNS=…` choose where it begins and how long it goes on.
 */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, test } from 'node:test';
import { runs } from '../support/runs.ts';
import { mistakes } from './support/checks/mistakes.ts';
import { scriptTexts } from './support/lua/script-names.ts';
import { Simulation } from './support/simulation.ts';
import { Threads } from './support/threads.ts';

/** The first schedule of a seed waits for the platform to be there; later ones are at work at once. */
const schedulesPerSeed = 25;
const seeds = 20;
/** A planted mistake that is not found by then is not found. */
const seedsToFind = 40;

const threads = new Threads();
after(() => threads.end());

test('whatever breaks when, nothing is lost and everything is true afterwards', async (context) => {
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

test('a seed gives the same schedules again', async () => {
  const logs: (readonly string[])[] = [];
  for (let run = 0; run < 2; run += 1) {
    logs.push((await Simulation.run({ seed: 2, partitions: 3, schedules: 6 })).log);
  }
  assert.deepEqual(logs[1], logs[0]);
});

for (const [mistake, { seed: first, alter }] of Object.entries(mistakes)) {
  test(`it finds a planted mistake: ${mistake}`, async (context) => {
    const altered = [...scriptTexts()].filter(([script, text]) => alter(script, text) !== text);
    assert.ok(altered.length > 0, 'it alters a script');
    const seeds = Array.from({ length: seedsToFind }, (_, index) => first + index);
    const { schedules, failure } = await threads.run({ seeds, schedules: schedulesPerSeed, mistake });
    assert.ok(failure, 'not found');
    context.diagnostic(`found after ${schedules} schedules: ${failure.message.slice(0, 200)}`);
  });
}
