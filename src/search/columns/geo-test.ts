import type { Json } from '../../contract/json.ts';
import { getOwn, isJsonObject } from '../../contract/json.ts';
import type { Condition } from '../filter/condition.ts';
import { type GeoTest, withinBox, withinDistance } from './geo-point.ts';

/** A condition from `checkQuery` as a test of places; null when no place can pass. */
export function geoTestOf({ operator, value }: Condition): GeoTest | null {
  if (operator === 'withinDistance') {
    const [lat, lon, metres] = numbersOf(value, ['lat', 'lon', 'meters']);
    return withinDistance({ lat: lat ?? 0, lon: lon ?? 0 }, metres ?? -1);
  }
  if (operator !== 'withinBox') return null;
  const [north, south, east, west] = numbersOf(value, ['north', 'south', 'east', 'west']);
  return withinBox({ north: north ?? -1, south: south ?? 1, east: east ?? 0, west: west ?? 0 });
}

function numbersOf(value: Json, names: readonly string[]): (number | undefined)[] {
  return names.map((name) => {
    const number = isJsonObject(value) ? getOwn(value, name) : undefined;
    return typeof number === 'number' ? number : undefined;
  });
}
