/** Who goes first on busy cores: what readers notice is measured with the defaults and with those that the settings offer. */
import type { BenchContext, BenchResult } from '../bench.ts';

export interface Priority {
  readonly name: string;
  /** Of the names of its files. */
  readonly suffix: string;
  readonly env: Readonly<Record<string, string>>;
}

const priorities: readonly Priority[] = [
  { name: 'settings as they come', suffix: '', env: {} },
  { name: 'WORKER_NICENESS=idle', suffix: '-idle', env: { WORKER_NICENESS: 'idle' } },
];

/** One after the other, each on a platform of its own; a smoke run has the first alone. @returns everything, in that order */
export async function withEachPriority(
  { quick }: Pick<BenchContext, 'quick'>,
  measure: (priority: Priority) => Promise<BenchResult>,
): Promise<BenchResult> {
  const results: BenchResult[] = [];
  for (const priority of quick ? priorities.slice(0, 1) : priorities) results.push(await measure(priority));
  return {
    tables: results.flatMap(({ tables }) => tables),
    charts: results.flatMap(({ charts }) => charts),
    targets: results.flatMap(({ targets }) => targets),
    notes: results.flatMap(({ notes = [] }) => notes),
  };
}
