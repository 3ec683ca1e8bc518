/** `npm run bench -- rebuild-delivery`: what readers notice while `npm run apply` rebuilds every page. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext, BenchResult } from './support/bench.ts';
import type { Entity } from './support/data/sets.ts';
import { type BenchTenant, clientKeyOf, sourceGroup } from './support/data/tenant.ts';
import { DeliveryProbe, type Latencies } from './support/delivery/probe.ts';
import { Client, deliveryPath } from './support/load/client.ts';
import type { HttpRequest } from './support/load/wrk.ts';
import { type Priority, withEachPriority } from './support/platform/priorities.ts';
import { System } from './support/platform/system.ts';
import { quantile, ratiosOf, spreadOf } from './support/report/statistics.ts';
import { spreadFigure } from './support/report/table.ts';
import { inRounds } from './support/rounds.ts';
import { runBench } from './support/run.ts';

interface Measurement {
  readonly seconds: number;
  readonly latencies: Latencies;
}

const names = { quiet: 'quiet', rebuilding: 'while it is rebuilt' };
const kinds = { warm: 'from the cache', cold: 'computed' };
const asked = 100;
/** Delivery latency stays within twice its quiet value. */
const slowerMax = 2;

/** A tenant in which pages are rebuilt and signs stay as they are. */
function tenantWith(round: number): BenchTenant {
  const properties = { title: '{p.title}', url: '{url}', text: '{p.text}' };
  return {
    alias: 'shop',
    schemas: {
      page: {
        triggers: { [sourceGroup]: ['page'] },
        route: { url: '{url}' },
        properties: { ...properties, round: String(round) },
      },
      sign: {
        triggers: { [sourceGroup]: ['sign'] },
        route: { url: '{url}', handles: ['{originId}'] },
        properties,
      },
    },
  };
}

function entityOf(type: 'page' | 'sign', number: number): Entity {
  return {
    originId: `${type}-${number}`,
    type,
    url: `/${type}s/${number}`,
    originParentId: null,
    redirects: [],
    properties: { title: `${type} ${number}`, text: 'What somebody came to read. '.repeat(40) },
  };
}

await runBench({
  name: 'rebuild-delivery',
  question:
    'Do readers notice that a changed configuration is rebuilt? One reader asks for pages that are in the cache and for views that are computed for each request, alone and while `npm run apply` rebuilds 10,000 pages.',
  unfair: [
    'Millrace is compared with itself. The command that applies, the jobs, the worker and Redis share the two cores with the front and the reader. No process is pinned.',
    'The reader waits 4 ms between two requests. So it measures how long an answer takes, and not how many there can be.',
  ],
  async run(context) {
    const pageCount = context.quick ? 500 : 10_000;
    return await withEachPriority(context, (priority) => measured(context, pageCount, priority));
  },
});

async function measured(
  context: BenchContext,
  pageCount: number,
  { name: priority, env }: Priority,
): Promise<BenchResult> {
  let round = 0;
  const system = await System.start(context, { tenants: [tenantWith(round)], env });
  const client = new Client(context, system.baseUrl, tenantWith(round));
  const entities = [
    ...Array.from({ length: asked }, (_, number) => entityOf('sign', number)),
    ...Array.from({ length: pageCount }, (_, number) => entityOf('page', number)),
  ];
  await client.importEntities(entities);
  await client.settle(entities);
  const probe = new DeliveryProbe(system.baseUrl, requests());
  const quietMs = context.quick ? 500 : 6_000;
  const measure = async (meanwhile: () => Promise<unknown>): Promise<Measurement> => {
    const startedMs = performance.now();
    const latencies = await probe.during(meanwhile());
    return { seconds: (performance.now() - startedMs) / 1000, latencies };
  };
  await measure(() => sleep(context.quick ? 100 : 1_000));
  const results = await inRounds<Measurement>(context, [
    { name: names.quiet, measure: () => measure(() => sleep(quietMs)) },
    {
      name: names.rebuilding,
      measure: () => {
        round += 1;
        return measure(() => system.apply([tenantWith(round)]));
      },
    },
  ]);
  probe.close();
  const last = await client.page('/pages/1');
  if (last?.round !== String(round)) throw new Error(`a page is of round ${String(last?.round)}`);
  await system.stop();
  const valuesOf = (name: string, kind: string, share: number) =>
    (results.get(name) ?? []).map(({ latencies }) => quantile(latencies.get(kind) ?? [], share));
  const cells = (name: string) =>
    [kinds.warm, kinds.cold].flatMap((kind) =>
      [0.5, 0.99].map((share) => spreadFigure(spreadOf(valuesOf(name, kind, share)))),
    );
  const rebuilt = (results.get(names.rebuilding) ?? []).map(({ seconds }) => seconds);
  return {
    tables: [
      {
        title: `${pageCount.toLocaleString('en-US')} pages are rebuilt, ${priority}`,
        columns: ['ms (quartiles)', ...[kinds.warm, kinds.cold].flatMap((kind) => [`${kind}: p50`, 'p99'])],
        rows: [names.quiet, names.rebuilding].map((name) => [name, ...cells(name)]),
      },
    ],
    charts: [],
    targets: [kinds.warm, kinds.cold].flatMap((kind) =>
      [0.5, 0.99].map((share) => {
        const slower = spreadOf(
          ratiosOf(valuesOf(names.rebuilding, kind, share), valuesOf(names.quiet, kind, share)),
        );
        return {
          text: `${priority}, ${kind}: p${share * 100} over that of the quiet one (≤ ${slowerMax})`,
          figure: spreadFigure(slower),
          isReached: slower.median <= slowerMax,
        };
      }),
    ),
    notes: [
      `${priority}: from the command until everything is rebuilt: ${spreadFigure(spreadOf(rebuilt))} s.`,
    ],
  };
}

/** Requests for signs: by URL, from the cache; and by POST, which no cache answers. */
function requests(): Map<string, HttpRequest[]> {
  const headers = { 'X-Api-Key': clientKeyOf({ alias: 'shop' }) };
  const numbers = Array.from({ length: asked }, (_, number) => number);
  return new Map<string, HttpRequest[]>([
    [
      kinds.warm,
      numbers.map((number) => ({ method: 'GET', path: deliveryPath(`/signs/${number}`), headers })),
    ],
    [
      kinds.cold,
      numbers.map((number) => ({
        method: 'POST',
        path: '/v2',
        headers,
        body: JSON.stringify({ handles: [`sign-${number}`] }),
      })),
    ],
  ]);
}
