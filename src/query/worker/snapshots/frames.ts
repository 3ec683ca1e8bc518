/**
 * The file format of snapshots: frames, each with its length and a digest that covers its bytes and all previous frames. So a
 * file that is truncated, damaged, or mixed with another snapshot is detected before its data is used.
 */
import { createHash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { shardSliceMs } from '../../../contract/limits.ts';
import { Slice } from '../../../lib/slices/slice.ts';
import { SnapshotDamagedError } from '../../../search/snapshot/parts.ts';

/** Size of the digest and of the head of a frame, which has the length and the digest. */
const digestBytes = 32;
const headBytes = 4 + digestBytes;
/** The digest before the first frame: each digest includes the previous one. */
const noDigest = Buffer.alloc(0);
/** Larger than any frame, so that a damaged length cannot allocate too much memory. */
const frameBytesMax = 256 * 1024 * 1024;
/** Size of the read buffer, because each read of a file uses the thread pool. */
const aheadBytes = 128 * 1024;

/** Appends frames to a file. */
export class FrameWriter {
  /** Digest of the previous frame. */
  #digest: Buffer = noDigest;

  constructor(private readonly file: FileHandle) {}

  /** Writes a frame. The bytes may be changed again when it resolves. @throws I/O errors */
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
  /** Digest of the previous frame. */
  #digest: Buffer = noDigest;
  readonly #head = Buffer.alloc(headBytes);
  /** Data that was read but not consumed, between `#from` and `#end`. */
  readonly #ahead = Buffer.allocUnsafeSlow(aheadBytes);
  #from = 0;
  #end = 0;
  readonly #slice = new Slice(shardSliceMs);

  private constructor(private readonly file: FileHandle) {}

  /** @throws I/O errors */
  static async open(path: string): Promise<FrameReader> {
    return new FrameReader(await open(path, 'r'));
  }

  async close(): Promise<void> {
    await this.file.close();
  }

  /** The next frame, in a new buffer. @throws SnapshotDamagedError */
  async next(): Promise<Buffer> {
    const bytes = Buffer.allocUnsafeSlow(await this.#nextLength());
    await this.#fill(bytes);
    return bytes;
  }

  /**
   * Reads the next frame into an array, from its beginning.
   * @returns its length
   * @throws SnapshotDamagedError
   */
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

  /** Small frames are read through `#ahead`, most of a large one directly. */
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

  /** @returns the position up to which the bytes are filled */
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

/** @param before digest of the previous frame */
function digestOf(before: Buffer, bytes: Uint8Array): Buffer {
  return createHash('sha256').update(before).update(bytes).digest();
}

async function writeWhole(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.byteLength; ) {
    at += (await file.write(bytes, at, bytes.byteLength - at)).bytesWritten;
  }
}
