/** The items of the query benchmarks: a name, a text, a category and a size. They are the same for every contender. */
import type { JsonObject } from '../../../src/contract/json.ts';
import { cityEntities, type Entity, numberOf, packageEntities, textOf, textsOf } from './sets.ts';
import { type BenchTenant, sourceGroup } from './tenant.ts';

export interface Item {
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly category: string;
  readonly size: number;
  /** Absent: the set has no places. */
  readonly place?: Place;
}

/** In degrees. */
export interface Place {
  readonly lat: number;
  readonly lon: number;
}

export interface ItemSet {
  readonly name: string;
  readonly items: readonly Item[];
}

export const itemIndex = 'items';
export const itemType = 'item';

const properties: JsonObject = {
  name: '{p.name}',
  text: '{p.text}',
  category: '{p.category}',
  size: { type: 'number', value: '{p.size}' },
};

const fields: JsonObject = {
  name: { type: 'keyword' },
  text: { type: 'text' },
  category: { type: 'keyword' },
  size: { type: 'long' },
};

export const itemsTenant: BenchTenant = tenantWith(properties, fields);

/** Of items that have places. */
export const placedItemsTenant: BenchTenant = tenantWith(
  {
    ...properties,
    place: {
      type: 'object',
      properties: {
        lat: { type: 'number', value: '{p.place.lat}', precision: 5 },
        lon: { type: 'number', value: '{p.place.lon}', precision: 5 },
      },
    },
  },
  { ...fields, place: { type: 'geoPoint' } },
);

function tenantWith(indexProperties: JsonObject, indexFields: JsonObject): BenchTenant {
  const triggers = { [sourceGroup]: [itemType] };
  return {
    alias: 'items',
    schemas: {},
    indexes: { [itemIndex]: { triggers, properties: indexProperties, index: { fields: indexFields } } },
  };
}

/** Descriptions of Debian's packages with section and installed size; null without the real data sets. */
export async function packageItems(): Promise<ItemSet | null> {
  const entities = await packageEntities();
  if (entities === null) return null;
  return {
    name: 'debian-small',
    items: entities
      .filter(({ type }) => type === 'package')
      .map((entity) => ({
        id: entity.originId,
        name: textOf(entity, 'name'),
        text: `${textOf(entity, 'summary')}\n${textOf(entity, 'description')}`,
        category: textOf(entity, 'section'),
        size: numberOf(entity, 'installedSize'),
      })),
  };
}

/** Names of cities in many scripts, with country and population. */
export async function cityItems(citiesMax?: number): Promise<ItemSet> {
  const entities = await cityEntities(citiesMax);
  return { name: 'cities', items: entities.filter(({ type }) => type === 'city').map(cityItem) };
}

function cityItem(entity: Entity): Item {
  return {
    id: entity.originId,
    name: textOf(entity, 'name'),
    text: [textOf(entity, 'name'), ...textsOf(entity, 'alternateNames')].join(', '),
    category: textOf(entity, 'country'),
    size: numberOf(entity, 'population'),
    place: { lat: numberOf(entity, 'lat'), lon: numberOf(entity, 'lon') },
  };
}

/** The source entity that makes the item. */
export function itemEntity({ id, place, ...rest }: Item): Entity {
  const ofItem: JsonObject = { ...rest, ...(place === undefined ? {} : { place: { ...place } }) };
  return {
    originId: id,
    type: itemType,
    url: null,
    originParentId: null,
    redirects: [],
    properties: ofItem,
  };
}
