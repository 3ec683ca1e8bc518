/** `npm run bench -- dry-run`: how long `npm run apply -- --dry-run` takes, and its effect on readers. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext, BenchResult } from './support/bench.ts';
import { citiesTenant } from './support/data/cities-tenant.ts';
import { cityEntities } from './support/data/sets.ts';
import type { BenchTenant } from './support/data/tenant.ts';
import { DeliveryProbe, type Latencies, placeRequests } from './support/delivery/probe.ts';
import { Client } from './support/load/client.ts';
import { System } from './support/platform/system.ts';
import { quantile } from './support/report/statistics.ts';
import { figure } from './support/report/table.ts';
import { runBench } from './support/run.ts';

const asked = 100;
/** A rebuild of the same length, or shorter, is enough for a comparison. */
const rebuildMsMax = 40_000;

/** The cities, with places that are found by handles. @param label of each city */
function tenantWith(label: string): BenchTenant {
  const { city, place, ...others } = citiesTenant.schemas;
  if (city === undefined || place === undefined) throw new Error('the tenant has no cities or no places');
  return {
    ...citiesTenant,
    schemas: {
      ...others,
      city: { ...city, properties: Object.assign({}, city.properties, { label }) },
      place: { ...place, route: { url: '{url}', handles: ['{originId}'] } },
    },
  };
}

const before = tenantWith('{p.name}');
const after = tenantWith('{p.name} ({p.country})');

await runBench({
  name: 'dry-run',
  question:
    'How long does it take to predict what a changed schema would change in every city, and does it slow down readers? One reader requests places in the cache and places that are computed for each request: alone, during the dry run, and during the rebuild of the same change.',
  caveats: [
    'Millrace is compared with itself, in one round. The command, the jobs, the worker and Redis share the cores with the front and the reader.',
    'The reader sends 200 requests a second. So it measures the latency of a response, and not the throughput.',
    `The rebuild is measured for at most ${rebuildMsMax / 1000} s.`,
  ],
  run: measured,
});

async function measured(context: BenchContext): Promise<BenchResult> {
  const system = await System.start(context, { tenants: [before] });
  const client = new Client(context, system.baseUrl, before);
  const entities = await cityEntities(context.quick ? 1_000 : undefined);
  await client.importEntities(entities);
  await client.settle(entities);
  const places = entities.filter(({ type, url }) => type !== 'city' && url !== null).slice(0, asked);
  const probe = new DeliveryProbe(system.baseUrl, placeRequests(citiesTenant, places));
  await probe.during(sleep(context.quick ? 100 : 2_000));
  const timed = async (act: () => Promise<unknown>): Promise<{ seconds: number; latencies: Latencies }> => {
    const startedMs = performance.now();
    const latencies = await probe.during(act());
    return { seconds: (performance.now() - startedMs) / 1000, latencies };
  };
  const quiet = await timed(() => sleep(context.quick ? 500 : 6_000));
  const startedMs = performance.now();
  await system.apply([after], ['--dry-run']);
  const aloneSeconds = (performance.now() - startedMs) / 1000;
  context.say(`the dry run alone took ${aloneSeconds.toFixed(1)} s`);
  const dry = await timed(() => system.apply([after], ['--dry-run']));
  context.say(`the dry run took ${dry.seconds.toFixed(1)} s`);
  const rebuild = await timed(async () => {
    await system.apply([after], ['--no-wait']);
    await sleep(Math.min(rebuildMsMax, dry.seconds * 1000));
  });
  probe.close();
  await system.stop();
  const kinds = [...quiet.latencies.keys()];
  const cells = ({ latencies }: { readonly latencies: Latencies }) =>
    kinds.flatMap((kind) => [0.5, 0.99].map((share) => figure(quantile(latencies.get(kind) ?? [], share))));
  return {
    tables: [
      {
        title: `${entities.length.toLocaleString('en-US')} entities, of which each city would get another view`,
        columns: ['ms', ...kinds.flatMap((kind) => [`${kind}: p50`, 'p99'])],
        rows: [
          ['quiet', ...cells(quiet)],
          ['during the dry run', ...cells(dry)],
          ['during the rebuild', ...cells(rebuild)],
        ],
      },
    ],
    charts: [],
    targets: [],
    notes: [
      `From the command until its answer, the dry run took ${figure(aloneSeconds)} s with nobody reading and ${figure(dry.seconds)} s beside the reader.`,
    ],
  };
}
