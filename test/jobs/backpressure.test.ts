import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RequestRate } from '../../src/http/operations/front-load.ts';
import {
  Backpressure,
  type FrontReport,
  PacedPortions,
  portionMax,
  rates,
} from '../../src/jobs/backpressure.ts';
import { Heartbeat } from '../../src/store/processes/heartbeat.ts';
import type { ProcessBeat } from '../../src/store/processes/process-messages.ts';
import { TestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';

interface Machine {
  readonly quietMs: number;
  /** Entities per second with nothing else to do. */
  readonly capacity: number;
  /** How much longer a read takes under no load but ours: added baselines. */
  readonly slowdown: number;
}

/** A machine with readers, in virtual time: a read takes longer the more entities were processed in the last second. */
class Play {
  readonly pace = new Backpressure();
  nowMs = 0;
  /** The effect of other load on readers: factor of the baseline. */
  others = 1;
  isRead = true;
  #hearAtMs = 0;
  /** Entities of this second, of the last one, and of the one before, which the fronts report now. */
  #seconds = [0, 0, 0];

  constructor(private readonly machine: Machine) {}

  get waitMs(): number {
    const { quietMs, capacity, slowdown } = this.machine;
    return quietMs * this.others * (1 + (slowdown * (this.#seconds[2] ?? 0)) / capacity);
  }

  rest(ms: number): void {
    for (const endMs = this.nowMs + ms; this.nowMs < endMs; ) this.#pass(Math.min(100, endMs - this.nowMs));
  }

  /** @returns entities processed in that time */
  work(ms: number): number {
    let done = 0;
    for (const endMs = this.nowMs + ms; this.nowMs < endMs; ) {
      const portion = this.pace.portion(this.nowMs);
      if (portion === null) {
        this.#pass(100);
        continue;
      }
      this.#pass(portion.pauseMs);
      this.#pass((1000 * portion.entities) / this.machine.capacity);
      this.#seconds[0] = (this.#seconds[0] ?? 0) + portion.entities;
      done += portion.entities;
    }
    return done;
  }

  #pass(ms: number): void {
    for (const endMs = this.nowMs + ms; ; this.#update()) {
      const stepMs = Math.min(endMs, this.#hearAtMs) - this.nowMs;
      this.nowMs += stepMs;
      if (this.nowMs < this.#hearAtMs) return;
    }
  }

  #update(): void {
    this.#hearAtMs = this.nowMs + 1_000;
    this.#seconds = [0, ...this.#seconds.slice(0, 2)];
    this.pace.update([front('a', this.isRead ? 200 : 0, this.waitMs)], this.nowMs);
  }
}

function front(id: string, requestsPerSecond: number, readWaitMs: number | null): FrontReport {
  return { id, requestsPerSecond, readWaitMs };
}

/** A second implementation: the highest rate whose reads are not slowed noticeably, found by trying all. */
function highestUnnoticed({ quietMs, capacity, slowdown }: Machine): number {
  let highest = 0;
  for (let rate = 10; rate <= capacity; rate += 10) {
    const waitMs = quietMs * (1 + (slowdown * rate) / capacity);
    if ((waitMs + 0.25) / (quietMs + 0.25) <= 1.4) highest = rate;
  }
  return highest;
}

test('backpressure: work uses what readers leave, on machines of many kinds', () => {
  for (const capacity of [300, 2_000, 6_000, 20_000]) {
    for (const quietMs of [0.05, 0.4, 3]) {
      for (const slowdown of [0.1, 1, 3, 20]) {
        const machine = { capacity, quietMs, slowdown };
        const play = new Play(machine);
        play.rest(5_000);
        play.work(30_000);
        const perSecond = play.work(20_000) / 20;
        const best = Math.max(rates.min, highestUnnoticed(machine));
        const said = `${JSON.stringify(machine)}: ${perSecond} a second, where ${best} would not be noticed`;
        assert.ok(perSecond >= 0.45 * best, said);
        assert.ok(perSecond <= Math.max(1.3 * best, 2 * rates.min), said);
      }
    }
  }
});

test('backpressure: without readers there is no pause, and when one arrives the work starts slowly', () => {
  const play = new Play({ quietMs: 0.4, capacity: 6_000, slowdown: 3 });
  play.isRead = false;
  play.rest(3_000);
  assert.deepEqual(play.pace.portion(play.nowMs), { pauseMs: 0, entities: portionMax });
  assert.ok(play.work(4_000) >= 23_900);
  assert.equal(play.pace.perSecond, null);
  play.isRead = true;
  play.work(1_000);
  assert.equal(play.pace.perSecond, rates.initial);
});

test('backpressure: noticeable work continues at half of its rate with the next reports, and never below the minimum', () => {
  const play = new Play({ quietMs: 0.4, capacity: 6_000, slowdown: 0.01 });
  play.rest(5_000);
  play.work(20_000);
  const before = play.pace.perSecond ?? 0;
  assert.ok(before > 5_000, `${before}`);
  play.others = 10;
  play.work(2_000);
  assert.ok((play.pace.perSecond ?? 0) <= before / 2);
  play.work(20_000);
  assert.equal(play.pace.perSecond, rates.min);
  const done = play.work(10_000);
  assert.ok(done >= rates.min * 7, `${done} are done, though it pauses in between`);
});

test('backpressure: a lasting load of others becomes the baseline after about two minutes', () => {
  const play = new Play({ quietMs: 0.4, capacity: 6_000, slowdown: 0.5 });
  play.rest(5_000);
  play.work(10_000);
  play.others = 4;
  play.work(30_000);
  assert.equal(play.pace.perSecond, rates.min);
  play.work(120_000);
  assert.ok(play.work(60_000) / 60 > 3_000);
});

test('backpressure: the rate does not exceed the actual speed of slow work', () => {
  const play = new Play({ quietMs: 0.4, capacity: 100, slowdown: 0.1 });
  play.rest(5_000);
  play.work(30_000);
  assert.ok((play.pace.perSecond ?? 0) <= rates.initial);
  play.others = 10;
  play.work(3_000);
  assert.ok((play.pace.perSecond ?? 0) <= 100, 'it backs off from its actual rate');
});

test('backpressure: the most slowed front counts, and only fronts with readers', () => {
  const rateAfter = (...waits: readonly [perSecond: number, quietMs: number, laterMs: number][]) => {
    const pace = new Backpressure();
    const reported = (at: 1 | 2) => waits.map((wait, id) => front(String(id), wait[0], wait[at]));
    for (const nowMs of [0, 1_000, 2_000, 3_000]) pace.update(reported(1), nowMs);
    for (let nowMs = 3_000; nowMs < 6_000; ) {
      const { pauseMs, entities } = pace.portion(nowMs) ?? { pauseMs: 0, entities: 0 };
      assert.ok(entities > 0, 'it does not stop');
      nowMs += Math.max(1, pauseMs);
      if (nowMs >= 5_000) break;
    }
    pace.update(reported(2), 5_000);
    return pace.perSecond ?? Number.POSITIVE_INFINITY;
  };
  assert.ok(rateAfter([50, 0.4, 0.5], [50, 2, 2.1]) >= rates.initial);
  assert.ok(rateAfter([50, 0.4, 0.5], [50, 2, 9]) < rates.initial);
  assert.ok(rateAfter([50, 0.4, 0.5], [0, 2, 9]) >= rates.initial);
});

test('backpressure: work waits until a front has reported a baseline, and not forever', () => {
  const pace = new Backpressure();
  pace.update([], 0);
  assert.notEqual(pace.portion(0), null);
  pace.update([front('a', 50, 0.4)], 1_000);
  assert.equal(pace.portion(1_000), null);
  pace.update([front('a', 50, 0.4)], 2_000);
  assert.equal(pace.portion(2_100), null);
  pace.update([front('a', 50, 0.4)], 3_000);
  assert.notEqual(pace.portion(3_100), null, 'known');

  const without = new Backpressure();
  without.update([], 0);
  assert.notEqual(without.portion(0), null);
  without.update([front('a', 50, null)], 1_000);
  assert.notEqual(without.portion(1_000), null, 'a front that measures nothing is not awaited');
});

const redis = await TestRedis.start();

function beatOfFront(id: string, requestsPerSecond: number, readWaitMs: number | null): ProcessBeat {
  const reported = {
    host: 'host',
    pid: 1,
    generation: 1,
    layouts: 0,
    partitions: [],
    waitingFor: [],
  };
  return { id, role: 'web', ...reported, requestsPerSecond, readWaitMs };
}

test('backpressure: a front reports what it answered since its last report', () => {
  let requests = 10;
  const requestsOf = (tags?: readonly string[]) => (tags?.includes('query') === false ? 0 : requests);
  const rate = new RequestRate({ requestsOf }, 1_000);
  requests = 40;
  const rates = { ingest: 0, delivery: 0, query: 60 };
  assert.deepEqual(rate.perSecond(1_500), { requestsPerSecond: 60, rates });
  assert.equal(rate.perSecond(2_500).requestsPerSecond, 0);
});

test('backpressure: portions follow the reports of fronts while a job runs', async (context) => {
  const store = await redis.openEmptyStore(1);
  const portions = new PacedPortions(store);
  const { signal } = new AbortController();
  assert.equal(await portions.next(signal), portionMax, 'no front');
  assert.equal(portions.perSecond, null);
  const { requestsPerSecond, readWaitMs, ...worker } = beatOfFront('c', 0, null);
  const processes: ProcessBeat[] = [
    beatOfFront('a', 30, 0.4),
    beatOfFront('b', 0, null),
    { ...worker, role: 'worker' },
  ];
  for (const process of processes) {
    const heartbeat = new Heartbeat(store, { beat: () => process, metrics: async () => '' });
    context.after(() => heartbeat.close());
  }
  await until('the reader is known', async () => {
    await portions.update();
    return portions.perSecond !== null;
  });
  assert.ok((await portions.next(signal)) < portionMax, 'it stopped, then continued slowly');
});

test('backpressure: a job that ends does not wait for its next portion', async (context) => {
  const store = await redis.openEmptyStore(1);
  const heartbeat = new Heartbeat(store, { beat: () => beatOfFront('a', 30, 0.4), metrics: async () => '' });
  context.after(() => heartbeat.close());
  const portions = new PacedPortions(store);
  const end = new AbortController();
  await until('it has stopped', async () => {
    await portions.update();
    return portions.perSecond !== null;
  });
  const next = (async () => {
    for (;;) await portions.next(end.signal);
  })();
  end.abort();
  await assert.rejects(next, { name: 'AbortError' });
});
