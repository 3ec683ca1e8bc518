/** `npm run bench -- search-rounds`: the cost of the second round of a ranked search with two workers. */
import { unscoredItemsMax } from '../src/contract/limits.ts';
import type { BenchContext, Target } from './support/bench.ts';
import { cityItems, type ItemSet, itemEntity, itemIndex, itemsTenant } from './support/data/items.ts';
import { clientKeyOf } from './support/data/tenant.ts';
import { Client } from './support/load/client.ts';
import { RawConnection } from './support/load/raw-connection.ts';
import { System } from './support/platform/system.ts';
import type { BenchQuery } from './support/query/kinds.ts';
import { queryMix, skippedIn } from './support/query/mix.ts';
import { quantile, spreadOf } from './support/report/statistics.ts';
import { figure, spreadFigure } from './support/report/table.ts';
import { inRounds } from './support/rounds.ts';
import { runBench } from './support/run.ts';

const kinds = ['one word', 'two words, typos', 'search + facet'] as const;
type Kind = (typeof kinds)[number];
const searchesPerRound = 400;
const pageSize = 10;
/** From this number on, one of the two workers has too many results to send them unscored, so there is a second round. */
const manyMin = 2 * unscoredItemsMax + 1;
const addedMsMax = 0.25;

/** One search: the times of its first page and the next one, in ms. */
interface Times {
  readonly found: number;
  readonly first: number;
  readonly next: number;
}

const isFew = ({ found }: Times) => found <= unscoredItemsMax;
const isMany = ({ found }: Times) => found >= manyMin;

await runBench({
  name: 'search-rounds',
  question:
    'What does the second round of a ranked search cost? Two workers hold the index; each search is sent once, for its first page and for the next one. The token of the next page contains the statistics, so it needs one round. One connection, different searches over the names of cities.',
  caveats: [
    'Front, two workers and Redis share the two cores with the measuring process.',
    'The next page also reads its token, and compares with the end of the last page: so it does a little more than the second round alone.',
    `Only searches that find more than ${pageSize} items have a next page.`,
  ],
  async run(context) {
    const set = await cityItems(context.quick ? 3_000 : Number.POSITIVE_INFINITY);
    const mix = queryMix(set.items, context, kinds);
    const connection = await startTwoWorkers(context, set);
    const results = await inRounds(
      context,
      kinds.map((kind) => ({
        name: kind,
        measure: async (round: number) => {
          const queries = mix.differing.get(kind) ?? [];
          const from = skippedIn(round, queries.length);
          return await timesOf(connection, queries.slice(from), context.quick ? 20 : searchesPerRound);
        },
      })),
    );
    connection.close();
    const roundsOf = (kind: Kind) => results.get(kind) ?? [];
    return {
      tables: [
        {
          title: `First pages and next pages with two workers (${set.items.length.toLocaleString('en-US')} items), p50 in ms`,
          columns: ['', 'searches', 'first page', 'next page', 'first less next, by round'],
          rows: kinds.flatMap((kind) => [
            rowOf(`${kind}, at most ${unscoredItemsMax} items`, roundsOf(kind), isFew),
            rowOf(`${kind}, at least ${manyMin} items: two rounds`, roundsOf(kind), isMany),
            rowOf(`${kind}, all`, roundsOf(kind), () => true),
          ]),
        },
      ],
      charts: [],
      targets: kinds.flatMap((kind) => targetsOf(kind, roundsOf(kind))),
    };
  },
});

async function startTwoWorkers(context: BenchContext, { items }: ItemSet): Promise<RawConnection> {
  const system = await System.start(context, { tenants: [itemsTenant], workers: 2 });
  const client = new Client(context, system.baseUrl, itemsTenant);
  await client.importEntities(items.map(itemEntity));
  await client.waitForItems(itemIndex, items.length);
  return new RawConnection(new URL(`${system.baseUrl}/v1/${itemIndex}`), {
    'X-Api-Key': clientKeyOf(itemsTenant),
    'Content-Type': 'application/json',
  });
}

async function timesOf(
  connection: RawConnection,
  queries: readonly BenchQuery[],
  count: number,
): Promise<Times[]> {
  const times: Times[] = [];
  for (const query of queries) {
    if (times.length === count) break;
    const first = await ask(connection, { ...query, pagination: { pageSize } });
    if (first.nextPageToken === null) continue;
    const next = await ask(connection, {
      ...query,
      pagination: { pageSize, nextPageToken: first.nextPageToken },
    });
    times.push({ found: first.totalResults, first: first.ms, next: next.ms });
  }
  return times;
}

async function ask(connection: RawConnection, query: object) {
  const request = connection.postOf(JSON.stringify(query));
  const startedMs = performance.now();
  const { status, body } = await connection.send(request);
  const ms = performance.now() - startedMs;
  if (status !== 200) throw new Error(`the search answered ${status}: ${body}`);
  const { totalResults, nextPageToken }: { totalResults: number; nextPageToken: string | null } =
    JSON.parse(body);
  return { ms, totalResults, nextPageToken };
}

/** The rounds that have such searches, each with only these. */
function chosenOf(rounds: readonly (readonly Times[])[], isOf: (times: Times) => boolean): Times[][] {
  return rounds.map((round) => round.filter(isOf)).filter((round) => round.length > 0);
}

function addedOf(times: readonly Times[]): number {
  return p50(times.map(({ first }) => first)) - p50(times.map(({ next }) => next));
}

function p50(values: readonly number[]): number {
  return quantile(values, 0.5);
}

function rowOf(
  text: string,
  rounds: readonly (readonly Times[])[],
  isOf: (times: Times) => boolean,
): string[] {
  const chosen = chosenOf(rounds, isOf);
  const all = chosen.flat();
  if (all.length === 0) return [text, '0', '–', '–', '–'];
  return [
    text,
    String(all.length),
    figure(p50(all.map(({ first }) => first))),
    figure(p50(all.map(({ next }) => next))),
    spreadFigure(spreadOf(chosen.map(addedOf))),
  ];
}

function targetsOf(kind: Kind, rounds: readonly (readonly Times[])[]): Target[] {
  const target = (what: string, isOf: (times: Times) => boolean): Target[] => {
    const added = chosenOf(rounds, isOf).map(addedOf);
    if (added.length === 0) return [];
    const spread = spreadOf(added);
    return [
      {
        text: `${kind}, ${what}: ms that the first page adds (≤ ${addedMsMax})`,
        figure: spreadFigure(spread),
        isReached: spread.median <= addedMsMax,
      },
    ];
  };
  return [...target('all searches', () => true), ...target(`at least ${manyMin} items`, isMany)];
}
