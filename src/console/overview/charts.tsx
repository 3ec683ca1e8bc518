import { useEffect, useState } from 'preact/hooks';
import type { Status } from '../api/answers.ts';
import { Chart, type Line } from '../parts/chart.tsx';
import { millisecondsText, numberText } from '../parts/format.tsx';

/** The rates of the last minutes, and the lag since this tab was opened. */
export function Charts({ status }: { readonly status: Status }) {
  const [samples, setSamples] = useState<readonly Sample[]>(keptHistory);
  useEffect(() => {
    setSamples((former) => {
      const next = withSample(former, status, Date.now());
      keepHistory(next);
      return next;
    });
  }, [status]);
  const nowMs = samples.at(-1)?.atMs ?? Date.now();
  const line = (name: string, lookAt: (sample: Sample) => number | null): Line => ({
    name,
    points: samples.flatMap((sample) => {
      const value = lookAt(sample);
      return value === null ? [] : [{ atMs: sample.atMs, value }];
    }),
  });
  const common = { spanMs, nowMs };
  return (
    <div class="charts">
      <Chart
        {...common}
        title="Requests per second"
        valueText={numberText}
        lines={[
          line('Delivery', ({ delivery }) => delivery),
          line('Ingest', ({ ingest }) => ingest),
          line('Queries', ({ query }) => query),
        ]}
      />
      <Chart
        {...common}
        title="Lag"
        valueText={millisecondsText}
        lines={[line('Oldest change', ({ lagMs }) => lagMs)]}
      />
    </div>
  );
}

/**
 * The charts show samples of the status, which are stored in the tab so that they survive a reload. The first samples come from
 * the front's history.
 */
const spanMs = 300_000;
const historyName = 'millrace-history';

interface Sample {
  readonly atMs: number;
  readonly delivery: number;
  readonly ingest: number;
  readonly query: number;
  /** Null for samples of the front's history, which only has rates. */
  readonly lagMs: number | null;
}

function withSample(samples: readonly Sample[], status: Status, nowMs: number): Sample[] {
  const rate = (kind: 'delivery' | 'ingest' | 'query') =>
    status.processes.reduce((sum, { rates }) => sum + (rates?.[kind] ?? 0), 0);
  const sample: Sample = {
    atMs: nowMs,
    delivery: rate('delivery'),
    ingest: rate('ingest'),
    query: rate('query'),
    lagMs: Math.max(0, ...status.partitions.map((partition) => partition.lagMs)),
  };
  const known = samples.filter(({ atMs }) => nowMs - atMs < spanMs);
  return [...remembered(status, known[0]?.atMs ?? nowMs, nowMs), ...known, sample];
}

/** The front's history before a time. */
function remembered({ recent }: Status, beforeMs: number, nowMs: number): Sample[] {
  const { everyMs, rates } = recent;
  return rates
    .map((one, at) => ({ ...one, atMs: nowMs - (rates.length - at) * everyMs, lagMs: null }))
    .filter(({ atMs }) => atMs < beforeMs && nowMs - atMs < spanMs);
}

function keptHistory(): Sample[] {
  try {
    return JSON.parse(sessionStorage.getItem(historyName) ?? '[]') as Sample[];
  } catch {
    return [];
  }
}

function keepHistory(samples: readonly Sample[]): void {
  sessionStorage.setItem(historyName, JSON.stringify(samples));
}
