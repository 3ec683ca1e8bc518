/**
 * Fronts are restarted one after the other behind nginx as it is documented (docs/operations/nginx.conf), under load. nginx
 * tries a request at another front only when nothing of it was sent, or when it is one that may be repeated. Queries are POST
 * requests, which it never repeats: so a front that stops must not break a connection on which a request may be under way.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { Nginx } from '../support/nginx.ts';
import { until } from '../support/until.ts';
import { System } from './support/processes/system.ts';
import { clientKey, siteFiles, sourceKey } from './support/site.ts';

const lanes = 24;
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
  const conf = await readFile(new URL('../../docs/operations/nginx.conf', import.meta.url), 'utf8');
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

test('a restart of all fronts fails no query behind nginx', async (context) => {
  const failures: string[] = [];
  let [asked, isOver] = [0, false];
  const lane = async () => {
    while (!isOver) {
      asked += 1;
      // No two queries are the same, so none is answered by a front's cache.
      const filters = { and: [{ field: 'rank', operator: 'notEquals', value: asked + 10 }] };
      const response = await fetch(`${nginx.url}/v1/things`, {
        method: 'POST',
        headers: { 'X-Api-Key': clientKey, 'Content-Type': 'application/json' },
        body: JSON.stringify({ filters }),
      });
      const text = await response.text();
      if (response.status !== 200) failures.push(`${response.status} ${text.slice(0, 100)}`);
    }
  };
  const load = Promise.all(Array.from({ length: lanes }, lane));
  const startMs = performance.now();
  await until('queries are under way', () => asked > 500);
  for (let round = 0; round < rounds; round += 1) {
    for (const name of system.fronts) {
      await system.process(name).stop();
      await system.restart(name);
      await until(`${name} runs`, async () => {
        const answer = await fetch(`${system.url(name)}/health/ready`).catch(() => null);
        return answer?.status === 200;
      });
    }
  }
  isOver = true;
  await load;
  const perSecond = Math.round(asked / ((performance.now() - startMs) / 1000));
  context.diagnostic(`${asked} queries, ${perSecond}/s, ${failures.length} failed`);
  assert.deepEqual([...new Set(failures)], [], `${failures.length} of ${asked}`);
});
