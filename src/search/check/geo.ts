/** Checks the geo options of a query (docs/reference/indexes-and-queries.md "Places"). */

import { isJsonObject, type Json, type JsonObject } from '../../contract/json.ts';
import type { FilterOperator } from '../../contract/query-names.ts';
import { boxShape, circleShape, nearShape } from '../../contract/shapes-query.ts';
import type { GeoPoint } from '../fields/geo-point.ts';
import { describeObject } from './member-rule.ts';
import { readerOf } from './members.ts';
import { type NamedField, type QueryErrors, quote } from './query-errors.ts';

const readCircle = readerOf(circleShape, 'ignored');
const readBox = readerOf(boxShape, 'ignored');
const readNear = readerOf(nearShape, 'ignored');

export type GeoOperator = Extract<FilterOperator, 'withinDistance' | 'withinBox'>;

export function isGeoOperator(operator: FilterOperator): operator is GeoOperator {
  return operator === 'withinDistance' || operator === 'withinBox';
}

export function isOfPlaces(named: NamedField | null): boolean {
  return named?.kind === 'field' && named.traits.kind === 'geo';
}

/** Checks a condition with a geo operator. @returns its value with only the known members */
export function checkGeoCondition(
  named: NamedField | null,
  field: string,
  operator: GeoOperator,
  value: Json,
  place: string,
  errors: QueryErrors,
): JsonObject {
  if (named?.kind === 'field' && !isOfPlaces(named)) {
    const text = `${operator} needs a field of type geoPoint or geoPoint[]; ${quote(field)} is of type ${named.type}`;
    errors.add(`${place}.operator`, text);
  }
  if (!isJsonObject(value)) {
    const needed = describeObject(operator === 'withinDistance' ? circleShape : boxShape);
    errors.add(`${place}.value`, `${operator} needs ${needed}, not ${quote(value)}`);
    return {};
  }
  return operator === 'withinDistance'
    ? checkCircle(value, `${place}.value`, errors)
    : checkBox(value, `${place}.value`, errors);
}

function checkCircle(value: JsonObject, place: string, errors: QueryErrors): JsonObject {
  const { lat = null, lon = null, meters = null } = readCircle(value, place, errors) ?? {};
  return { lat, lon, meters };
}

function checkBox(value: JsonObject, place: string, errors: QueryErrors): JsonObject {
  const { north = null, south = null, east = null, west = null } = readBox(value, place, errors) ?? {};
  if (north !== null && south !== null && north < south) {
    errors.add(place, `north ${north} is below south ${south}`);
  }
  return { north, south, east, west };
}

/** The origin of a sort by distance; null after an error. */
export function checkOrigin(near: JsonObject, place: string, errors: QueryErrors): GeoPoint | null {
  const { lat = null, lon = null } = readNear(near, place, errors) ?? {};
  return lat === null || lon === null ? null : { lat, lon };
}
