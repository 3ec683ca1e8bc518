/** Parts of a shard as frames: first what the part is and how long, then its numbers as they lie in memory, or its values. */
import type { PlainValue } from '../../../search/columns/value-dictionary.ts';
import {
  type Numbers,
  type Part,
  type PartReader,
  SnapshotDamagedError,
  type Values,
} from '../../../search/snapshot/parts.ts';
import type { FrameReader } from './frames.ts';

/** One frame takes the event loop well under 10 ms, however it is used. */
const numberBytesPerFrame = 1024 * 1024;
const valuesPerFrame = 4096;
const valueBytesPerFrame = 256 * 1024;
const bytesPerCode = 4;

/** What a part is, by its array. */
const kinds = [Float64Array, Int32Array, Uint32Array, Int16Array, Uint8Array] as const;
const valuesKind = -1;

/** Before the bytes of its texts a frame of values has a code for each: one of these, or the length of a text in bytes. */
const missing = -1;
const no = -2;
const yes = -3;
/** A text has twice its length as its code, and one more where a character takes two bytes. */
const wide = 1;
const narrowText = /^[\0-\xff]*$/;

/** The frames of a part. Arrays are not copied. */
export function* framesOf(part: Part): Generator<Uint8Array, void, undefined> {
  if (isNumbers(part)) {
    yield announcement(kindOf(part), part.length);
    const all = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
    for (let from = 0; from < all.length; from += numberBytesPerFrame) {
      yield all.subarray(from, from + numberBytesPerFrame);
    }
    return;
  }
  yield announcement(valuesKind, part.length);
  for (let from = 0; from < part.length; ) {
    const { frame, count } = frameOfValues(part, from);
    yield frame;
    from += count;
  }
}

/** Reads parts from frames. */
export class FramedParts implements PartReader {
  constructor(private readonly frames: FrameReader) {}

  async numbers<A extends Numbers>(make: (length: number) => A): Promise<A> {
    const { kind, length } = await this.#announced();
    const numbers = make(length);
    if (kind !== kindOf(numbers)) throw new SnapshotDamagedError('a part is another one');
    const all = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
    for (let at = 0; at < all.length; ) at += await this.frames.nextInto(all.subarray(at));
    return numbers;
  }

  async values(take: (value: PlainValue | undefined) => void): Promise<void> {
    const { kind, length } = await this.#announced();
    if (kind !== valuesKind) throw new SnapshotDamagedError('a part is another one');
    for (let at = 0; at < length; ) at += takeValues(await this.frames.next(), take);
  }

  async #announced(): Promise<{ kind: number; length: number }> {
    const frame = await this.frames.next();
    if (frame.length !== announcement(0, 0).byteLength) throw new SnapshotDamagedError('a part is missing');
    return { kind: frame.readDoubleLE(0), length: frame.readDoubleLE(8) };
  }
}

function announcement(kind: number, length: number): Uint8Array {
  return new Uint8Array(Float64Array.of(kind, length).buffer);
}

function isNumbers(part: Part): part is Numbers {
  return ArrayBuffer.isView(part);
}

function kindOf(numbers: Numbers): number {
  return kinds.findIndex((kind) => numbers instanceof kind);
}

function frameOfValues(values: Values, from: number): { frame: Uint8Array; count: number } {
  const codes: number[] = [];
  const texts: Buffer[] = [];
  let bytes = 0;
  const end = Math.min(values.length, from + valuesPerFrame);
  for (let at = from; at < end && bytes < valueBytesPerFrame; at += 1) {
    const value = values.at(at);
    if (typeof value !== 'string') {
      codes.push(value === undefined ? missing : value ? yes : no);
      continue;
    }
    const isNarrow = narrowText.test(value);
    const text = Buffer.from(value, isNarrow ? 'latin1' : 'utf16le');
    codes.push(2 * text.length + (isNarrow ? 0 : wide));
    texts.push(text);
    bytes += text.length;
  }
  const head = Int32Array.from([codes.length, ...codes]);
  return { frame: Buffer.concat([new Uint8Array(head.buffer), ...texts]), count: codes.length };
}

/** @returns how many there were */
function takeValues(frame: Buffer, take: (value: PlainValue | undefined) => void): number {
  const count = frame.readInt32LE(0);
  let from = bytesPerCode * (count + 1);
  for (let at = 1; at <= count; at += 1) {
    const code = frame.readInt32LE(bytesPerCode * at);
    if (code < 0) {
      take(code === missing ? undefined : code === yes);
      continue;
    }
    const end = from + (code >>> 1);
    take(frame.toString((code & wide) === 0 ? 'latin1' : 'utf16le', from, end));
    from = end;
  }
  return count;
}
