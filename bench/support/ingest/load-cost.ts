/** What a load of entities took: its rate, and the processor time of all who took part in it. */
import { quantile } from '../report/statistics.ts';
import { figure, type Table } from '../report/table.ts';

const parts = ['front', 'worker', 'Redis', 'PostgreSQL', 'client'] as const;

/** Processor time in microseconds; a part that does not run has none. */
export type PartsUs = { readonly [part in (typeof parts)[number]]?: number };

export interface Loaded {
  readonly entitiesPerSecond: number;
  /** For each entity. */
  readonly us: PartsUs;
}

/** @param readUs the processor time of the parts so far, without this process, which is the client */
export async function loaded(
  count: number,
  readUs: () => Promise<PartsUs>,
  act: () => Promise<void>,
): Promise<Loaded> {
  const [before, client, startedMs] = [await readUs(), process.cpuUsage(), performance.now()];
  await act();
  const tookMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(client);
  const after = { ...(await readUs()), client: user + system };
  return {
    entitiesPerSecond: count / (tookMs / 1000),
    us: Object.fromEntries(
      parts.map((part) => [part, ((after[part] ?? Number.NaN) - (before[part] ?? 0)) / count]),
    ),
  };
}

/** @param loads what did it -> its loads, one a round */
export function costTable(loads: ReadonlyMap<string, readonly Loaded[]>): Table {
  return {
    title: 'Processor time for each entity, in microseconds (medians)',
    columns: ['', ...parts, 'together'],
    rows: [...loads].map(([name, rounds]) => [
      name,
      ...parts.map((part) => figure(medianOf(rounds, (us) => us[part] ?? Number.NaN))),
      figure(medianOf(rounds, sumOf)),
    ]),
  };
}

function medianOf(rounds: readonly Loaded[], usOf: (us: PartsUs) => number): number {
  return quantile(
    rounds.map(({ us }) => usOf(us)),
    0.5,
  );
}

function sumOf(us: PartsUs): number {
  return parts.reduce((sum, part) => sum + (us[part] || 0), 0);
}
