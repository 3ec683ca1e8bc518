import type { PlainValue } from './value-dictionary.ts';

export type PlaceValue = PlainValue | null;

/** One key of a sort, bound to the docs of a shard and to its direction: "smaller" means earlier in the answer. */
export interface Order {
  /** True when docs with equal keys are equal; otherwise `compare` decides between them. */
  readonly isExact: boolean;
  readonly isDescending: boolean;
  /** A number that orders like the doc's value, `Infinity` when it has none (absent values are last in both orders). */
  key(doc: number): number;
  /** `key` of many docs at once. */
  keys(docs: Int32Array, count: number, into: Float64Array): void;
  /** Of docs with equal keys. */
  compare(a: number, b: number): number;
  /** What the doc is sorted by, as it stands in a `RowPlace`. */
  value(doc: number): PlaceValue;
  /** The key of a value out of a `RowPlace`. */
  keyOf(value: PlaceValue): number;
  /** The doc against a value whose key equals the doc's. */
  compareTo(doc: number, value: PlaceValue): number;
}

/** For a field that no doc has. */
export const absentOrder: Order = {
  isExact: true,
  isDescending: false,
  key: () => Infinity,
  keys: (_docs, count, into) => {
    into.fill(Infinity, 0, count);
  },
  compare: () => 0,
  value: () => null,
  keyOf: () => Infinity,
  compareTo: () => 0,
};
