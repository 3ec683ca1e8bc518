/**
 * Priorities on busy cores. Benchmarks about readers are run with the default priority and with those that the settings
 * offer.
 */
import type { BenchContext, BenchResult } from '../bench.ts';

export interface Priority {
  readonly name: string;
  /** Ending of the names of its files. */
  readonly suffix: string;
  readonly env: Readonly<Record<string, string>>;
}

const priorities: readonly Priority[] = [
  { name: 'settings as they come', suffix: '', env: {} },
  { name: 'WORKER_NICENESS=idle', suffix: '-idle', env: { WORKER_NICENESS: 'idle' } },
];

/**
 * Runs a benchmark with one priority after the other, each on a platform of its own. A smoke run has only the first.
 * @returns all results, in this order
 */
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
