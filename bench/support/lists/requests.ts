/** Requests for lists of cities, and a check that all contenders return the same. */
import assert from 'node:assert/strict';
import { chainsTenant, citiesTenant, cityIndex } from '../data/cities-tenant.ts';
import { random } from '../data/random.ts';
import type { Entity } from '../data/sets.ts';
import { type BenchTenant, clientKeyOf } from '../data/tenant.ts';
import type { HttpRequest } from '../load/wrk.ts';
import { host, ports } from '../ports.ts';

/** A kind of list: the number of cities, and the depth of references. */
export interface ListKind {
  readonly size: number;
  readonly levels: 1 | 3;
}

/** The cities with a population from `from` to `to`, the largest first. */
export interface List extends ListKind {
  readonly from: number;
  readonly to: number;
}

export function tenantOf({ levels }: ListKind): BenchTenant {
  return levels === 1 ? citiesTenant : chainsTenant;
}

/** Lists with different ranges, each with more cities than fit on its page. */
export function differingLists(cities: readonly Entity[], kind: ListKind, count: number): List[] {
  const { size } = kind;
  const next = random(size);
  const populations = cities.map(({ properties }) => Number(properties.population)).sort((a, b) => a - b);
  return Array.from({ length: count }, () => {
    const at = Math.floor(next() * (populations.length - 4 * size));
    const reach = 2 * size + Math.floor(next() * 2 * size);
    return { ...kind, from: populations[at] ?? 0, to: populations[at + reach] ?? 0 };
  });
}

export function ourRequest(list: List): HttpRequest {
  const { from, to, size } = list;
  return {
    method: 'POST',
    path: `/v1/${cityIndex}`,
    headers: { 'X-Api-Key': clientKeyOf(tenantOf(list)) },
    body: JSON.stringify({
      filters: {
        and: [
          { field: 'population', operator: 'greaterThanOrEquals', value: from },
          { field: 'population', operator: 'lessThanOrEquals', value: to },
        ],
      },
      sort: [{ field: 'population', order: 'desc' }],
      pagination: { pageSize: size },
      fields: [],
      aliases: ['city'],
    }),
  };
}

export function sqlRequest(list: List): HttpRequest {
  return { method: 'POST', path: '/', body: JSON.stringify(list) };
}

interface Page {
  readonly url: string;
  readonly population: number;
}

/**
 * When cities tie at the end of a list, contenders may return different ones.
 * @param port of the SQL server's HTTP endpoint
 * @throws Error when its pages differ from ours
 */
export async function requireSameLists(lists: readonly List[], port: number): Promise<void> {
  for (const list of lists) {
    const mine: { totalResults: number; results: { _views: { city: Page } }[] } = await answerTo(
      ports.millrace,
      ourRequest(list),
    );
    const theirs: { totalResults: number; results: Page[] } = await answerTo(port, sqlRequest(list));
    const pages = mine.results.map(({ _views }) => _views.city);
    const populations = (shown: readonly Page[]) => shown.map(({ population }) => population);
    assert.equal(mine.totalResults, theirs.totalResults);
    assert.deepEqual(populations(pages), populations(theirs.results));
    const last = pages.at(-1)?.population;
    for (const page of pages.filter(({ population }) => population !== last)) {
      assert.deepEqual(
        page,
        theirs.results.find(({ url }) => url === page.url),
      );
    }
  }
}

async function answerTo<T>(port: number, { path: target, headers, body }: HttpRequest): Promise<T> {
  const response = await fetch(`http://${host}:${port}${target}`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: body ?? '',
  });
  if (!response.ok) throw new Error(`${target} answered ${response.status}: ${await response.text()}`);
  return JSON.parse(await response.text());
}
