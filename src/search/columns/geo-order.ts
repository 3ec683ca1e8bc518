import { workBudget } from '../../lib/cooperative-yield.ts';
import { type DistanceTo, distanceFrom, type GeoPoint } from '../fields/geo-point.ts';
import type { Order, PlaceValue } from '../sort/order.ts';

/** The cost of a distance, in units of the work budget. */
const unitsPerDistance = 25;

/** Sorts by distance from a location; for lists, by that of the nearest item. */
export class NearOrder implements Order {
  readonly isExact = true;
  readonly isDescending: boolean;
  readonly #sign: number;
  readonly #distanceTo: DistanceTo;
  readonly #places: PlacesReader;

  constructor(origin: GeoPoint, isDescending: boolean, places: PlacesReader) {
    this.isDescending = isDescending;
    this.#sign = isDescending ? -1 : 1;
    this.#distanceTo = distanceFrom(origin);
    this.#places = places;
  }

  key(doc: number): number {
    const distance = this.#nearest(doc);
    return distance === Infinity ? Infinity : this.#sign * distance;
  }

  keys(docs: Int32Array, from: number, end: number, into: Float64Array): number {
    let at = from;
    while (at < end) {
      into[at] = this.key(docs[at] ?? 0);
      at += 1;
      if (workBudget.units >= workBudget.unitsPerClockCheck) break;
    }
    return at;
  }

  compare(): number {
    return 0;
  }

  /** The distance in metres. */
  value(doc: number): PlaceValue {
    const distance = this.#nearest(doc);
    return distance === Infinity ? null : distance;
  }

  keyOf(value: PlaceValue): number {
    return value === null ? Infinity : this.#sign * Number(value);
  }

  compareTo(): number {
    return 0;
  }

  /** Distance of the nearest location in metres; Infinity if there is none. */
  #nearest(doc: number): number {
    const { lats, lons, step, lonBehind } = this.#places;
    const end = this.#places.endOf(doc);
    let nearest = Infinity;
    for (let at = this.#places.startOf(doc); at < end; at += step) {
      nearest = Math.min(nearest, this.#distanceTo(lats[at] ?? 0, lons[at + lonBehind] ?? 0));
      workBudget.units += unitsPerDistance;
    }
    return nearest;
  }
}

/** Reads the current locations of docs. */
export interface PlacesReader {
  readonly lats: Float64Array;
  readonly lons: Float64Array;
  /** Index difference between successive latitudes. */
  readonly step: number;
  /** Index difference between a latitude and its longitude. */
  readonly lonBehind: number;
  /** Index of a doc's first latitude. */
  startOf(doc: number): number;
  /** Not above `startOf` for a doc without a location. */
  endOf(doc: number): number;
}
