import { useEffect, useState } from 'preact/hooks';
import type { Status } from '../api/answers.ts';
import { Chart, type Line } from '../parts/chart.tsx';
import { millisecondsText, numberText } from '../parts/numbers.ts';
import { keepHistory, keptHistory, type Sample, spanMs, withSample } from './history.ts';

/** Rates of the last minutes, and the lag since this tab watches. */
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
        title="Requests a second"
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
