/** Part 1 of the rebuild benchmark: children are added to a parent whose page lists them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { getOwn, type JsonObject } from '../../../src/contract/json.ts';
import type { BenchContext } from '../bench.ts';
import type { Entity } from '../data/sets.ts';
import { type BenchTenant, sourceGroup } from '../data/tenant.ts';
import { Client } from '../load/client.ts';
import { System } from '../platform/system.ts';

export interface ListMeasurement {
  /** From the first request until every child has its page, and the parent's page lists them if it has a list. */
  readonly seconds: number;
  /** From the time when every child had its page until the list was right; null without a list. */
  readonly listLagMs: number | null;
}

/** A lookup gives at most this many results (docs/reference/mapping-language.md "Lookups"). */
const listed = 1_000;
const pollMs = 20;

export async function measureList(
  context: BenchContext,
  childCount: number,
  withList: boolean,
): Promise<ListMeasurement> {
  const tenant = familyTenant(withList);
  const system = await System.start(context, { tenants: [tenant] });
  const client = new Client(context, system.baseUrl, tenant);
  const parentUrl = '/family';
  await client.deliver(parentUrl, await client.save([person('parent', null, 0)]));
  const startedMs = performance.now();
  const sent = [...children(childCount)];
  await client.importEntities(sent);
  const lastChild = `/family/${childCount}`;
  while ((await client.page(lastChild)) === null || (await client.routeCount()) <= childCount)
    await sleep(pollMs);
  const pagesMs = performance.now();
  const expected = JSON.stringify(titles(childCount));
  while (withList && JSON.stringify(await listOf(client, parentUrl)) !== expected) await sleep(pollMs);
  const listMs = performance.now();
  await client.settle(sent);
  const seconds = (performance.now() - startedMs) / 1000;
  await system.stop();
  return { seconds, listLagMs: withList ? listMs - pagesMs : null };
}

async function listOf(client: Client, url: string) {
  const page = await client.page(url);
  return page === null ? null : getOwn(page, 'children');
}

/** Titles of the first thousand children by rank. */
function titles(childCount: number): string[] {
  return Array.from({ length: Math.min(listed, childCount) }, (_, index) => titleOf(index + 1));
}

function titleOf(rank: number): string {
  return `Child ${rank}`;
}

function* children(count: number): Generator<Entity> {
  for (let rank = 1; rank <= count; rank += 1) yield person(`child-${rank}`, 'parent', rank);
}

function person(originId: string, originParentId: string | null, rank: number): Entity {
  return {
    originId,
    type: originParentId === null ? 'parent' : 'child',
    url: originParentId === null ? '/family' : `/family/${rank}`,
    originParentId,
    redirects: [],
    properties: {
      title: titleOf(rank),
      rank,
      text: 'Somebody who is listed on the page of the parent. '.repeat(8),
    },
  };
}

function familyTenant(withList: boolean): BenchTenant {
  const children: JsonObject = {
    type: 'array',
    input: {
      $lookup: {
        operator: 'equals',
        sourceEntityType: 'child',
        sourceEntityProperty: 'originParentId',
        matchValue: '{originId}',
        orderBy: { property: 'rank', sort: 'asc' },
        top: listed,
      },
    },
    items: '{item.p.title}',
  };
  const person: JsonObject = { title: '{p.title}', url: '{url}', text: '{p.text}' };
  return {
    alias: 'family',
    schemas: {
      parent: {
        triggers: { [sourceGroup]: ['parent'] },
        route: { url: '{url}' },
        properties: withList ? { ...person, children } : person,
      },
      child: { triggers: { [sourceGroup]: ['child'] }, route: { url: '{url}' }, properties: person },
    },
  };
}
