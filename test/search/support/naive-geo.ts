/** Geo comparisons as one would write them without caring for speed; see `naive.ts`. */
import type { Json, JsonObject } from '../../../src/contract/json.ts';

interface Place {
  readonly lat: number;
  readonly lon: number;
}

export function naivePlaces(type: string, value: Json): Place[] {
  if (value === null) return [];
  const all = type.endsWith('[]') ? (value as Json[]) : [value];
  return all.map((one) => {
    if (!Array.isArray(one)) return one as unknown as Place;
    const [lon, lat] = one as number[];
    return { lat: lat ?? 0, lon: lon ?? 0 };
  });
}

/** Distance in metres from the nearest of the points, by the angle between vectors; null for none. */
export function naiveDistance(from: Place, places: readonly Place[]): number | null {
  if (places.length === 0) return null;
  return Math.min(...places.map((place) => metres(from, place)));
}

/** Rounded to a micrometre, so that equal distances are equal. */
function metres(a: Place, b: Place): number {
  const [u, v] = [vectorOf(a), vectorOf(b)];
  const cross = Math.hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]);
  const dot = u[0] * v[0] + u[1] * v[1] + u[2] * v[2];
  return Math.round(6_371_008.8 * Math.atan2(cross, dot) * 1e6) / 1e6;
}

function vectorOf({ lat, lon }: Place): [number, number, number] {
  const [phi, lambda] = [(lat * Math.PI) / 180, (lon * Math.PI) / 180];
  return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)];
}

export function isWithin(place: Place, operator: string, asked: JsonObject): boolean {
  if (operator === 'withinDistance') {
    return (naiveDistance(asked as unknown as Place, [place]) ?? Infinity) <= Number(asked.meters);
  }
  const { north, south, east, west } = asked as Record<string, number>;
  if (place.lat > Number(north) || place.lat < Number(south)) return false;
  // Goes east from the west edge, in thousandths of a degree. A full turn later it is the same meridian.
  const [from, to, at] = [Number(west), Number(east), place.lon].map((lon) => Math.round(lon * 1000));
  const turn = 360_000;
  const width = (to ?? 0) - (from ?? 0) + (Number(east) < Number(west) ? turn : 0);
  return [-turn, 0, turn].some((turned) => {
    const along = (at ?? 0) + turned - (from ?? 0);
    return along >= 0 && along <= width;
  });
}
