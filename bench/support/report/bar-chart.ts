/**
 * A horizontal bar chart as SVG that is readable on light and dark pages. Bars of several measurements have whiskers from
 * quartile to quartile.
 */
import type { Spread } from './statistics.ts';
import { escapeXml, svgDocument, textAt } from './svg.ts';
import { figure } from './table.ts';

export interface Bar {
  readonly label: string;
  readonly spread: Spread;
  /** Ours are highlighted. */
  readonly isOurs: boolean;
}

export interface BarChart {
  readonly title: string;
  readonly unit: string;
  readonly bars: readonly Bar[];
}

const width = 720;
const labelWidth = 250;
const figureWidth = 90;
const barHeight = 18;
const rowHeight = 28;
const headHeight = 52;

export function barChartSvg({ title, unit, bars }: BarChart): string {
  const largest = Math.max(...bars.map(({ spread }) => spread.upperQuartile), Number.MIN_VALUE);
  const scale = (width - labelWidth - figureWidth) / largest;
  const hasSpread = bars.some(({ spread }) => spread.lowerQuartile < spread.upperQuartile);
  const rows = bars.map(({ label, spread, isOurs }, index) => {
    const y = headHeight + index * rowHeight;
    const middle = y + barHeight / 2;
    const end = labelWidth + spread.median * scale;
    const [low, high] = [
      labelWidth + spread.lowerQuartile * scale,
      labelWidth + spread.upperQuartile * scale,
    ];
    const whisker = `<line x1="${round(low)}" y1="${middle}" x2="${round(high)}" y2="${middle}" class="whisker"/>`;
    return [
      textAt({ x: labelWidth - 8, y: middle + 4, text: label, anchor: 'end' }),
      `<rect x="${labelWidth}" y="${y}" width="${round(Math.max(1, end - labelWidth))}" height="${barHeight}" rx="2" class="${isOurs ? 'ours' : 'other'}"/>`,
      ...(hasSpread ? [whisker] : []),
      textAt({ x: Math.max(end, high) + 8, y: middle + 4, text: figure(spread.median) }),
    ].join('\n');
  });
  return svgDocument({ width, height: headHeight + bars.length * rowHeight + 8, label: escapeXml(title) }, [
    textAt({ x: 12, y: 22, text: title, className: 'title' }),
    textAt({ x: 12, y: 40, text: hasSpread ? `${unit}; bar: median, line: quartiles` : unit }),
    ...rows,
  ]);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
