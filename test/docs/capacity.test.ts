/** The budgets of the capacity plan are the figures of the benchmarks with the documented margin. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textOf } from './support/markdown.ts';

const marginMin = 1.5;
/** A budget that is further from its figure was made for an older figure. */
const marginMax = 4;

/** The numbers in a row of a table. @param begins the text of its first cell */
function rowOf(markdown: string, begins: string): number[] {
  const row = markdown
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .find(([, first]) => first === begins);
  assert.ok(row !== undefined, `there is a row "${begins}"`);
  return row.slice(2).flatMap((cell) => {
    const [text] = cell.match(/^[\d,.]+/) ?? [];
    return text === undefined ? [] : [Number(text.replaceAll(',', ''))];
  });
}

function sectionOf(markdown: string, name: string): string {
  const begin = markdown.indexOf(`<!-- ${name} -->`);
  const end = markdown.indexOf(`<!-- /${name} -->`);
  assert.ok(begin >= 0 && end > begin, `there is a section ${name}`);
  return markdown.slice(begin, end);
}

const bench = textOf('bench/README.md');
const capacity = sectionOf(bench, 'capacity');
const growth = sectionOf(bench, 'growth');
const page = textOf('docs/guide/capacity.md');

function budget(name: string): number {
  const [figure] = rowOf(page, name);
  assert.ok(figure !== undefined, `${name}: a budget`);
  return figure;
}

function last(row: readonly number[]): number {
  const value = row.at(-1);
  assert.ok(value !== undefined);
  return value;
}

function assertMargin(factor: number, what: string): void {
  assert.ok(factor >= marginMin && factor <= marginMax, `${what}: the margin is ${factor.toFixed(2)}`);
}

test('capacity: a memory budget is a multiple of the measurement', () => {
  const entityBytes = last(rowOf(capacity, 'an entity in Redis with all that is made of it'));
  const entityBudgetKb = budget('host memory of Redis, per entity including its view, route and item');
  assertMargin((entityBudgetKb * 1_000) / entityBytes, 'Redis');
  const itemBytes = last(rowOf(growth, 'bytes an item'));
  assertMargin((budget('worker memory per index item') * 1_000) / itemBytes, 'an index item');
});

test("capacity: the page's plan for a worker includes the measured memory of each size", () => {
  const baseMb = budget('worker memory without index items');
  const itemKb = budget('worker memory per index item');
  const tookMb = rowOf(growth, 'memory of the worker');
  const planned = [10_000, 100_000, 1_000_000].map((items) => baseMb + (items * itemKb) / 1_000);
  assert.equal(tookMb.length, planned.length);
  for (const [at, mb] of tookMb.entries()) assert.ok((planned[at] ?? 0) > mb, `${mb} MB of ${planned[at]}`);
});

test('capacity: a measured rate is a multiple of the budget', () => {
  const rates = [
    ['changed entities per second, one worker', 'entity stored and all made of it'],
    ['cached pages per second, one front', 'page from the cache'],
    ['uncached pages per second, one front', 'page made from Redis'],
    ['distinct queries per second, one worker', 'query'],
  ] as const;
  for (const [planned, measured] of rates) {
    assertMargin(last(rowOf(capacity, measured)) / budget(planned), planned);
  }
});
