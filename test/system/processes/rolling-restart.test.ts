/**
 * Under load, processes are restarted one by one (docs/guide/upgrading.md "A rolling restart of one version"), and fronts are
 * killed and frozen, behind nginx with the documented configuration (docs/operations/nginx.conf). Nginx retries at another front
 * if a connection breaks, so this test cannot show that a stopping front breaks none: `test/http/uws/closing.test.ts` does.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { liveProcesses } from '../../../src/store/processes/registry.ts';
import { Nginx } from '../../support/nginx.ts';
import { until } from '../../support/until.ts';
import { System } from '../support/processes/system.ts';
import { clientKey, siteFiles, sourceKey } from '../support/site.ts';

/** Concurrent lanes per kind of request. */
const lanesOfKind = 4;
/** Pause of a lane between a response and its next request, which leaves the processors to starting processes. */
const pauseMs = 120;
const slowMs = 2_000;
const rounds = Number(process.env.MILLRACE_ROUNDS ?? 1);

const files = siteFiles({
  schemas: {
    page: { triggers: { cms: ['thing'] }, route: { url: '{url}' }, properties: { rank: '{p.rank}' } },
  },
  indexes: {
    things: {
      triggers: { cms: ['thing'] },
      properties: { rank: { type: 'number', value: '{p.rank}' } },
      index: { fields: { rank: { type: 'long' } } },
    },
  },
});

let system: System;
let nginx: Nginx;
let firstVersion = '';

before(async () => {
  // A stopping worker waits up to half of this for another one to start, which may be slow on a busy machine.
  const env = { DRAIN_SECONDS: '120' };
  system = await System.start({ web: 2, workers: 2, jobs: 1, files, env });
  const conf = await readFile(new URL('../../../docs/operations/nginx.conf', import.meta.url), 'utf8');
  const line = /^ *server 127\.0\.0\.1:4000([^;]*);.*$/gm;
  assert.match(conf, line);
  const serversLike = (parameters: string) =>
    system.fronts.map((name) => `server ${new URL(system.url(name)).host}${parameters};`).join('\n');
  nginx = await Nginx.start((address) =>
    conf
      .replaceAll(line, (_, parameters: string) => serversLike(parameters))
      .replace('listen 80', `listen ${address}`),
  );
  firstVersion = await save(1);
});
after(async () => {
  await nginx.stop();
  await system.stop();
});

/** Saves through nginx. @returns the version to read at */
async function save(rank: number): Promise<string> {
  const things = [{ originId: 't1', type: 'thing', url: '/t1', properties: { rank } }];
  const response = await fetch(`${nginx.url}/ingest/v2`, {
    method: 'POST',
    headers: { 'X-Api-Key': sourceKey },
    body: JSON.stringify(things),
  });
  assert.equal(response.status, 200, await response.text());
  return response.headers.get('X-Service-Version') ?? '';
}

type Kind = 'query' | 'query at a version' | 'page at a version';

const kinds: readonly Kind[] = ['query', 'query at a version', 'page at a version'];

/** Sends the requests, and records failures and a timeline. */
class Load {
  asked = 0;
  answered = 0;
  slowestMs = 0;
  /** Answers that took longer than `slowMs`. */
  slow = 0;
  /** Version of the last save. */
  version = firstVersion;
  rank = 1;
  readonly failures: string[] = [];
  readonly #startMs = performance.now();
  readonly #steps: string[] = [];

  /** Each query is unique, so that no front answers it from its cache. */
  async ask(kind: Kind): Promise<void> {
    this.asked += 1;
    const { version, rank } = this;
    const filters = { and: [{ field: 'rank', operator: 'notEquals', value: -this.asked }] };
    const requestedMs = performance.now();
    const headers = {
      'X-Api-Key': clientKey,
      ...(kind !== 'query' && { 'X-Service-Min-Version': version }),
    };
    const response =
      kind === 'page at a version'
        ? await fetch(`${nginx.url}/v2?url=/t1`, { headers })
        : await fetch(`${nginx.url}/v1/things`, {
            method: 'POST',
            headers: { ...headers, 'Content-Type': 'application/json' },
            body: JSON.stringify({ filters }),
          });
    const text = await response.text();
    this.answered += 1;
    const tookMs = performance.now() - requestedMs;
    this.slowestMs = Math.max(this.slowestMs, tookMs);
    if (tookMs > slowMs) this.slow += 1;
    const [, shown = '0'] = /"rank":"?([0-9]+)/.exec(text) ?? [];
    const isStale = kind !== 'query' && Number(shown) < rank;
    if (response.status === 200 && !isStale) return;
    const what = isStale && response.status === 200 ? `rank ${shown}, not ${rank}` : response.status;
    this.failures.push(`${kind}: ${what} ${text.slice(0, 100)}`);
    this.step(`${kind}: ${what} after ${Math.round(performance.now() - requestedMs)} ms`);
  }

