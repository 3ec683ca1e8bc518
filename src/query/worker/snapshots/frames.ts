/**
 * The file of a snapshot: frames of bytes, each with its length and a digest of its bytes and all before them. So a file that
 * was cut, damaged anywhere, or mixed up, also with another snapshot, is noticed before anything of it is used.
 */
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { shardSliceMs } from '../../../contract/limits.ts';
import { Slice } from '../../../lib/slices/slice.ts';
import { SnapshotDamagedError } from '../../../search/snapshot/parts.ts';

/** Length and digest before the bytes of a frame. */
const digestBytes = 32;
const headBytes = 4 + digestBytes;
/** The digest that the first frame follows: each digest includes the one before. */
const noDigest = Buffer.alloc(0);
/** No frame is so large. It keeps a damaged length from taking memory. */
const frameBytesMax = 256 * 1024 * 1024;
/** A read of the file takes as long as a frame of it: a thread has to do it. */
const aheadBytes = 128 * 1024;

/** Appends frames to a file. */
export class FrameWriter {
  /** Of the frame before. */
  #digest: Buffer = noDigest;

  constructor(private readonly file: FileHandle) {}

  /** Writes bytes, which may be changed again when it resolves. The digest is taken at once. @throws what the disk says */
  async write(bytes: Uint8Array): Promise<void> {
    const head = Buffer.alloc(headBytes);
    head.writeUInt32LE(bytes.byteLength);
    this.#digest = digestOf(this.#digest, bytes);
    this.#digest.copy(head, 4);
    await writeWhole(this.file, head);
    await writeWhole(this.file, bytes);
  }
}

/** Reads frames from the beginning of a file, in slices. */
export class FrameReader {
  #count = 0;
  /** Of the frame before. */
  #digest: Buffer = noDigest;
  readonly #head = Buffer.alloc(headBytes);
  /** Data that was read but not consumed: from `#from` up to `#end`. */
  readonly #ahead = Buffer.allocUnsafeSlow(aheadBytes);
  #from = 0;
  #end = 0;
  readonly #slice = new Slice(shardSliceMs);

  private constructor(private readonly file: FileHandle) {}

  /** @throws what the disk says */
  static async open(path: string): Promise<FrameReader> {
    return new FrameReader(await open(path, 'r'));
  }

  async close(): Promise<void> {
    await this.file.close();
  }

  /** The next frame, in memory of its own. @throws SnapshotDamagedError */
  async next(): Promise<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(await this.#nextLength());
    await this.#fill(bytes);
    return bytes;
  }

  /** Reads the next frame into the beginning of an array. @returns its length @throws SnapshotDamagedError */
  async nextInto(bytes: Uint8Array): Promise<number> {
    const length = await this.#nextLength();
    if (length > bytes.byteLength) throw new SnapshotDamagedError('a frame is too long');
    await this.#fill(bytes.subarray(0, length));
    return length;
  }

  async #nextLength(): Promise<number> {
    if (this.#slice.isOver) await this.#slice.next();
    await this.#read(this.#head);
    const length = this.#head.readUInt32LE();
    if (length > frameBytesMax) throw new SnapshotDamagedError('a frame is too long');
    return length;
  }

  async #fill(bytes: Uint8Array): Promise<void> {
    await this.#read(bytes);
    this.#digest = digestOf(this.#digest, bytes);
    if (!this.#digest.equals(this.#head.subarray(4))) {
      throw new SnapshotDamagedError(`frame ${this.#count} is damaged`);
    }
    this.#count += 1;
  }

  /** Small frames come many at a time, of a large one the most goes past `#ahead`. */
  async #read(bytes: Uint8Array): Promise<void> {
    for (let at = this.#takeAhead(bytes, 0); at < bytes.byteLength; ) {
      const left = bytes.byteLength - at;
      if (left >= aheadBytes) at += await this.#readFile(bytes, at, left);
      else {
        [this.#from, this.#end] = [0, await this.#readFile(this.#ahead, 0, aheadBytes)];
        at = this.#takeAhead(bytes, at);
      }
    }
  }

  /** @returns up to where the bytes are filled */
  #takeAhead(bytes: Uint8Array, at: number): number {
    const end = Math.min(this.#end, this.#from + bytes.byteLength - at);
    bytes.set(this.#ahead.subarray(this.#from, end), at);
    const filled = at + end - this.#from;
    this.#from = end;
    return filled;
  }

  async #readFile(bytes: Uint8Array, at: number, length: number): Promise<number> {
    const { bytesRead } = await this.file.read(bytes, at, length, null);
    if (bytesRead === 0) throw new SnapshotDamagedError('it ends too early');
    return bytesRead;
  }
}

/** @param before digest of the frame before */
function digestOf(before: Buffer, bytes: Uint8Array): Buffer {
  return createHash('sha256').update(before).update(bytes).digest();
}

async function writeWhole(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.byteLength; ) {
    at += (await file.write(bytes, at, bytes.byteLength - at)).bytesWritten;
  }
}
