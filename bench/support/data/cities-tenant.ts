/** The configuration of the benchmarks over cities: a page for every entity, cards that pages refer to, an index of cities. */
import type { JsonObject } from '../../../src/contract/json.ts';
import { type BenchTenant, sourceGroup } from './tenant.ts';

/** Types of the fields of the index by which queries filter, sort or count. */
export const cityFields = {
  name: 'text',
  names: 'text[]',
  country: 'keyword',
  regionId: 'keyword',
  featureCode: 'keyword',
  timezone: 'keyword',
  population: 'long',
  altitude: 'integer',
  lat: 'double',
  lon: 'double',
  updatedAt: 'date',
} as const;

export const cityIndex = 'cities';

const cityIndexSchema: JsonObject = {
  triggers: { [sourceGroup]: ['city'] },
  properties: {
    name: '{p.name}',
    names: { type: 'array', input: '{p.alternateNames}' },
    country: '{p.country}',
    regionId: '{p.regionId}',
    featureCode: '{p.featureCode}',
    timezone: '{p.timezone}',
    population: { type: 'number', value: '{p.population}' },
    altitude: { type: 'number', value: '{p.altitude}' },
    lat: { type: 'number', value: '{p.lat}', precision: 5 },
    lon: { type: 'number', value: '{p.lon}', precision: 5 },
    updatedAt: '{p.updatedAt}',
  },
  index: {
    fields: Object.fromEntries(Object.entries(cityFields).map(([name, type]) => [name, { type }])),
  },
};

/** @param aliases of the views that a city refers to */
function citySchema(aliases: { readonly country: string; readonly region: string }): JsonObject {
  return {
    triggers: { [sourceGroup]: ['city'] },
    route: { url: '{url}' },
    properties: {
      name: '{p.name}',
      url: '{url}',
      names: { type: 'array', input: '{p.alternateNames}' },
      population: { type: 'number', value: '{p.population}' },
      altitude: { type: 'number', value: '{p.altitude}' },
      lat: { type: 'number', value: '{p.lat}', precision: 5 },
      lon: { type: 'number', value: '{p.lon}', precision: 5 },
      timezone: '{p.timezone}',
      country: { type: 'reference', alias: aliases.country, originId: '{p.countryId}' },
      region: { type: 'reference', alias: aliases.region, originId: '{p.regionId}' },
    },
  };
}

export const citiesTenant: BenchTenant = {
  alias: 'cities',
  schemas: {
    city: citySchema({ country: 'card', region: 'card' }),
    place: {
      triggers: { [sourceGroup]: ['continent', 'country', 'region'] },
      route: { url: '{url}' },
      properties: { '*': '$.p', url: '{url}' },
    },
    card: {
      triggers: { [sourceGroup]: ['continent', 'country', 'region'] },
      properties: { name: '{p.name}', url: '{url}' },
    },
  },
  indexes: { [cityIndex]: cityIndexSchema },
};

const name = { name: '{p.name}', url: '{url}' };

/** The same pages, whose references lead on: from a city to its region, the region's country, and the country's continent. */
export const chainsTenant: BenchTenant = {
  ...citiesTenant,
  alias: 'chains',
  schemas: {
    city: citySchema({ country: 'countryCard', region: 'regionCard' }),
    regionCard: {
      triggers: { [sourceGroup]: ['region'] },
      properties: {
        ...name,
        country: { type: 'reference', alias: 'countryCard', originId: '{p.countryId}' },
      },
    },
    countryCard: {
      triggers: { [sourceGroup]: ['country'] },
      properties: {
        ...name,
        continent: { type: 'reference', alias: 'continentCard', originId: '{p.continentId}' },
      },
    },
    continentCard: { triggers: { [sourceGroup]: ['continent'] }, properties: name },
  },
};
