/** `npm run bench -- rebuild-delivery`: how fast `npm run apply` rebuilds every city, and its effect on readers. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchContext, Target } from './support/bench.ts';
import { citiesTenant, cityIndex } from './support/data/cities-tenant.ts';
import { cityEntities, type Entity } from './support/data/sets.ts';
import type { BenchTenant } from './support/data/tenant.ts';
import { allOf, DeliveryProbe, type Latencies, placeRequests } from './support/delivery/probe.ts';
import { Client } from './support/load/client.ts';
import { System } from './support/platform/system.ts';
import { quantile, ratiosOf, spreadOf } from './support/report/statistics.ts';
import { spreadFigure } from './support/report/table.ts';
import { inRounds, rotated } from './support/rounds.ts';
import { runBench } from './support/run.ts';

/** Cities per second, and the latencies of the reader. */
interface Measurement {
  readonly importRate: number;
  readonly aloneRate: number;
  readonly besideRate: number;
  readonly quiet: Latencies;
  readonly beside: Latencies;
}

const rounds = 3;
const citiesMax = 60_000;
const asked = 100;
/** Minimum rates of a rebuild as a share of the rate of an import: without readers, and with the reader. */
const shareMin = { alone: 0.5, beside: 0.25 };
/** Delivery latency stays within twice its quiet value. */
const slowerMax = 2;

/** The cities with another label in each generation; places are found by handles and stay as they are. */
function tenantOf(generation: number): BenchTenant {
  const { city, place, ...others } = citiesTenant.schemas;
  if (city === undefined || place === undefined) throw new Error('the tenant has no cities or no places');
  const label = `${generation}: {p.name}`;
  return {
    ...citiesTenant,
    schemas: {
      ...others,
      city: { ...city, properties: Object.assign({}, city.properties, { label }) },
      place: { ...place, route: { url: '{url}', handles: ['{originId}'] } },
    },
  };
}

await runBench({
  name: 'rebuild-delivery',
  question:
    'How fast is every city rebuilt after `npm run apply` of a changed schema, compared with the import of the same cities, and does it slow down a reader? The reader sends 200 requests a second for places, alternately for one in the cache and one that is computed for the request. Each round imports the cities into a fresh platform, then rebuilds them twice: without a reader, and with the reader.',
  caveats: [
    'Millrace is compared with itself. The command that applies, the jobs, the worker and Redis share the cores with the front and the reader. No process is pinned.',
    'The rate of a rebuild counts from the command until its end: its start, the messages between processes, and the last check of every record are included.',
  ],
  async run(context) {
    const entities = await cityEntities(context.quick ? 400 : citiesMax);
    const cities = entities.filter(({ type }) => type === 'city').length;
    const name = 'rebuild';
    const measured =
      (
        await inRounds(
          context,
          [{ name, measure: (round) => measure(context, entities, round) }],
          roundsOf(context),
        )
      ).get(name) ?? [];
    const rates = (of: (one: Measurement) => number) => measured.map(of);
    const rateRow = (text: string, of: (one: Measurement) => number) => [
      text,
      spreadFigure(spreadOf(rates(of))),
      spreadFigure(
        spreadOf(
          ratiosOf(
            rates(of),
            rates(({ importRate }) => importRate),
          ),
        ),
      ),
    ];
    const kinds = [...(measured[0]?.quiet.keys() ?? [])];
    const latency = (of: (one: Measurement) => Latencies, kind: string, share: number) =>
      measured.map((one) => quantile(of(one).get(kind) ?? [], share));
    const latencyRow = (text: string, of: (one: Measurement) => Latencies) => [
      text,
      ...kinds.flatMap((kind) =>
        [0.5, 0.99].map((share) => spreadFigure(spreadOf(latency(of, kind, share)))),
      ),
    ];
    return {
      tables: [
        {
          title: `${cities.toLocaleString('en-US')} cities`,
          columns: ['', 'cities/s (quartiles)', 'over the import'],
          rows: [
            rateRow('import', ({ importRate }) => importRate),
            rateRow('rebuild, nobody reads', ({ aloneRate }) => aloneRate),
            rateRow('rebuild beside the reader', ({ besideRate }) => besideRate),
          ],
        },
        {
          title: 'What the reader waits',
          columns: ['ms (quartiles)', ...kinds.flatMap((kind) => [`${kind}: p50`, 'p99'])],
          rows: [
            latencyRow('quiet', ({ quiet }) => quiet),
            latencyRow('beside the rebuild', ({ beside }) => beside),
          ],
        },
      ],
      charts: [],
      targets: [
        rateTarget('nobody reads', measured, ({ aloneRate }) => aloneRate, shareMin.alone),
        rateTarget('beside the reader', measured, ({ besideRate }) => besideRate, shareMin.beside),
        ...kinds.map((kind) => {
          const slower = spreadOf(
            ratiosOf(
              latency(({ beside }) => beside, kind, 0.99),
              latency(({ quiet }) => quiet, kind, 0.99),
            ),
          );
          return {
            text: `${kind}: p99 beside the rebuild over the quiet one (≤ ${slowerMax})`,
            figure: spreadFigure(slower),
            isReached: slower.median <= slowerMax,
          };
        }),
      ],
    };
  },
});