  /** Saves like a client that retries: only acknowledged saves count. */
  async save(): Promise<void> {
    const rank = this.rank + 1;
    const version = await save(rank).catch((error: Error) => {
      this.step(`save: ${error.message.slice(0, 100)}`);
      return null;
    });
    if (version === null) return;
    this.version = version;
    this.rank = rank;
  }

  step(what: string): void {
    this.#steps.push(`${Math.round(performance.now() - this.#startMs)} ms: ${what}`);
  }

  /** Fails if a read failed, with the timeline and the errors of nginx. Refused connections are left out, as they cost no time. */
  async end(context: TestContext): Promise<void> {
    const perSecond = Math.round(this.answered / ((performance.now() - this.#startMs) / 1000));
    context.diagnostic(
      `${this.asked} reads, ${perSecond}/s, the slowest ${Math.round(this.slowestMs)} ms, ${this.failures.length} failed`,
    );
    if (this.failures.length === 0) return;
    const met = (await nginx.errors()).filter((line) => !line.includes('Connection refused'));
    for (const line of [...this.#steps, ...met]) context.diagnostic(line);
    assert.deepEqual([...new Set(this.failures)], [], `${this.failures.length} of ${this.asked}`);
  }
}

/** Follows the guide: waits until the process is listed and every front is ready without `degraded`. */
async function restart(name: string): Promise<void> {
  await system.restart(name);
  await until(`${name} is listed`, async () => {
    const processes = await liveProcesses(await system.store());
    return processes.some(
      ({ pid, role, partitions }) =>
        pid === system.process(name).pid && (role !== 'worker' || partitions.length > 0),
    );
  });
  for (const front of system.fronts) {
    await until(`${name} runs`, async () => {
      const answer = await fetch(`${system.url(front)}/health/ready`).catch(() => null);
      return answer?.status === 200 && !(await answer.text()).includes('degraded');
    });
  }
}

/** @param act runs while reads come from all lanes, and saves from one */
async function underLoad(
  context: TestContext,
  act: (load: Load) => Promise<void>,
  { saves = true } = {},
): Promise<void> {
  const load = new Load();
  let isOver = false;
  const lane = async (act: () => Promise<void>) => {
    while (!isOver) {
      await act();
      await sleep(pauseMs);
    }
  };
  const lanes = kinds.flatMap((kind) =>
    Array.from({ length: lanesOfKind }, () => lane(() => load.ask(kind))),
  );
  const lanesEnd = Promise.all([...lanes, ...(saves ? [lane(() => load.save())] : [])]);
  await until('reads are running', () => load.answered > 250);
  await act(load);
  isOver = true;
  await lanesEnd;
  await load.end(context);
}

test('rolling restart: restarting all processes fails no read behind nginx', async (context) => {
  await underLoad(context, async (load) => {
    for (let round = 0; round < rounds; round += 1) {
      for (const name of [...system.fronts, ...system.workers, 'jobs.1']) {
        load.step(`${name} is stopped`);
        await system.process(name).stop();
        load.step(`${name} has stopped`);
        await restart(name);
        load.step(`${name} runs`);
      }
    }
  });
});

test('rolling restart: a worker that stops while the only other one starts fails no read', async (context) => {
  await underLoad(context, async (load) => {
    const [first = '', second = ''] = system.workers;
    await system.process(first).stop();
    load.step(`${first} has stopped`);
    await system.restart(first);
    load.step(`${second} is stopped`);
    await system.process(second).stop();
    load.step(`${second} has stopped`);
    await restart(second);
  });
});

test('rolling restart: a killed front fails no read behind nginx', async (context) => {
  await underLoad(context, async (load) => {
    for (const name of system.fronts) {
      load.step(`${name} is killed`);
      await system.kill(name);
      await restart(name);
      const { answered } = load;
      await until('reads continue', () => load.answered > answered + 100);
    }
  });
});

test('rolling restart: a front that hangs fails no read behind nginx, and soon gets none', async (context) => {
  const frozen = system.process('web.1');
  const freeze = async (load: Load) => {
    load.step('web.1 is frozen');
    await frozen.signal('SIGSTOP');
    const { answered } = load;
    // Each lane waits at most once, because nginx sends all requests to the other front after its timeout.
    await until('nginx stops sending requests to the front', () => load.answered > answered + 500);
    load.slow = 0;
    const later = load.answered;
    await until('reads continue', () => load.answered > later + 500);
    const { slow } = load;
    load.step(`${slow} slow reads of 500`);
    await frozen.signal('SIGCONT');
    assert.ok(slow <= lanesOfKind, `${slow} of 500 reads were slow`);
  };
  try {
    await underLoad(context, freeze, { saves: false });
  } finally {
    await frozen.signal('SIGCONT');
  }
});
