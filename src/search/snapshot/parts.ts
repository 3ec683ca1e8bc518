/**
 * What a shard is built from, for a file: arrays of numbers as they are in memory. A structure gives its parts in an order, and
 * takes them back in the same one. What queries make for themselves, such as sorted docs, is not included.
 */
export type Part = Float64Array | Int32Array | Uint32Array | Int16Array | Uint8Array;

/** Parts as they are now. They are not copies: the structure must not change before the last part is written. */
export type Parts = Generator<Part, void, undefined>;

/** Gives parts back, in their order. */
export interface PartReader {
  /** @param make an array of this many zeros @throws SnapshotDamagedError when the next part is another one, or damaged */
  numbers<A extends Part>(make: (length: number) => A): Promise<A>;
}

/** A file is not what was written, or was written by something else. The message says what is wrong. */
export class SnapshotDamagedError extends Error {}

export const float64 = (length: number) => new Float64Array(length);
export const int32 = (length: number) => new Int32Array(length);
export const uint32 = (length: number) => new Uint32Array(length);
export const int16 = (length: number) => new Int16Array(length);
export const uint8 = (length: number) => new Uint8Array(length);
export const bytes = (length: number) => Buffer.allocUnsafeSlow(length);