function roundsOf({ quick }: BenchContext): number {
  return quick ? 1 : rounds;
}

function rateTarget(
  text: string,
  measured: readonly Measurement[],
  of: (one: Measurement) => number,
  least: number,
): Target {
  const share = spreadOf(measured.map((one) => of(one) / one.importRate));
  return {
    text: `rate of the rebuild over the import, ${text} (≥ ${least})`,
    figure: spreadFigure(share),
    isReached: share.median >= least,
  };
}

async function measure(
  context: BenchContext,
  entities: readonly Entity[],
  round: number,
): Promise<Measurement> {
  const system = await System.start(context, { tenants: [tenantOf(0)] });
  const client = new Client(context, system.baseUrl, tenantOf(0));
  const places = entities.filter(({ type }) => type !== 'city');
  const cities = entities.filter(({ type }) => type === 'city');
  // The code of all processes is compiled by then.
  await client.importEntities(places);
  await client.settle(places);
  const importRate = await rateOf(cities, async () => {
    await client.importEntities(cities);
    await client.waitForItems(cityIndex, cities.length);
    await client.settle(cities);
  });
  const pages = places.filter(({ url }) => url !== null).slice(0, asked);
  const probe = new DeliveryProbe(system.baseUrl, placeRequests(citiesTenant, pages));
  await probe.during(sleep(context.quick ? 100 : 1_000));
  const quiet = await probe.during(sleep(context.quick ? 500 : 6_000));
  let generation = 0;
  const rebuild = () => {
    generation += 1;
    return system.apply([tenantOf(generation)]);
  };
  let [aloneRate, besideRate] = [0, 0];
  let beside: Latencies = new Map();
  const rebuilds = [
    async () => {
      aloneRate = await rateOf(cities, rebuild);
    },
    async () => {
      besideRate = await rateOf(cities, async () => {
        beside = await probe.during(rebuild());
      });
    },
  ];
  for (const act of rotated(rebuilds, round)) await act();
  probe.close();
  await requireRebuilt(client, cities, generation);
  await system.stop();
  const result = { importRate, aloneRate, besideRate, quiet: allOf(quiet), beside: allOf(beside) };
  context.say(
    `import ${importRate.toFixed(0)}/s, alone ${(aloneRate / importRate).toFixed(2)}, beside ${(besideRate / importRate).toFixed(2)}`,
  );
  return result;
}

async function requireRebuilt(client: Client, cities: readonly Entity[], generation: number): Promise<void> {
  const last = cities.findLast(({ url }) => url !== null);
  const page = await client.page(last?.url ?? '/');
  if (!String(page?.label).startsWith(`${generation}: `)) throw new Error(`a city is ${String(page?.label)}`);
}

async function rateOf(cities: readonly Entity[], act: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  await act();
  return cities.length / ((performance.now() - startedMs) / 1000);
}
