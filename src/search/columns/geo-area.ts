import { getOwn, isJsonObject, type Json } from '../../contract/json.ts';
import { distanceFrom, type GeoPoint, longitudeMax, metresPerDegree } from '../fields/geo-point.ts';
import type { Condition } from '../filter/condition.ts';

/** An area on the earth. */
export interface GeoArea {
  /** Latitudes of all locations in the area are between `south` and `north`. */
  readonly south: number;
  readonly north: number;
  /** True for a location in the area. */
  has(lat: number, lon: number): boolean;
}

/** More than the rounding error of distances. */
const slackMetres = 1;

/** Locations within a radius. Latitude alone excludes most, because no point is closer than its parallel. */
export function circle(from: GeoPoint, metres: number): GeoArea {
  const distanceTo = distanceFrom(from);
  const band = (metres + slackMetres) / metresPerDegree;
  const south = from.lat - band;
  const north = from.lat + band;
  return {
    south,
    north,
    has: (lat, lon) => lat >= south && lat <= north && distanceTo(lat, lon) <= metres,
  };
}

/** In degrees. If west is greater than east, the box crosses the date line. */
export interface GeoBox {
  readonly north: number;
  readonly south: number;
  readonly east: number;
  readonly west: number;
}

/** Locations in a box, including its edges. -180 and 180 are the same meridian. */
export function box({ north, south, east, west }: GeoBox): GeoArea {
  const isBetween: (lon: number) => boolean =
    west <= east ? (lon) => lon >= west && lon <= east : (lon) => lon >= west || lon <= east;
  return {
    south,
    north,
    has: (lat, lon) =>
      lat >= south && lat <= north && (isBetween(lon) || (Math.abs(lon) === longitudeMax && isBetween(-lon))),
  };
}

/** The area of a condition from `checkQuery`; null if it is not a geo condition. */
export function geoAreaOf({ operator, value }: Condition): GeoArea | null {
  if (operator === 'withinDistance') {
    const [lat, lon, metres] = numbersOf(value, ['lat', 'lon', 'meters']);
    return circle({ lat: lat ?? 0, lon: lon ?? 0 }, metres ?? -1);
  }
  if (operator !== 'withinBox') return null;
  const [north, south, east, west] = numbersOf(value, ['north', 'south', 'east', 'west']);
  return box({ north: north ?? -1, south: south ?? 1, east: east ?? 0, west: west ?? 0 });
}

function numbersOf(value: Json, names: readonly string[]): (number | undefined)[] {
  return names.map((name) => {
    const number = isJsonObject(value) ? getOwn(value, name) : undefined;
    return typeof number === 'number' ? number : undefined;
  });
}
