/** Part 3 of the rebuild benchmark: pages that are recomputed when cities change that no page shows. */
import type { BenchContext } from '../bench.ts';
import { random, sample } from '../data/random.ts';
import { cityEntities, type Entity, numberOf, textOf } from '../data/sets.ts';
import { type BenchTenant, sourceGroup } from '../data/tenant.ts';
import { Client } from '../load/client.ts';
import { System } from '../platform/system.ts';
import { WorkerFigures } from '../platform/worker-figures.ts';

export interface PrecisionMeasurement {
  readonly changes: number;
  /** Pages that were recomputed because of the changes. */
  readonly recomputed: number;
  /** Recomputed pages whose bytes changed. */
  readonly rewritten: number;
}

const top = 10;

const countriesTenant: BenchTenant = {
  alias: 'countries',
  schemas: {
    country: {
      triggers: { [sourceGroup]: ['country'] },
      route: { url: '{url}' },
      properties: {
        name: '{p.name}',
        largestCities: {
          type: 'array',
          input: {
            $lookup: {
              operator: 'equals',
              sourceEntityType: 'city',
              sourceEntityProperty: 'countryId',
              matchValue: '{originId}',
              orderBy: { property: 'population', sort: 'desc' },
              top,
            },
          },
          items: { type: 'object', properties: { name: '{item.p.name}', population: '{item.p.population}' } },
        },
      },
    },
  },
};

/** Changes cities outside the ten largest of their country, then as many inside, with one city for each country. */
export async function measurePrecision(
  context: BenchContext,
  citiesMax: number,
): Promise<{ outside: PrecisionMeasurement; inside: PrecisionMeasurement }> {
  const entities = (await cityEntities(citiesMax)).filter(
    ({ type }) => type === 'country' || type === 'city',
  );
  const system = await System.start(context, { tenants: [countriesTenant] });
  const client = new Client(context, system.baseUrl, countriesTenant);
  await client.importEntities(entities);
  await client.settle(entities.slice(-1_000));
  const ranked = citiesByCountry(entities);
  const outside = [...ranked.values()].flatMap((cities) =>
    sample(cities.slice(top), 1, random(cities.length)),
  );
  const inside = [...ranked.values()].flatMap((cities) =>
    sample(cities.slice(0, top), 1, random(cities.length)),
  );
  const firstPage = entities.find(({ type }) => type === 'country')?.url ?? '/';
  const figures = await WorkerFigures.open(context, system);
  let before = await readFigures(figures);
  const measure = async (cities: readonly Entity[], change: (city: Entity) => Entity['properties']) => {
    for (let at = 0; at < cities.length; at += 50) {
      const changed = cities.slice(at, at + 50).map((city) => ({ ...city, properties: change(city) }));
      await client.deliver(firstPage, await client.save(changed));
    }
    const after = await readFigures(figures);
    const recomputed = after.rebuilds - before.rebuilds;
    const rewritten = recomputed - (after.unchanged - before.unchanged);
    before = after;
    return { changes: cities.length, recomputed, rewritten };
  };
  const result = {
    outside: await measure(outside, ({ properties }) => ({ ...properties, altitude: -1 })),
    inside: await measure(inside, (city) => ({ ...city.properties, name: `New ${textOf(city, 'name')}` })),
  };
  await figures.close();
  await system.stop();
  return result;
}

async function readFigures(figures: WorkerFigures): Promise<{ rebuilds: number; unchanged: number }> {
  const [rebuilds = 0, unchanged = 0] = await figures.read([
    'millrace_rebuilds_total',
    'millrace_rebuilds_unchanged_total',
  ]);
  return { rebuilds, unchanged };
}

/** Country -> its cities, most populous first, as the lookup orders them. */
function citiesByCountry(entities: readonly Entity[]): Map<string, Entity[]> {
  const groups = new Map<string, Entity[]>();
  for (const city of entities.filter(({ type }) => type === 'city')) {
    const country = textOf(city, 'countryId');
    const group = groups.get(country);
    if (group === undefined) groups.set(country, [city]);
    else group.push(city);
  }
  for (const cities of groups.values())
    cities.sort((a, b) => numberOf(b, 'population') - numberOf(a, 'population'));
  // The lookup orders equal populations by id. Countries with ties at the limit are skipped.
  return new Map([...groups].filter(([, cities]) => isClearCut(cities)));
}

function isClearCut(cities: readonly Entity[]): boolean {
  const [last, next] = [cities[top - 1], cities[top]];
  return (
    last !== undefined && next !== undefined && numberOf(last, 'population') > numberOf(next, 'population')
  );
}
