/** Tables of figures, for the terminal and for Markdown. */
import type { Spread } from './statistics.ts';

export interface Table {
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Text of a table for the terminal. The first column is text. The others are figures, aligned to the right. */
export function tableText({ title, columns, rows }: Table): string {
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...rows.map((row) => (row[index] ?? '').length)),
  );
  const line = (cells: readonly string[]) =>
    widths
      .map((width, index) =>
        index === 0 ? (cells[index] ?? '').padEnd(width) : (cells[index] ?? '').padStart(width),
      )
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
  return [title, '', line(columns), rule, ...rows.map(line)].join('\n');
}

/** A table in Markdown, aligned like by the formatter of this repository. */
export function tableMarkdown({ title, columns, rows }: Table): string {
  const cells = [columns, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = columns.map((_, index) => Math.max(...cells.map((row) => (row[index] ?? '').length), 3));
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, index) => aligned(row[index] ?? '', width, index)).join(' | ')} |`;
  const rule = widths.map((width, index) => (index === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  const [head = [], ...body] = cells;
  return [`**${title}**`, '', line(head), `| ${rule.join(' | ')} |`, ...body.map(line)].join('\n');
}

function aligned(cell: string, width: number, column: number): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}

/** A figure with three significant digits and separated thousands: `123,000`, `4.56`. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return Number(value.toPrecision(3)).toString();
}

/** `median (lower quartile – upper quartile)`. */
export function spreadFigure({ median, lowerQuartile, upperQuartile, count }: Spread): string {
  if (count === 1) return figure(median);
  return `${figure(median)} (${figure(lowerQuartile)} – ${figure(upperQuartile)})`;
}
