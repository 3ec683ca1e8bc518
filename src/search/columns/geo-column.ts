import type { Json } from '../../contract/json.ts';
import { type Steps, workBudget } from '../../lib/cooperative-yield.ts';
import { Bitmap } from '../bitmap.ts';
import { type GeoPoint, geoPointOf } from '../fields/geo-point.ts';
import { type Condition, type DocTest, matchListed, matchNothing, matchTested } from '../filter/condition.ts';
import { siftBy, sparseShare } from '../filter/matcher.ts';
import { grown } from '../growth.ts';
import { float64, type PartReader, type Parts } from '../snapshot/parts.ts';
import type { Order } from '../sort/order.ts';
import { KeptOrder } from '../sort/sorted-docs.ts';
import type { Column } from './column.ts';
import { type GeoArea, geoAreaOf } from './geo-area.ts';
import { NearOrder, type PlacesReader } from './geo-order.ts';

import { ListArena } from './list-arena.ts';

/** Latitude and longitude of each location of a list, alternating. */
const numbersPerPlace = 2;

/** The cost of testing a place, in units of the work budget. */
const unitsPerPlace = 5;

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

  /** The order by distance from a location. */
  near(origin: GeoPoint, isDescending: boolean): Order {
    return new NearOrder(origin, isDescending, this.#reader());
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
