/** Cities of the world to query: those of the demo, or of the large data set if it exists. */
import { createReadStream, existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createGunzip } from 'node:zlib';
import { atlasEntities } from '../../../../config/atlas-entities.ts';
import type { SourceEntity } from '../../../../src/contract/entity.ts';
import type { Json, JsonObject } from '../../../../src/contract/json.ts';
import type { FieldType } from '../../../../src/search/fields/field-type.ts';

const largeFile = fileURLToPath(new URL('../../../../../shared/data/cities.ndjson.gz', import.meta.url));

/** Enabled with MILLRACE_DATA=1. */
export const hasLargeFile = process.env.MILLRACE_DATA === '1' && existsSync(largeFile);

/** @param most maximum number of cities of the demo; the large data set is read completely */
export async function cities(most: number): Promise<SourceEntity[]> {
  const found: SourceEntity[] = [];
  if (hasLargeFile) {
    const input = createReadStream(largeFile).pipe(createGunzip());
    for await (const line of createInterface({ input })) {
      const entity = JSON.parse(line) as SourceEntity;
      if (entity.type === 'city') found.push(entity);
    }
    return found;
  }
  for await (const entity of atlasEntities()) {
    if (entity.type === 'city') found.push(entity);
    if (found.length === most) break;
  }
  return found;
}

export const dataSetName = hasLargeFile ? path.basename(largeFile) : 'atlas';

const coordinate = (name: string): Json => ({ type: 'number', value: `{p.${name}}`, precision: 5 });

export const cityIndexTypes: ReadonlyMap<string, FieldType> = new Map<string, FieldType>([
  ['name', 'text'],
  ['names', 'text[]'],
  ['aliases', 'keyword[]'],
  ['country', 'keyword'],
  ['region', 'keyword'],
  ['timezone', 'keyword'],
  ['isCapital', 'boolean'],
  ['population', 'long'],
  ['altitude', 'integer'],
  ['lat', 'double'],
  ['place', 'double[]'],
  ['updated', 'date'],
  ['span', 'longRange'],
  ['zone', 'object'],
]);

export const cityIndex: Json = {
  triggers: { cms: ['city'] },
  properties: {
    name: '{p.name}',
    names: { type: 'array', input: '{p.alternateNames}' },
    aliases: { type: 'array', input: '{p.alternateNames}' },
    country: '{p.country ?? p.countryName}',
    region: '{p.regionId}',
    timezone: '{p.timezone}',
    isCapital: { type: 'boolean', value: '{p.isCapital}' },
    population: { type: 'number', value: '{p.population}' },
    altitude: { type: 'number', value: '{p.altitude ?? p.elevation}' },
    lat: coordinate('lat'),
    place: { type: 'array', input: { $path: "p['lat','lon']" } },
    updated: '{p.updatedAt ?? p.updatedOn}',
    span: {
      type: 'object',
      properties: {
        gt: { type: 'number', value: '{p.altitude ?? p.elevation}' },
        lte: { type: 'number', value: '{p.population}' },
      },
    },
    zone: { type: 'object', properties: { name: '{p.timezone}' } },
  },
  index: {
    fields: Object.fromEntries([...cityIndexTypes].map(([name, type]) => [name, { type }])),
  },
};

/** The index fields of a city, computed without the mapping language. */
export function cityIndexFields({ properties: p }: SourceEntity): JsonObject {
  const altitude = p.altitude ?? p.elevation ?? null;
  return present({
    name: p.name ?? null,
    names: p.alternateNames ?? [],
    aliases: p.alternateNames ?? [],
    country: p.country ?? p.countryName ?? null,
    region: p.regionId ?? null,
    timezone: p.timezone ?? null,
    isCapital: p.isCapital ?? null,
    population: p.population ?? null,
    altitude,
    lat: p.lat ?? null,
    place: [p.lat ?? null, p.lon ?? null],
    updated: p.updatedAt ?? p.updatedOn ?? null,
    span: { gt: altitude, lte: p.population ?? null },
    zone: { name: p.timezone ?? null },
  });
}

/** The auto-indexed fields of a city: its properties that are not null. */
export function cityAutoFields({ properties }: SourceEntity): JsonObject {
  return present(properties);
}

function present(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/** The types that auto-indexing determines; in this data, all values of a property have the same type. */
export function cityAutoTypes(all: readonly SourceEntity[]): ReadonlyMap<string, FieldType> {
  const types = new Map<string, FieldType>();
  for (const entity of all) {
    for (const [name, value] of Object.entries(cityAutoFields(entity))) {
      const isEmpty = value === '' || (Array.isArray(value) && value.length === 0);
      if (!types.has(name) && !isEmpty) types.set(name, autoType(value));
    }
  }
  return types;
}

function autoType(value: Json): FieldType {
  if (Array.isArray(value)) return `${autoType(value[0] ?? null)}[]` as FieldType;
  if (typeof value === 'number') return 'double';
  if (typeof value === 'boolean') return 'boolean';
  return /^\d{4}-\d\d-\d\d/.test(String(value)) ? 'date' : 'keywordText';
}
