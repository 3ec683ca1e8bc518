/**
 * Consumers follow the change feed by all three methods, from offsets of any age, while entities change randomly and processes
 * are killed: in the end each copy equals the environment, and so does a new copy.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SourceEntity } from '../../../src/contract/entity.ts';
import { formatViewId } from '../../../src/contract/ids.ts';
import { waitUntilSettled } from '../../../src/store/partitions/partition-state.ts';
import { until } from '../../support/until.ts';
import { type Client, NoResponseError } from '../support/client.ts';
import { entityOf } from '../support/data/entities.ts';
import { EventSource } from '../support/event-source.ts';
import { FeedCopy } from '../support/feed-copy.ts';
import { System } from '../support/processes/system.ts';
import { Random, testSeconds } from '../support/random.ts';
import { clientKey, environmentId, siteFiles, sourceId, sourceKey } from '../support/site.ts';
import { differencesFoundByVerify } from '../support/verify.ts';

const files = siteFiles({
  schemas: {
    page: {
      triggers: { cms: ['page'] },
      route: { url: '{url}', handles: ['{p.handle}'] },
      properties: { title: '{p.title}' },
    },
    list: {
      triggers: { cms: ['list'] },
      route: { handles: ['list-{originId}'] },
      properties: {
        titles: {
          type: 'array',
          input: { $lookup: { filter: "type eq 'page' and properties.list eq {originId}" } },
          items: '{item.p.title}',
        },
      },
    },
  },
});

const random = Random.forTest('changes-crash');
const hosts = ['', 'https://one.test', 'https://two.test:8443'];

function randomUrl(): string {
  return `${random.pick(hosts)}/u${random.below(8)}`;
}

function randomPage(originId: string, serial: number): SourceEntity {
  return entityOf(
    originId,
    'page',
    {
      title: `T${random.below(3)}`,
      handle: random.pick([null, `h${random.below(5)}`]),
      list: random.pick(['l0', 'l1']),
      serial,
    },
    {
      url: random.pick([null, randomUrl(), randomUrl()]),
      redirects: Array.from({ length: random.below(3) }, randomUrl),
    },
  );
}

/** Copies of all followers at earlier offsets. */
const checkpoints: FeedCopy[] = [];
const checkpointsMax = 50;

/** A consumer with a copy. After each error it resumes from its offset, and sometimes from an older one. */
class Follower {
  copy = new FeedCopy();
  isStopping = false;
  returns = 0;

  constructor(
    private readonly system: System,
    readonly way: 'once' | 'long-poll' | 'sse',
  ) {}

  async run(): Promise<void> {
    while (!this.isStopping) {
      this.#maybeReturn();
      const client = this.system.client(random.pick(this.system.fronts), 1);
      try {
        if (this.way === 'sse') await this.#byEvents();
        else await this.copy.catchUp(client, clientKey, this.way === 'once' ? '' : 'live=long-poll');
      } catch (error) {
        if (!(error instanceof NoResponseError) && !/50[0-9]|stream ended/.test(String(error))) throw error;
      }
      await sleep(random.below(200));
    }
  }

  /** Sometimes saves the copy, and sometimes goes back to a saved copy of any follower. */
  #maybeReturn(): void {
    if (this.copy.offset !== '' && random.chance(0.3)) {
      checkpoints[random.below(checkpointsMax)] = this.copy.clone();
    }
    const kept = checkpoints.filter((copy) => copy !== undefined);
    if (kept.length === 0 || !random.chance(0.2)) return;
    this.copy = random.pick(kept).clone();
    this.returns += 1;
  }

  async #byEvents(): Promise<void> {
    const url = `${this.system.url(random.pick(this.system.fronts))}/changes/v1?live=sse`;
    const last: Record<string, string> = this.copy.offset === '' ? {} : { 'Last-Event-ID': this.copy.offset };
    const events = new EventSource(url, { 'X-Api-Key': clientKey, ...last });
    const most = 1 + random.below(40);
    const endMs = performance.now() + random.below(3000);
    try {
      await events
        .until(
          () => events.events.length >= most || performance.now() > endMs || this.isStopping,
          'some events',
          3500,
        )
        .catch(() => {});
      for (const { id, event, data } of events.events) {
        if (event === 'change') this.copy.apply(JSON.parse(data));
        this.copy.offset = id;
      }
    } finally {
      events.close();
    }
  }
}

