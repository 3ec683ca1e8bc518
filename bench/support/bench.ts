/** A benchmark, its context and its result. */
import type { BarChart } from './report/bar-chart.ts';
import type { LineChart } from './report/line-chart.ts';
import type { Table } from './report/table.ts';

export interface Bench {
  /** As in `npm run bench -- NAME`. */
  readonly name: string;
  readonly question: string;
  /** Remarks that a reader needs for a fair comparison. */
  readonly caveats: readonly string[];
  /** How long a run can take; absent: 8 minutes. */
  readonly minutesMax?: number;
  run(context: BenchContext): Promise<BenchResult>;
}

export interface BenchContext {
  /** A smoke run. It does everything once, with little data, and its figures mean nothing. */
  readonly quick: boolean;
  readonly rounds: number;
  /** A folder that is removed after the run. */
  readonly folder: string;
  /** Aborted when the run is stopped. */
  readonly signal: AbortSignal;
  say(text: string): void;
  timeLeftMs(): number;
  /** Registers a function for the end of the run. The last one is called first. */
  onEnd(cleanUp: () => Promise<void> | void): void;
}

export interface Target {
  readonly text: string;
  readonly figure: string;
  readonly isReached: boolean;
}

export interface BenchResult {
  readonly tables: readonly Table[];
  readonly charts: readonly ({ readonly file: string } & (
    | ({ readonly kind: 'bars' } & BarChart)
    | ({ readonly kind: 'lines' } & LineChart)
  ))[];
  readonly targets: readonly Target[];
  readonly notes?: readonly string[];
}
