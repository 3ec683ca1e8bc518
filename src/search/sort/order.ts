import type { PlainValue } from '../packed-values.ts';

export type PlaceValue = PlainValue | null;

/** One key of a sort, bound to the docs of a shard and to its direction: "smaller" means earlier in the answer. */
export interface Order {
  /** True when docs with equal keys are equal; otherwise `compare` decides between them. */
  readonly isExact: boolean;
  readonly isDescending: boolean;
  /**
   * A number that orders like the doc's value. It is `Infinity` for no value, because absent values are last in both
   * orders.
   */
  key(doc: number): number;
  /** Writes `key` of the docs at `from`..`end` to the same places of `into`. @returns how far it got */
  keys(docs: Int32Array, from: number, end: number, into: Float64Array): number;
  /** Compares docs with equal keys. */
  compare(a: number, b: number): number;
  /** The value by which the doc is sorted, as it is in a `RowPlace`. */
  value(doc: number): PlaceValue;
  /** The key of a value from a `RowPlace`. */
  keyOf(value: PlaceValue): number;
  /** Compares the doc with a value whose key equals the doc's. */
  compareTo(doc: number, value: PlaceValue): number;
}

/** The order of a field that no doc has. */
export const absentOrder: Order = {
  isExact: true,
  isDescending: false,
  key: () => Infinity,
  keys: (_docs, from, end, into) => {
    into.fill(Infinity, from, end);
    return end;
  },
  compare: () => 0,
  value: () => null,
  keyOf: () => Infinity,
  compareTo: () => 0,
};
