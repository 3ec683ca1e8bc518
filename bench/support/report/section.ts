/** Writes the results of a run: tables on the terminal, charts and a section of `bench/README.md`. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bench, BenchResult, Target } from '../bench.ts';
import { barChartSvg } from './bar-chart.ts';
import { lineChartSvg } from './line-chart.ts';
import { machineLine } from './machine.ts';
import { tableMarkdown, tableText } from './table.ts';

const benchDir = fileURLToPath(new URL('../../', import.meta.url));
const readmeFile = path.join(benchDir, 'README.md');

export function printReport(bench: Bench, { tables, targets, notes = [] }: BenchResult): void {
  const parts = [
    '',
    bench.question,
    ...tables.map((table) => `\n${tableText(table)}`),
    ...(targets.length > 0 ? ['', ...targets.map(targetText)] : []),
    ...(notes.length > 0 ? ['', ...notes] : []),
    '',
    'What is unfair here:',
    ...bench.caveats.map((line) => `- ${line}`),
    '',
    machineLine(),
  ];
  console.log(parts.join('\n'));
}

/** Writes the charts, and the figures between the marks of this benchmark in the README. */
export function writeReport(bench: Bench, result: BenchResult): void {
  mkdirSync(path.join(benchDir, 'charts'), { recursive: true });
  for (const chart of result.charts) {
    const svg = chart.kind === 'bars' ? barChartSvg(chart) : lineChartSvg(chart);
    writeFileSync(path.join(benchDir, 'charts', chart.file), svg);
  }
  const readme = readFileSync(readmeFile, 'utf8');
  writeFileSync(readmeFile, withSection(readme, bench.name, markdown(bench, result)));
}

/** The README with the text between `<!-- NAME -->` and `<!-- /NAME -->` replaced. @throws Error without those marks */
export function withSection(readme: string, name: string, section: string): string {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [readme.indexOf(begin), readme.indexOf(end)];
  if (from === -1 || to === -1)
    throw new Error(`bench/README.md has no place for ${name}: ${begin} … ${end}`);
  return `${readme.slice(0, from + begin.length)}\n\n${section}\n\n${readme.slice(to)}`;
}

function markdown(bench: Bench, { tables, charts, targets, notes = [] }: BenchResult): string {
  return [
    bench.question,
    `\`npm run bench -- ${bench.name}\` on ${machineLine()}; ${new Date().toISOString().slice(0, 10)}.`,
    ...tables.map(tableMarkdown),
    ...charts.map(({ file, title }) => `![${title}](charts/${file})`),
    ...(targets.length > 0 ? [targets.map((target) => `- ${targetText(target)}`).join('\n')] : []),
    ...(notes.length > 0 ? [notes.join('\n\n')] : []),
    ['What is unfair here:', '', ...bench.caveats.map((line) => `- ${line}`)].join('\n'),
  ].join('\n\n');
}

function targetText({ text, figure, isReached }: Target): string {
  return `${isReached ? 'reached' : 'NOT reached'}: ${text}: ${figure}`;
}