/** The views as delivery returns them, requested one by one. */
async function environmentOf(client: Client, ids: readonly string[]): Promise<Map<string, unknown>> {
  const found = new Map<string, unknown>();
  for (const id of ids) {
    const { json } = await client.get(`/v2?id=${encodeURIComponent(id)}`, { key: clientKey });
    if (json.views[id] !== undefined) found.set(id, json.views[id]);
  }
  return found;
}

function allRun(system: System): boolean {
  const names = [...system.fronts, ...system.workers, 'jobs.1'];
  return names.every((name) =>
    /"(?:web is listening|worker is running|ready)"/.test(system.process(name).outputOfThisLife),
  );
}

test('changes: every copy has the views and URLs of the environment, whichever processes were killed', async (context) => {
  const system = await System.start({ web: 2, workers: 2, jobs: 1, partitions: 4, files });
  const followers = (['once', 'long-poll', 'sse', 'sse'] as const).map((way) => new Follower(system, way));
  const stopFollowers = () => {
    for (const follower of followers) follower.isStopping = true;
  };
  context.after(async () => {
    stopFollowers();
    await system.stop();
  });
  const running = Promise.all(followers.map((follower) => follower.run()));
  const originIds = Array.from({ length: 24 }, (_, at) => `p${at}`);
  const client = system.client('web.1', 8);
  const endMs = performance.now() + testSeconds(15) * 1000;
  const others = process.env.MILLRACE_STORE === 'cluster' ? ['jobs.1'] : ['jobs.1', 'redis'];
  const killed: string[] = [];
  let killAtMs = performance.now() + random.below(3_000);
  let serial = 0;
  const send = async (act: () => Promise<{ status: number }>) => {
    await act().catch((error: unknown) => {
      if (!(error instanceof NoResponseError)) throw error;
    });
  };
  await send(() =>
    client.post(
      '/ingest/v2',
      JSON.parse(JSON.stringify(['l0', 'l1'].map((id) => entityOf(id, 'list', {})))),
      { key: sourceKey },
    ),
  );
  while (performance.now() < endMs) {
    await sleep(random.below(40));
    serial += 1;
    const originId = random.pick(originIds);
    if (random.chance(0.25)) await send(() => client.delete(`/ingest/v2/${originId}`, { key: sourceKey }));
    else {
      const pages = random
        .shuffled(originIds)
        .slice(0, 1 + random.below(6))
        .map((id) => randomPage(id, serial));
      await send(() => client.post('/ingest/v2', JSON.parse(JSON.stringify(pages)), { key: sourceKey }));
    }
    if (performance.now() >= killAtMs) {
      killAtMs = performance.now() + random.between(500, 4_000);
      const name = random.pick([...system.workers, ...system.workers, ...system.fronts, ...others]);
      // A process that starts without Redis exits, and nothing here would restart it.
      if (name === 'redis') await until('all processes are running', () => allRun(system));
      await system.kill(name);
      await system.restart(name);
      killed.push(name);
    }
  }
  await system.ready();
  const store = await system.store();
  await waitUntilSettled(store);
  stopFollowers();
  await client.post('/ingest/v2', JSON.parse(JSON.stringify([randomPage('last', 0)])), { key: sourceKey });
  await running;
  await waitUntilSettled(store);
  const fresh = new FeedCopy();
  const reported = await fresh.catchUp(system.client('web.2'), clientKey);
  assert.equal(new Set(reported.map(({ id }) => id)).size, reported.length, 'a copy has each view once');
  const ids = ['last', ...originIds].map((originId) =>
    formatViewId({ environmentId, sourceId, originId, alias: 'page' }),
  );
  const environment = await environmentOf(client, ids);
  const pages = [...fresh.views.values()].filter(({ alias }) => alias === 'page');
  assert.equal(pages.length, environment.size, 'as many views as delivery has');
  const { json } = await client.get('/routes/v2', { key: clientKey });
  const listed = json.results.map(({ url }: { url: string }) => url).sort();
  const copied = pages.flatMap(({ urls, redirects }) => [...urls, ...redirects]).sort();
  assert.deepEqual(copied, listed, 'the URLs of the copy are the routes');
  for (const follower of followers) {
    await follower.copy.catchUp(client, clientKey);
    assert.deepEqual(follower.copy.sorted(), fresh.sorted(), follower.way);
  }
  assert.deepEqual(await differencesFoundByVerify(system), []);
  const returns = followers.reduce((sum, follower) => sum + follower.returns, 0);
  context.diagnostic(`${serial} writes, ${environment.size} views, killed ${killed.join(' ') || 'nothing'}`);
  context.diagnostic(`${returns} times somebody came back with an older offset`);
});
