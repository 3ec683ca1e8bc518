/** Measures a load of entities: its rate, and the CPU time of all participants. */
import { quantile } from '../report/statistics.ts';
import { figure, type Table } from '../report/table.ts';

const parts = ['front', 'worker', 'Redis', 'PostgreSQL', 'client'] as const;

/** CPU time in microseconds. A participant that does not run has none. */
export type PartsUs = { readonly [part in (typeof parts)[number]]?: number };

export interface LoadCost {
  readonly entitiesPerSecond: number;
  /** Per entity. */
  readonly us: PartsUs;
}

/** @param readUs reads the CPU time so far, except that of this process, which is the client */
export async function measureLoadCost(
  count: number,
  readUs: () => Promise<PartsUs>,
  act: () => Promise<void>,
): Promise<LoadCost> {
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

/** @param loads contender -> its loads, one per round */
export function costTable(loads: ReadonlyMap<string, readonly LoadCost[]>): Table {
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

function medianOf(rounds: readonly LoadCost[], usOf: (us: PartsUs) => number): number {
  return quantile(
    rounds.map(({ us }) => usOf(us)),
    0.5,
  );
}

function sumOf(us: PartsUs): number {
  return parts.reduce((sum, part) => sum + (us[part] || 0), 0);
}
