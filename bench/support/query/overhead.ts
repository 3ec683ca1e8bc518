/** Processor time of queries: of the processes involved, and of the search alone. */
import type { LoadResult } from '../load/wrk.ts';
import { type PlatformPart, perPart, platformParts, type UsageProbe } from '../platform/usage.ts';
import { type Spread, spreadOf } from '../report/statistics.ts';
import { figure, spreadFigure, type Table } from '../report/table.ts';

/** A load with the processor time per query, in microseconds. */
export interface CostedLoad extends LoadResult {
  readonly us: Readonly<Record<PlatformPart, number>>;
}

/** For a load in this process, whose processor time is all for the search, counted as that of the worker. */
export function measureInProcess(seconds: number, act: () => LoadResult): CostedLoad {
  const before = process.cpuUsage();
  const load = act();
  const { user, system } = process.cpuUsage(before);
  const worker = (user + system) / (load.requestsPerSecond * seconds);
  return { ...load, us: { ...perPart(() => 0), worker } };
}

export async function measureProcesses(
  probe: UsageProbe,
  seconds: number,
  act: () => Promise<LoadResult>,
): Promise<CostedLoad> {
  const before = (await probe.read()).processorUs;
  const load = await act();
  const after = (await probe.read()).processorUs;
  const queries = load.requestsPerSecond * seconds;
  return { ...load, us: perPart((part) => (after[part] - before[part]) / queries) };
}

/**
 * The overhead of front and worker per query besides its search.
 * @param direct the same searches in process, one after the other
 */
export function overheadOf(loads: readonly CostedLoad[], direct: readonly CostedLoad[]): Spread {
  return spreadOf(
    loads.map(({ us }, round) => us.front + us.worker - (direct[round]?.us.worker ?? Number.NaN)),
  );
}

/** A row of `overheadTable`. */
export interface OverheadRow {
  readonly name: string;
  readonly loads: readonly CostedLoad[];
  /** The same searches in process; null: the load searches nothing. */
  readonly direct: readonly CostedLoad[] | null;
}

export function overheadTable(rows: readonly OverheadRow[]): Table {
  return {
    title: 'Processor time for each query, in microseconds (medians)',
    columns: ['', ...platformParts, 'the search in process', 'front and worker without it'],
    rows: rows.map(({ name, loads, direct }) => [
      name,
      ...platformParts.map((part) => figure(spreadOf(loads.map(({ us }) => us[part])).median)),
      direct === null ? '–' : figure(spreadOf(direct.map(({ us }) => us.worker)).median),
      direct === null ? '–' : spreadFigure(overheadOf(loads, direct)),
    ]),
  };
}
