import { getOwn, isJsonObject, type Json } from '../../contract/json.ts';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { Bitmap } from '../bitmap.ts';
import {
  distanceFrom,
  type GeoPoint,
  geoPointOf,
  longitudeMax,
  metresPerDegree,
} from '../fields/geo-point.ts';
import { type Condition, type DocTest, matchListed, matchNothing, matchTested } from '../filter/condition.ts';
import { siftBy, sparseShare } from '../filter/matcher.ts';
import { grown } from '../growth.ts';
import { float64, type PartReader, type Parts } from '../snapshot/parts.ts';
import { NumberOrder, type Order } from '../sort/order.ts';
import { KeptOrder } from '../sort/sorted-docs.ts';
import type { Column } from './column.ts';
import { ListArena } from './list-arena.ts';

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

/** Latitude and longitude of each location of a list, alternating. */
const numbersPerPlace = 2;

/** The cost of testing a place, in units of the work budget. */
const unitsPerPlace = 5;
/** The cost of a distance, in units of the work budget. */
const unitsPerDistance = 25;

/** Reads the current locations of docs. */
interface PlacesReader {
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

/** Locations: one per doc for a `geoPoint`, several for a `geoPoint[]`. A location takes 16 bytes. */
export class GeoColumn implements Column {
  readonly present: Bitmap;
  readonly #isList: boolean;
  /** Only for lists. */
  readonly #lists: ListArena<Float64Array>;
  /** Only for single locations, by doc; NaN for none. */
  #lats: Float64Array;
  #lons: Float64Array;
  /** Only for single locations. */
  readonly #byLatitude = new KeptOrder();

  constructor(capacity: number, isList: boolean) {
    this.present = new Bitmap(capacity);
    this.#isList = isList;
    this.#lists = new ListArena(isList ? capacity : 0, (length) => new Float64Array(length));
    this.#lats = new Float64Array(isList ? 0 : capacity).fill(Number.NaN);
    this.#lons = new Float64Array(isList ? 0 : capacity).fill(Number.NaN);
  }

  get bytes(): number {
    if (this.#isList) return this.#lists.bytes;
    return this.#lats.byteLength + this.#lons.byteLength + this.#byLatitude.bytes;
  }

  set(doc: number, value: Json): Steps<void> | null {
    if (this.#isList) return this.#setList(doc, value);
    const point = geoPointOf(value);
    if (point === null) return null;
    this.#place(doc, point);
    this.present.add(doc);
    return null;
  }

  clear(doc: number): null {
    if (this.#isList) this.#lists.clear(doc);
    else this.#place(doc, { lat: Number.NaN, lon: Number.NaN });
    this.present.remove(doc);
    return null;
  }

  *parts(): Parts {
    yield* this.present.parts();
    yield* this.#lists.parts();
    yield this.#lats;
    yield this.#lons;
  }

  async restore(from: PartReader): Promise<void> {
    await this.present.restore(from);
    await this.#lists.restore(from);
    this.#lats = await from.numbers(float64);
    this.#lons = await from.numbers(float64);
  }

  *grow(capacity: number): Steps<void> {
    this.present.grow(capacity);
    if (this.#isList) {
      yield* this.#lists.grow(capacity);
      return;
    }
    this.#lats = yield* grown(this.#lats, new Float64Array(capacity), Number.NaN);
    this.#lons = yield* grown(this.#lons, new Float64Array(capacity), Number.NaN);
  }

  *match(condition: Condition): Steps<DocTest> {
    const area = geoAreaOf(condition);
    if (area === null) return matchNothing;
    const { lats, lons, step, lonBehind, startOf, endOf } = this.#reader();
    const isWithin = (doc: number): boolean => {
      const end = endOf(doc);
      for (let at = startOf(doc); at < end; at += step) {
        workBudget.units += unitsPerPlace;
        if (area.has(lats[at] ?? Number.NaN, lons[at + lonBehind] ?? Number.NaN)) return true;
      }
      return false;
    };
    const near = this.#isList ? null : yield* this.#betweenParallels(area);
    if (near === null) return matchTested(isWithin);
    const count = yield* siftBy(isWithin, near, near.length);
    return matchListed(near.subarray(0, count), isWithin);
  }

  /** The docs between the parallels of an area; null if there are so many that a scan is as good. */
  *#betweenParallels({ south, north }: GeoArea): Steps<Int32Array | null> {
    const ordered = yield* this.#byLatitude.asked(this.#lats);
    if (ordered === null) return null;
    const stretch = { low: south, high: north };
    const count = ordered.count(this.#lats, stretch);
    if (count * sparseShare > this.#lats.length) return null;
    const all = { isDescending: false, limit: Number.POSITIVE_INFINITY, after: null };
    return (yield* ordered.first(this.#lats, stretch, all)).docs;
  }

  #place(doc: number, { lat, lon }: GeoPoint): void {
    this.#byLatitude.move(doc, this.#lats[doc] ?? Number.NaN);
    this.#lats[doc] = lat;
    this.#lons[doc] = lon;
  }

  /** Locations have no order of their own; see `near`. */
  order(): null {
    return null;
  }

  /** The order by distance in metres from a location; for lists, by that of the nearest item. */
  near(origin: GeoPoint, isDescending: boolean): Order {
    const distanceTo = distanceFrom(origin);
    const { lats, lons, step, lonBehind, startOf, endOf } = this.#reader();
    return NumberOrder.of(isDescending, (doc) => {
      const end = endOf(doc);
      let nearest = Infinity;
      for (let at = startOf(doc); at < end; at += step) {
        nearest = Math.min(nearest, distanceTo(lats[at] ?? 0, lons[at + lonBehind] ?? 0));
        workBudget.units += unitsPerDistance;
      }
      return nearest === Infinity ? Number.NaN : nearest;
    });
  }

  *#setList(doc: number, value: Json): Steps<void> {
    if (!Array.isArray(value)) return;
    const numbers: number[] = [];
    for (const item of value) {
      const point = geoPointOf(item);
      if (point !== null) numbers.push(point.lat, point.lon);
      workBudget.units += unitsPerPlace;
      if (workBudget.isOver()) yield;
    }
    const growing = this.#lists.reserve(numbers.length);
    if (growing !== null) yield* growing;
    this.#lists.set(doc, numbers);
    this.present.add(doc);
  }

  #reader(): PlacesReader {
    if (!this.#isList) {
      const [lats, lons] = [this.#lats, this.#lons];
      const endOf = (doc: number) => (Number.isNaN(lats[doc] ?? Number.NaN) ? 0 : doc + 1);
      return { lats, lons, step: 1, lonBehind: 0, startOf: (doc) => doc, endOf };
    }
    const { items, starts, counts } = this.#lists;
    return {
      lats: items,
      lons: items,
      step: numbersPerPlace,
      lonBehind: 1,
      startOf: (doc) => starts[doc] ?? 0,
      endOf: (doc) => (starts[doc] ?? 0) + (counts[doc] ?? 0),
    };
  }
}
