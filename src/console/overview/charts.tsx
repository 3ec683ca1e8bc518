import { useEffect, useState } from 'preact/hooks';
import type { Status } from '../api/answers.ts';
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

interface Point {
  readonly atMs: number;
  readonly value: number;
}

interface Line {
  readonly name: string;
  readonly points: readonly Point[];
}

const width = 480;
const height = 120;

interface ChartProps {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly spanMs: number;
  readonly nowMs: number;
  valueText(value: number): string;
}

function Chart({ title, lines, spanMs, nowMs, valueText }: ChartProps) {
  const highest = Math.max(0, ...lines.flatMap(({ points }) => points.map(({ value }) => value)));
  const top = roundUp(highest);
  const x = (atMs: number) => width * (1 - (nowMs - atMs) / spanMs);
  const y = (value: number) => height - (height * value) / top;
  const isEmpty = lines.every(({ points }) => points.length < 2);
  const pathOf = ({ points }: Line) =>
    points
      .map(({ atMs, value }, at) => `${at === 0 ? 'M' : 'L'}${x(atMs).toFixed(1)} ${y(value).toFixed(1)}`)
      .join('');
  return (
    <figure class="chart">
      <figcaption>
        <span class="chart-title">{title}</span>
        {lines.map((line, at) => (
          <span key={line.name} class={`legend line-${at}`}>
            {line.name} <strong>{valueText(line.points.at(-1)?.value ?? 0)}</strong>
          </span>
        ))}
      </figcaption>
      <div class="chart-plot">
        <span class="chart-top">{valueText(top)}</span>
        <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img">
          <title>{title}</title>
          <path class="grid" d={`M0 .5H${width}M0 ${height / 2}H${width}M0 ${height - 0.5}H${width}`} />
          {lines.map((line, at) => (
            <path
              key={line.name}
              class={`line line-${at}`}
              d={pathOf(line)}
              vector-effect="non-scaling-stroke"
            />
          ))}
        </svg>
        {isEmpty && <p class="chart-empty">Waiting for the first data points.</p>}
        <span class="chart-from">{Math.round(spanMs / 60_000)} min ago</span>
        <span class="chart-to">now</span>
      </div>
    </figure>
  );
}

/** The next 1, 2 or 5 times a power of ten, so that the axis does not change with every point. */
function roundUp(value: number): number {
  if (value <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((factor) => factor * power >= value) ?? 10) * power;
}
