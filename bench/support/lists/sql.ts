/** Lists of cities in SQL, for SQLite and PostgreSQL: tables, statements, and the view of a row. */
import type { Entity } from '../data/sets.ts';
import type { List } from './requests.ts';

export interface SqlLists {
  answer(list: List): Promise<SqlAnswer> | SqlAnswer;
}

export interface SqlAnswer {
  readonly total: number;
  readonly rows: readonly Row[];
}

/** Names and URLs of referenced places; null for a broken reference, absent if not requested. */
type Card<Name extends string> = { readonly [Member in Name | `${Name}Url`]?: string | null };

/** A city with its properties, as JSON or parsed by the driver. */
export type Row = { readonly properties: string | City; readonly url: string } & Card<'country'> &
  Card<'region'> &
  Card<'continent'> &
  Card<'regionCountry'> &
  Card<'regionContinent'>;

interface City {
  readonly name: string;
  readonly alternateNames?: readonly string[];
  readonly population: number;
  readonly altitude?: number;
  readonly lat: number;
  readonly lon: number;
  readonly timezone: string;
}

export const tables = [
  'create table place (id text primary key, name text, url text, parent text)',
  'create table city (id text primary key, population bigint, url text, country text, region text, properties text)',
];
export const indexes = ['create index by_population on city (population desc, id)'];

/** Values in the order of the columns. */
export function placeValues({ originId, url, properties: p }: Entity): unknown[] {
  return [originId, p.name, url, p.countryId ?? p.continentId ?? null];
}

export function cityValues({ originId, url, properties: p }: Entity): unknown[] {
  return [originId, p.population, url, p.countryId, p.regionId, JSON.stringify(p)];
}

/** Parameters are `$1` (from), `$2` (to) and, in the list, `$3` (size). */
const matching = 'from city where population between $1 and $2';
export const countStatement = `select count(*) as total ${matching}`;

/** @param levels depth of references: 1 or 3 */
export function listStatement(levels: number): string {
  const joined = [
    { table: 'country', id: 'city.country' },
    { table: 'region', id: 'city.region' },
    ...(levels === 1
      ? []
      : [
          { table: 'continent', id: 'country.parent' },
          { table: 'regionCountry', id: 'region.parent' },
          { table: 'regionContinent', id: '"regionCountry".parent' },
        ]),
  ];
  const columns = joined.map(({ table }) => `"${table}".name as "${table}", "${table}".url as "${table}Url"`);
  const joins = joined.map(({ table, id }) => `left join place as "${table}" on "${table}".id = ${id}`);
  return `select city.properties, city.url, ${columns.join(', ')}
    from (select * ${matching} order by population desc, id limit $3) as city ${joins.join(' ')}
    order by city.population desc, city.id`;
}

export function viewOf(row: Row): object {
  const { properties, url } = row;
  const city: City = typeof properties === 'string' ? JSON.parse(properties) : properties;
  const { name, alternateNames, population, altitude, lat, lon, timezone } = city;
  const { country, countryUrl, region, regionUrl, regionCountry, regionCountryUrl } = row;
  const isDeep = 'continent' in row;
  const continent = isDeep && { continent: cardOf(row.continent, row.continentUrl) };
  const regionContinent = { continent: cardOf(row.regionContinent, row.regionContinentUrl) };
  return {
    name,
    url,
    names: alternateNames ?? [],
    population,
    altitude: altitude ?? null,
    lat,
    lon,
    timezone,
    country: cardOf(country, countryUrl, continent),
    region: cardOf(
      region,
      regionUrl,
      isDeep && { country: cardOf(regionCountry, regionCountryUrl, regionContinent) },
    ),
  };
}

function cardOf(
  name: string | null | undefined,
  url: string | null | undefined,
  more: object | false = false,
) {
  return name === null || name === undefined ? null : { name, url, ...more };
}
