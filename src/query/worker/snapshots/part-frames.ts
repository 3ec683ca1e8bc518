/** Parts of a shard as frames: first what the part is and how long, then its numbers as they lie in memory. */
import { type Part, type PartReader, SnapshotDamagedError } from '../../../search/snapshot/parts.ts';
import type { FrameReader } from './frames.ts';

/** One frame takes the event loop well under 10 ms, however it is used. */
const frameBytesMax = 1024 * 1024;

/** What a part is, by its array. */
const kinds = [Float64Array, Int32Array, Uint32Array, Int16Array, Uint8Array] as const;

/** The frames of a part. It is not copied. */
export function* framesOf(part: Part): Generator<Uint8Array, void, undefined> {
  yield new Uint8Array(Float64Array.of(kindOf(part), part.length).buffer);
  const all = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
  for (let from = 0; from < all.length; from += frameBytesMax) yield all.subarray(from, from + frameBytesMax);
}

/** Reads parts from frames. */
export class FramedParts implements PartReader {
  readonly #announcement = Buffer.alloc(2 * Float64Array.BYTES_PER_ELEMENT);

  constructor(private readonly frames: FrameReader) {}

  async numbers<A extends Part>(make: (length: number) => A): Promise<A> {
    const bytes = await this.frames.nextInto(this.#announcement);
    if (bytes !== this.#announcement.length) throw new SnapshotDamagedError('a part is missing');
    const numbers = make(this.#announcement.readDoubleLE(Float64Array.BYTES_PER_ELEMENT));
    if (this.#announcement.readDoubleLE(0) !== kindOf(numbers)) {
      throw new SnapshotDamagedError('a part is another one');
    }
    const all = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
    for (let at = 0; at < all.length; ) at += await this.frames.nextInto(all.subarray(at));
    return numbers;
  }
}

function kindOf(part: Part): number {
  return kinds.findIndex((kind) => part instanceof kind);
}
