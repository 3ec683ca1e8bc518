/** Checks that Millrace and PostgreSQL deliver the same for every URL, before and after changes of the entities. */
import { isDeepStrictEqual } from 'node:util';
import { CommandStop } from '../../../src/cli/terminal/command-line.ts';
import { portions } from '../../../src/lib/lists.ts';
import type { BenchContext } from '../bench.ts';
import type { SqlConnection } from '../contenders/postgres.ts';
import { readSite, type SiteUrl, wholeSite } from '../contenders/postgres-site.ts';
import { citiesTenant } from '../data/cities-tenant.ts';
import type { Entity } from '../data/sets.ts';
import { Client } from '../load/client.ts';
import { System } from '../platform/system.ts';
import { writeEntities } from './entity-file.ts';
import { loadMillrace, loadPostgres } from './loads.ts';

const citiesCompared = 1_000;
/** The maximum of one batch. */
const citiesChanged = 50;
const readConcurrency = 16;

/** @throws CommandStop with the first URL that differs */
export async function requireSameSite(
  context: BenchContext,
  connections: readonly SqlConnection[],
  entities: readonly Entity[],
): Promise<void> {
  const [connection] = connections;
  if (connection === undefined) return;
  const cities = entities.filter(({ type }) => type === 'city').slice(0, citiesCompared);
  const compared = [...entities.filter(({ type }) => type !== 'city'), ...cities];
  const file = writeEntities(context, 'compared', compared);
  const system = await System.start(context, { tenants: [citiesTenant] });
  const client = new Client(context, system.baseUrl, citiesTenant);
  await loadMillrace(client, file);
  await wholeSite.create(connection);
  await loadPostgres(connections, wholeSite, file);
  await requireSameUrls(client, connection);
  const changed = changedCities(cities.slice(0, citiesChanged));
  const version = await client.save(changed);
  await client.deliver(changed[0]?.url ?? '/', version);
  await wholeSite.save(connection, changed);
  const urls = await requireSameUrls(client, connection);
  context.say(`Millrace and PostgreSQL deliver the same for ${urls} URLs, before and after changes`);
  await system.stop();
}

/** Rotates the URLs: each city gets that of the next one. Every city also gets new redirects and a new name. */
function changedCities(cities: readonly Entity[]): Entity[] {
  return cities.map((city, index) => ({
    ...city,
    url: cities[(index + 1) % cities.length]?.url ?? null,
    redirects: [`/moved/${city.originId}`, `/moved-again/${city.originId}`],
    properties: { ...city.properties, name: `${city.originId}, renamed` },
  }));
}

/** @returns the number of URLs */
async function requireSameUrls(client: Client, connection: SqlConnection): Promise<number> {
  const theirs = new Map((await readSite(connection)).map((one) => [one.url, one]));
  const routes = await client.routes();
  if (routes.length !== theirs.size)
    throw new CommandStop(`The contenders disagree: ${routes.length} URLs against ${theirs.size}`);
  for (const some of portions(routes, readConcurrency)) {
    for (const ours of await Promise.all(some.map((route) => siteUrl(client, route)))) {
      const other = theirs.get(ours.url);
      if (isDeepStrictEqual(ours, other)) continue;
      throw new CommandStop(
        `The contenders disagree: ${JSON.stringify(ours)} against ${JSON.stringify(other)}`,
      );
    }
  }
  return routes.length;
}

async function siteUrl(
  client: Client,
  { url, redirect }: { url: string; redirect: string | null },
): Promise<SiteUrl> {
  return { url, redirect, page: redirect === null ? await client.page(url) : null };
}
