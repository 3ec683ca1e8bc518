/** Geographic points (docs/reference/indexes-and-queries.md "Places"). */
import type { Json } from '../../contract/json.ts';
import { getOwn, isJsonObject } from '../../contract/json.ts';

/** In degrees: latitude from -90 to 90, longitude from -180 to 180. */
export interface GeoPoint {
  readonly lat: number;
  readonly lon: number;
}

export const latitudeMax = 90;
export const longitudeMax = 180;

/** The mean radius of the earth according to the IUGG. */
const earthRadiusMetres = 6_371_008.8;
const radiansPerDegree = Math.PI / 180;
/** Length of a degree of latitude, in metres. */
export const metresPerDegree = earthRadiusMetres * radiansPerDegree;

/** True for a number of degrees from -max to max. */
export function isDegrees(value: Json, max: number): value is number {
  return typeof value === 'number' && value >= -max && value <= max;
}

/** The point of a value as it was sent: `{lat, lon}` or `[lon, lat]` and nothing else. Null for other values. */
export function geoPointOf(value: Json): GeoPoint | null {
  const [lat = null, lon = null] = coordinatesOf(value);
  return isDegrees(lat, latitudeMax) && isDegrees(lon, longitudeMax) ? { lat, lon } : null;
}

function coordinatesOf(value: Json): readonly Json[] {
  if (Array.isArray(value)) return value.length === 2 ? value.toReversed() : [];
  if (!isJsonObject(value) || Object.keys(value).length !== 2) return [];
  return [getOwn(value, 'lat') ?? null, getOwn(value, 'lon') ?? null];
}

/** The distance to a point, in metres. */
export type DistanceTo = (lat: number, lon: number) => number;

/** Distances from a point on a sphere, by the haversine formula. Equivalent coordinates have the same distance. */
export function distanceFrom(from: GeoPoint): DistanceTo {
  const cosine = latitudeCosine(from.lat);
  const fromLon = oneMeridian(from.lon);
  return (lat, lon) => {
    const north = Math.sin(((lat - from.lat) * radiansPerDegree) / 2);
    const east = Math.sin(((oneMeridian(lon) - fromLon) * radiansPerDegree) / 2);
    const share = north * north + cosine * latitudeCosine(lat) * east * east;
    return 2 * earthRadiusMetres * Math.asin(Math.min(1, Math.sqrt(share)));
  };
}

/** Exactly 0 at the poles, which are one point for all longitudes. The cosine of a rounded right angle is not 0. */
function latitudeCosine(lat: number): number {
  return Math.abs(lat) === latitudeMax ? 0 : Math.cos(lat * radiansPerDegree);
}

/** -180 and 180 degrees are the same meridian. */
function oneMeridian(lon: number): number {
  return lon === -longitudeMax ? longitudeMax : lon;
}
