/** A line chart with logarithmic axes, as SVG. A power law is a straight line. */
import { escapeXml, svgDocument, textAt } from './svg.ts';
import { figure } from './table.ts';

export interface Line {
  readonly label: string;
  readonly points: readonly { readonly x: number; readonly y: number }[];
}

export interface LineChart {
  readonly title: string;
  readonly unit: string;
  readonly xLabel: string;
  readonly lines: readonly Line[];
}

const width = 720;
const height = 360;
const plot = { left: 70, right: 500, top: 56, bottom: 310 };
const colours = ['#2563eb', '#d97706', '#059669', '#db2777', '#7c3aed', '#64748b'];

export function lineChartSvg({ title, unit, xLabel, lines }: LineChart): string {
  const points = lines.flatMap((line) => line.points).filter(({ x, y }) => x > 0 && y > 0);
  const x = scale(
    points.map((point) => point.x),
    plot.left,
    plot.right,
  );
  const y = scale(
    points.map((point) => point.y),
    plot.bottom,
    plot.top,
  );
  const ticks = [...new Set(points.map((point) => point.x))].map((value) =>
    textAt({ x: x(value), y: plot.bottom + 18, text: figure(value), anchor: 'middle' }),
  );
  const levels = powersOfTen(points.map((point) => point.y)).map((value) =>
    [
      `<line x1="${plot.left}" x2="${plot.right}" y1="${y(value)}" y2="${y(value)}" class="grid"/>`,
      textAt({ x: plot.left - 8, y: y(value) + 4, text: figure(value), anchor: 'end' }),
    ].join('\n'),
  );
  const drawn = lines.map(({ label, points: ofLine }, index) => {
    const colour = colours[index % colours.length] ?? '#000';
    const visible = ofLine.filter((point) => point.x > 0 && point.y > 0);
    const path = visible.map((point) => `${x(point.x)},${y(point.y)}`).join(' ');
    const dots = visible.map(
      (point) => `<circle cx="${x(point.x)}" cy="${y(point.y)}" r="3" fill="${colour}"/>`,
    );
    const legendY = plot.top + index * 20;
    return [
      `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...dots,
      `<rect x="${plot.right + 24}" y="${legendY - 9}" width="12" height="4" fill="${colour}"/>`,
      textAt({ x: plot.right + 44, y: legendY - 3, text: label }),
    ].join('\n');
  });
  return svgDocument({ width, height, label: escapeXml(title) }, [
    textAt({ x: 12, y: 22, text: title, className: 'title' }),
    textAt({ x: 12, y: 40, text: unit }),
    ...levels,
    ...ticks,
    textAt({ x: (plot.left + plot.right) / 2, y: plot.bottom + 38, text: xLabel, anchor: 'middle' }),
    ...drawn,
  ]);
}

function scale(values: readonly number[], from: number, to: number): (value: number) => number {
  const lowest = Math.log10(Math.min(...values));
  const highest = Math.log10(Math.max(...values));
  const span = Math.max(highest - lowest, 0.1);
  return (value) => Math.round((from + ((Math.log10(value) - lowest) / span) * (to - from)) * 10) / 10;
}

function powersOfTen(values: readonly number[]): number[] {
  const first = Math.ceil(Math.log10(Math.min(...values)));
  const last = Math.floor(Math.log10(Math.max(...values)));
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => 10 ** (first + index));
}
