/** Queries over the index of cities, each for a city that is there. */
import type { JsonObject } from '../../../src/contract/json.ts';
import { type Entity, numberOf, textOf } from '../data/sets.ts';

/** Queries in turn: one word, a word with a typo, filter and sort, search and facet. */
export function cityQueries(cities: readonly Entity[], count: number): JsonObject[] {
  const step = Math.max(1, Math.floor(cities.length / count));
  return Array.from({ length: count }, (_, number): JsonObject => {
    const city = cities[(number * step) % cities.length];
    if (city === undefined) return {};
    const name = textOf(city, 'name');
    const kinds: JsonObject[] = [
      { search: { field: 'names', value: name, literal: true } },
      { search: { field: 'name', value: `${name.slice(0, 2)}x${name.slice(3)}` } },
      {
        filters: {
          and: [
            { field: 'country', operator: 'equals', value: textOf(city, 'country') },
            { field: 'population', operator: 'greaterThan', value: numberOf(city, 'population') + number },
          ],
        },
        sort: [{ field: 'population', order: 'desc' }],
      },
      { search: { field: 'names', value: name }, facets: [{ field: 'country' }] },
    ];
    return kinds[number % kinds.length] ?? {};
  });
}
