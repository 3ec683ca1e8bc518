import type { Json } from '../../contract/json.ts';
import { Bitmap } from '../bitmap.ts';
import type { Condition } from '../filter/condition.ts';
import { type DocTest, matchNothing, matchTested } from '../filter/doc-test.ts';
import { grown } from '../growth.ts';
import { pace, type Steps } from '../pace.ts';
import type { Order } from '../sort/order.ts';
import type { Column } from './column.ts';
import { NearOrder } from './geo-order.ts';
import { type GeoPoint, geoPointOf } from './geo-point.ts';
import { geoTestOf } from './geo-test.ts';
import { ListArena } from './list-arena.ts';

/** Latitude and longitude of each place of a doc, one behind the other. */
const numbersPerPlace = 2;
/** The cost of testing a place, in units of the pace. */
const unitsPerPlace = 5;

/** Places on the earth: of a `geoPoint` one for each doc, of a `geoPoint[]` several. A place takes 16 bytes. */
export class GeoColumn implements Column {
  readonly present: Bitmap;
  readonly #isList: boolean;
  /** Of a list. */
  readonly #lists: ListArena<Float64Array>;
  /** Of single places, by doc; NaN for none. */
  #places: Float64Array;

  constructor(capacity: number, isList: boolean) {
    this.present = new Bitmap(capacity);
    this.#isList = isList;
    this.#lists = new ListArena(isList ? capacity : 0, (length) => new Float64Array(length));
    this.#places = new Float64Array(isList ? 0 : capacity * numbersPerPlace).fill(Number.NaN);
  }

  get bytes(): number {
    return this.#places.byteLength + (this.#isList ? this.#lists.bytes : 0);
  }

  set(doc: number, value: Json): Steps<void> | null {
    if (this.#isList) return this.#setList(doc, value);
    const point = geoPointOf(value);
    if (point === null) return null;
    this.#places[doc * numbersPerPlace] = point.lat;
    this.#places[doc * numbersPerPlace + 1] = point.lon;
    this.present.add(doc);
    return null;
  }

  clear(doc: number): null {
    if (this.#isList) this.#lists.clear(doc);
    else this.#places.fill(Number.NaN, doc * numbersPerPlace, (doc + 1) * numbersPerPlace);
    this.present.remove(doc);
    return null;
  }

  *grow(capacity: number): Steps<void> {
    this.present.grow(capacity);
    if (this.#isList) yield* this.#lists.grow(capacity);
    else this.#places = yield* grown(this.#places, new Float64Array(capacity * numbersPerPlace), Number.NaN);
  }

  *match(condition: Condition): Steps<DocTest> {
    const accepts = geoTestOf(condition);
    if (accepts === null) return matchNothing;
    const { items, startOf, endOf } = this.#reader();
    return matchTested((doc) => {
      const end = endOf(doc);
      for (let at = startOf(doc); at < end; at += numbersPerPlace) {
        pace.units += unitsPerPlace;
        if (accepts(items[at] ?? Number.NaN, items[at + 1] ?? Number.NaN)) return true;
      }
      return false;
    });
  }

  /** Places have no order by themselves; see `near`. */
  order(): null {
    return null;
  }

  /** The order by the distance from a place. */
  near(origin: GeoPoint, isDescending: boolean): Order {
    return new NearOrder(origin, isDescending, this.#reader());
  }

  *#setList(doc: number, value: Json): Steps<void> {
    if (!Array.isArray(value)) return;
    const numbers: number[] = [];
    for (const item of value) {
      const point = geoPointOf(item);
      if (point !== null) numbers.push(point.lat, point.lon);
      pace.units += unitsPerPlace;
      if (pace.isOver()) yield;
    }
    const growing = this.#lists.reserve(numbers.length);
    if (growing !== null) yield* growing;
    this.#lists.set(doc, numbers);
    this.present.add(doc);
  }

  #reader(): PlacesReader {
    const places = this.#places;
    if (!this.#isList) {
      return {
        items: places,
        startOf: (doc) => doc * numbersPerPlace,
        endOf: (doc) =>
          Number.isNaN(places[doc * numbersPerPlace] ?? Number.NaN) ? 0 : (doc + 1) * numbersPerPlace,
      };
    }
    const { items, starts, counts } = this.#lists;
    return {
      items,
      startOf: (doc) => starts[doc] ?? 0,
      endOf: (doc) => (starts[doc] ?? 0) + (counts[doc] ?? 0),
    };
  }
}

/** Reads the places of docs, as they are now. */
export interface PlacesReader {
  /** Latitudes, each with its longitude behind it. */
  readonly items: Float64Array;
  startOf(doc: number): number;
  /** Not above `startOf` for a doc without a place. */
  endOf(doc: number): number;
}
