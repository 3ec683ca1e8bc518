/** `npm run bench -- own-write`: how soon writers see their own changes, and where the time goes. */
import type { BenchContext, Target } from './support/bench.ts';
import { citiesTenant } from './support/data/cities-tenant.ts';
import { cityEntities, type Entity } from './support/data/sets.ts';
import { Client } from './support/load/client.ts';
import { type Rename, type Way, Writer, ways } from './support/load/renames.ts';
import { System } from './support/platform/system.ts';
import { quantile } from './support/report/statistics.ts';
import { figure } from './support/report/table.ts';
import { inRounds } from './support/rounds.ts';
import { runBench } from './support/run.ts';

const renames = 300;
const [p50Max, p99Max] = [8, 30];
type Measured = Readonly<Record<Way, readonly Rename[]>>;

const syncs = ['always', 'everysec'] as const;
type Sync = (typeof syncs)[number];

await runBench({
  name: 'own-write',
  question:
    'How soon do writers see their own changes? A country is renamed, and a page of one of its cities is read until it shows the new name, one rename after the other on an idle platform; with every command synced to the disk, and with one sync a second.',
  caveats: [
    'Millrace is compared with itself. The front, one worker, Redis and the measuring process share the two cores.',
    'Each time includes at least two HTTP requests.',
    'With `everysec` a power cut loses up to a second of acknowledged writes. Its rows show the share of the disk.',
  ],
  async run(context) {
    const all = await cityEntities(context.quick ? 1_000 : 20_000);
    const results = await inRounds(
      context,
      syncs.map((sync) => ({ name: sync, measure: () => measured(context, all, sync) })),
    );
    const of = (sync: Sync, way: Way) => (results.get(sync) ?? []).flatMap((round) => round[way]);
    return {
      tables: [
        {
          title: 'A renamed country on the page of a city, ms from the save',
          columns: ['', 'saved: p50', 'seen: p50', 'p99', 'most', 'reads'],
          rows: syncs.flatMap((sync) =>
            Object.entries(ways).map(([way, text]) =>
              rowOf(`APPEND_FSYNC=${sync}: ${text}`, of(sync, way as Way)),
            ),
          ),
        },
      ],
      charts: [],
      targets: targetsOf(of('always', 'wait')),
    };
  },
});

function rowOf(text: string, of: readonly Rename[]): string[] {
  const seen = of.map((rename) => rename.seen);
  return [
    text,
    figure(
      quantile(
        of.map(({ saved }) => saved),
        0.5,
      ),
    ),
    figure(quantile(seen, 0.5)),
    figure(quantile(seen, 0.99)),
    figure(Math.max(...seen)),
    figure(of.reduce((sum, { reads }) => sum + reads, 0) / of.length),
  ];
}

function targetsOf(of: readonly Rename[]): Target[] {
  const seen = of.map((rename) => rename.seen);
  const target = (name: string, share: number, most: number): Target => {
    const ms = quantile(seen, share);
    return {
      text: `seen after a save that waits, ${name}, ms (≤ ${most})`,
      figure: figure(ms),
      isReached: ms <= most,
    };
  };
  return [target('p50', 0.5, p50Max), target('p99', 0.99, p99Max)];
}

async function measured(context: BenchContext, all: readonly Entity[], sync: Sync): Promise<Measured> {
  const system = await System.start(context, { tenants: [citiesTenant], env: { APPEND_FSYNC: sync } });
  const client = new Client(context, system.baseUrl, citiesTenant);
  await client.importEntities(all);
  await client.settle(all.slice(-1_000));
  const writer = new Writer(system.baseUrl, all);
  const count = context.quick ? 5 : renames;
  // Code that runs for the first time is not compiled yet.
  for (const way of ['poll', 'wait', 'version'] as const) await writer.renameOften(way, count / 5);
  const rounds = {
    wait: await writer.renameOften('wait', count),
    version: await writer.renameOften('version', count),
    poll: await writer.renameOften('poll', count),
  };
  writer.close();
  await system.stop();
  context.say(
    `${sync}: ${Object.entries(rounds)
      .map(([way, of]) => rowOf(way, of).join(' '))
      .join('; ')}`,
  );
  return rounds;
}
