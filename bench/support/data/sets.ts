/**
 * The entities that benchmarks use: `cities` and `debian-small` if the folder with the real data sets is there, else
 * those of the demo tenant. So every benchmark runs in a fresh clone.
 */
import { createReadStream, existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createGunzip } from 'node:zlib';
import { atlasEntities, hasAtlasPackages } from '../../../config/atlas-entities.ts';
import { CommandStop } from '../../../src/cli/terminal/command-line.ts';
import { getOwn, type Json, type JsonObject } from '../../../src/contract/json.ts';

export interface Entity {
  readonly originId: string;
  readonly type: string;
  readonly url: string | null;
  readonly originParentId: string | null;
  readonly redirects: readonly string[];
  readonly properties: JsonObject;
}

/** Where the real data sets are: `MILLRACE_BENCH_DATA`, else a folder beside the repository. */
export const dataDir =
  process.env.MILLRACE_BENCH_DATA ?? fileURLToPath(new URL('../../../../shared/data', import.meta.url));

let isDemoData = false;

/** A note for the report when the figures are not of the real data sets; null when they are, or when none was needed. */
export function dataNote(): string | null {
  return isDemoData
    ? 'Of the cities of the demo: MILLRACE_BENCH_DATA names no folder with `cities.ndjson.gz`. Figures of the real data set differ.'
    : null;
}

/** Continents, countries, regions, then cities. A city has `country` (a code) and `altitude`, whatever its source is. */
export async function cityEntities(citiesMax = Number.POSITIVE_INFINITY): Promise<Entity[]> {
  const file = path.join(dataDir, 'cities.ndjson.gz');
  const entities: Entity[] = [];
  let cities = 0;
  for await (const entity of existsSync(file) ? readNdjson(file) : demoCities()) {
    // Only more cities follow.
    if (entity.type === 'city' && ++cities > citiesMax) break;
    entities.push(entity);
  }
  return entities;
}

/** Debian's packages with their sections; null where the folder with the real data sets is missing. */
export async function packageEntities(): Promise<Entity[] | null> {
  const file = path.join(dataDir, 'debian-small.ndjson.gz');
  if (!existsSync(file)) return null;
  const entities: Entity[] = [];
  for await (const entity of readNdjson(file)) entities.push(entity);
  return entities;
}

async function* readNdjson(file: string): AsyncGenerator<Entity> {
  const packed = createReadStream(file);
  try {
    for await (const line of createInterface({ input: packed.pipe(createGunzip()) })) yield JSON.parse(line);
  } finally {
    packed.destroy();
  }
}

async function* demoCities(): AsyncGenerator<Entity> {
  if (!hasAtlasPackages()) {
    throw new CommandStop(
      'The benchmarks need data: npm ci --include=optional, or MILLRACE_BENCH_DATA=<a folder with cities.ndjson.gz>',
    );
  }
  isDemoData = true;
  for await (const entity of atlasEntities()) {
    if (entity.type === 'world') continue;
    yield entity.type === 'city' ? { ...entity, properties: asCity(entity.properties) } : entity;
  }
}

/** Renames properties: the demo tenant names some in another way than the data set. */
function asCity(properties: JsonObject): JsonObject {
  const countryId = String(getOwn(properties, 'countryId'));
  return {
    ...properties,
    country: countryId.slice('country-'.length),
    altitude: getOwn(properties, 'elevation') ?? null,
    updatedAt: String(getOwn(properties, 'updatedOn')).slice(0, 10),
  };
}

/** A property as text; empty when it is something else. */
export function textOf({ properties }: Entity, name: string): string {
  const value = getOwn(properties, name);
  return typeof value === 'string' ? value : '';
}

export function numberOf({ properties }: Entity, name: string): number {
  const value = getOwn(properties, name);
  return typeof value === 'number' ? value : 0;
}

export function textsOf({ properties }: Entity, name: string): string[] {
  const value: Json | undefined = getOwn(properties, name);
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
