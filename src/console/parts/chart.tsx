/** A line chart of the last minutes. */

export interface Point {
  readonly atMs: number;
  readonly value: number;
}

export interface Line {
  readonly name: string;
  readonly points: readonly Point[];
}

const width = 480;
const height = 120;

export interface ChartProps {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly spanMs: number;
  readonly nowMs: number;
  valueText(value: number): string;
}

export function Chart({ title, lines, spanMs, nowMs, valueText }: ChartProps) {
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
