/**
 * Fronts are restarted one after the other, and killed, behind nginx as it is documented (docs/operations/nginx.conf), under
 * load. nginx asks another front when a connection breaks. That a front that stops breaks none is shown by
 * `test/http/uws/closing.test.ts`: here nginx would hide it.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Nginx } from '../../support/nginx.ts';
import { until } from '../../support/until.ts';
import { System } from '../support/processes/system.ts';
import { clientKey, siteFiles, sourceKey } from '../support/site.ts';

const lanes = 24;
/** Of a lane, between an answer and its next query: processes that start need the processors too. */
const pauseMs = 40;
const rounds = Number(process.env.MILLRACE_ROUNDS ?? 3);

const files = siteFiles({
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

before(async () => {
  system = await System.start({ web: 2, jobs: 0, files });
  const conf = await readFile(new URL('../../../docs/operations/nginx.conf', import.meta.url), 'utf8');
  const line = /^ *server 127\.0\.0\.1:4000([^;]*);.*$/m;
  assert.match(conf, line);
  const servers = system.fronts.map((name) => `server ${new URL(system.url(name)).host}$1;`).join('\n');
  nginx = await Nginx.start((address) =>
    conf.replace(line, servers).replace('listen 80', `listen ${address}`),
  );
  const thing = { originId: 't1', type: 'thing', properties: { rank: 1 } };
  const { status } = await system.client().post('/ingest/v2', [thing], { key: sourceKey });
  assert.equal(status, 200);
});
after(async () => {
  await nginx.stop();
  await system.stop();
});

/** What was asked and what became of it, in the order of time. */
class Load {
  asked = 0;
  answered = 0;
  readonly failures: string[] = [];
  readonly #startMs = performance.now();
  readonly #steps: string[] = [];

  /** No two queries are the same, so none is answered by a front's cache. */
  async ask(): Promise<void> {
    this.asked += 1;
    const filters = { and: [{ field: 'rank', operator: 'notEquals', value: this.asked + 10 }] };
    const askedMs = performance.now();
    const response = await fetch(`${nginx.url}/v1/things`, {
      method: 'POST',
      headers: { 'X-Api-Key': clientKey, 'Content-Type': 'application/json' },
      body: JSON.stringify({ filters }),
    });
    const text = await response.text();
    this.answered += 1;
    if (response.status === 200) return;
    this.failures.push(`${response.status} ${text.slice(0, 100)}`);
    this.step(`${response.status} after ${Math.round(performance.now() - askedMs)} ms`);
  }

  step(what: string): void {
    this.#steps.push(`${Math.round(performance.now() - this.#startMs)} ms: ${what}`);
  }

  /** Fails when a query did; the steps and what nginx met tell why. Nobody waits for a connection that is refused. */
  async end(context: TestContext): Promise<void> {
    const perSecond = Math.round(this.answered / ((performance.now() - this.#startMs) / 1000));
    context.diagnostic(`${this.asked} queries, ${perSecond}/s, ${this.failures.length} failed`);
    if (this.failures.length === 0) return;
    const met = (await nginx.errors()).filter((line) => !line.includes('Connection refused'));
    for (const line of [...this.#steps, ...met]) context.diagnostic(line);
    assert.deepEqual([...new Set(this.failures)], [], `${this.failures.length} of ${this.asked}`);
  }
}

async function restart(name: string): Promise<void> {
  await system.restart(name);
  await until(`${name} runs`, async () => {
    const answer = await fetch(`${system.url(name)}/health/ready`).catch(() => null);
    return answer?.status === 200;
  });
}

/** @param act what happens while queries come from all lanes */
async function underLoad(context: TestContext, act: (load: Load) => Promise<void>): Promise<void> {
  const load = new Load();
  let isOver = false;
  const lane = async () => {
    while (!isOver) {
      await load.ask();
      await sleep(pauseMs);
    }
  };
  const lanesEnd = Promise.all(Array.from({ length: lanes }, lane));
  await until('queries are under way', () => load.answered > 500);
  await act(load);
  isOver = true;
  await lanesEnd;
  await load.end(context);
}

test('a restart of all fronts fails no query behind nginx', async (context) => {
  await underLoad(context, async (load) => {
    for (let round = 0; round < rounds; round += 1) {
      for (const name of system.fronts) {
        load.step(`${name} is told to stop`);
        await system.process(name).stop();
        load.step(`${name} has stopped`);
        await restart(name);
        load.step(`${name} runs`);
      }
    }
  });
});

test('a front that is killed fails no query behind nginx', async (context) => {
  await underLoad(context, async (load) => {
    for (const name of system.fronts) {
      load.step(`${name} is killed`);
      await system.kill(name);
      await restart(name);
      const { answered } = load;
      await until('queries go on', () => load.answered > answered + 100);
    }
  });
});
