/** What a query says of places on the earth (docs/reference/indexes-and-queries.md "Places"). */
import type { FilterOperator } from '../../contract/filter-operators.ts';
import type { Json, JsonObject } from '../../contract/json.ts';
import { getOwn, isJsonObject } from '../../contract/json.ts';
import { type GeoPoint, isDegrees, latitudeMax, longitudeMax } from '../columns/geo-point.ts';
import type { FieldMeaning } from '../fields/field-table.ts';
import { type Mistakes, quote } from './mistakes.ts';

export type GeoOperator = Extract<FilterOperator, 'withinDistance' | 'withinBox'>;

export function isGeoOperator(operator: FilterOperator): operator is GeoOperator {
  return operator === 'withinDistance' || operator === 'withinBox';
}

export function isOfPlaces(meaning: FieldMeaning): boolean {
  return meaning.kind === 'field' && meaning.traits.kind === 'geo';
}

/** Checks a condition with a geo operator. @returns its value with nothing but the members that count */
export function checkGeoCondition(
  meaning: FieldMeaning,
  field: string,
  operator: GeoOperator,
  value: Json,
  place: string,
  mistakes: Mistakes,
): JsonObject {
  if (meaning.kind === 'field' && !isOfPlaces(meaning)) {
    const text = `${operator} needs a field of type geoPoint or geoPoint[]; ${quote(field)} is of type ${meaning.type}`;
    mistakes.add(`${place}.operator`, text);
  }
  return operator === 'withinDistance'
    ? checkCircle(value, `${place}.value`, mistakes)
    : checkBox(value, `${place}.value`, mistakes);
}

function checkCircle(value: Json, place: string, mistakes: Mistakes): JsonObject {
  if (!isJsonObject(value)) {
    mistakes.add(place, `withinDistance needs {"lat", "lon", "meters"}, not ${quote(value)}`);
    return {};
  }
  const meters = getOwn(value, 'meters') ?? null;
  const isDistance = typeof meters === 'number' && meters >= 0 && Number.isFinite(meters);
  if (!isDistance) mistakes.add(`${place}.meters`, `must be a number from 0, not ${quote(meters)}`);
  return { ...checkPoint(value, place, mistakes), meters };
}

function checkBox(value: Json, place: string, mistakes: Mistakes): JsonObject {
  if (!isJsonObject(value)) {
    mistakes.add(place, `withinBox needs {"north", "south", "east", "west"}, not ${quote(value)}`);
    return {};
  }
  const degrees = (name: string, max: number) => checkDegrees(value, name, max, place, mistakes);
  const north = degrees('north', latitudeMax);
  const south = degrees('south', latitudeMax);
  const east = degrees('east', longitudeMax);
  const west = degrees('west', longitudeMax);
  if (north !== null && south !== null && north < south) {
    mistakes.add(place, `north ${north} is below south ${south}`);
  }
  return { north, south, east, west };
}

/** The origin of a sort by distance; null after a mistake. */
export function checkOrigin(near: Json, place: string, mistakes: Mistakes): GeoPoint | null {
  if (!isJsonObject(near)) {
    mistakes.add(place, `must be {"lat", "lon"}, not ${quote(near)}`);
    return null;
  }
  const { lat, lon } = checkPoint(near, place, mistakes);
  return lat === null || lon === null ? null : { lat, lon };
}

function checkPoint(
  point: JsonObject,
  place: string,
  mistakes: Mistakes,
): { lat: number | null; lon: number | null } {
  return {
    lat: checkDegrees(point, 'lat', latitudeMax, place, mistakes),
    lon: checkDegrees(point, 'lon', longitudeMax, place, mistakes),
  };
}

function checkDegrees(
  value: JsonObject,
  name: string,
  max: number,
  place: string,
  mistakes: Mistakes,
): number | null {
  const degrees = getOwn(value, name) ?? null;
  if (isDegrees(degrees, max)) return degrees;
  mistakes.add(`${place}.${name}`, `must be a number from -${max} to ${max}, not ${quote(degrees)}`);
  return null;
}
