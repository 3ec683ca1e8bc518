/**
 * The parts of a shard for a file: numeric arrays as in memory. Each structure yields its parts and restores them in the same
 * order. Data derived for queries, such as sorted docs, are not included.
 */
export type Part = Float64Array | Int32Array | Uint32Array | Int16Array | Uint8Array;

/** The parts are not copies: the structure must not change before the last part is written. */
export type Parts = Generator<Part, void, undefined>;

/** Reads parts in order. */
export interface PartReader {
  /**
   * @param make creates a zeroed array of this length
   * @throws SnapshotDamagedError if the next part has another type or is damaged
   */
  numbers<A extends Part>(make: (length: number) => A): Promise<A>;
}

/** The file is damaged or from another program. The message gives details. */
export class SnapshotDamagedError extends Error {}

export const float64 = (length: number) => new Float64Array(length);
export const int32 = (length: number) => new Int32Array(length);
export const uint32 = (length: number) => new Uint32Array(length);
export const int16 = (length: number) => new Int16Array(length);
export const uint8 = (length: number) => new Uint8Array(length);
export const bytes = (length: number) => Buffer.allocUnsafeSlow(length);
