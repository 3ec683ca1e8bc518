/** The file of a shard: a head, then the parts of the shard; and the digest of the code that writes it. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { shardSliceMs } from '../../../contract/limits.ts';
import type { FieldType } from '../../../search/fields/field-type.ts';
import {
  type Part,
  type PartReader,
  type Parts,
  SnapshotDamagedError,
} from '../../../search/snapshot/parts.ts';
import { isClone } from '../../../typescript/clone-or-package.mjs';
import { FrameReader, FrameWriter } from './frames.ts';

/** A part is written as frames: its kind and its length, then its numbers in their memory layout. */

/** Processing one frame blocks the event loop for well under 10 ms. */
const frameBytesMax = 1024 * 1024;

/** Array types of parts; the index is the kind. */
const kinds = [Float64Array, Int32Array, Uint32Array, Int16Array, Uint8Array] as const;

/** The frames of a part, without copying it. */
function* framesOf(part: Part): Generator<Uint8Array, void, undefined> {
  yield new Uint8Array(Float64Array.of(kindOf(part), part.length).buffer);
  const all = new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
  for (let from = 0; from < all.length; from += frameBytesMax) yield all.subarray(from, from + frameBytesMax);
}

/** Reads parts from frames. */
class FramedParts implements PartReader {
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

export interface SnapshotHead {
  /** The code that made the snapshot, and the index with its definition. It is unusable if any of them differs. */
  readonly identity: string;
  /** Its fields, in the order of their parts. */
  readonly fields: readonly (readonly [name: string, type: FieldType])[];
}

export interface OpenSnapshot {
  readonly head: SnapshotHead;
  readonly parts: PartReader;
  close(): Promise<void>;
}

/** Name of a file that is being written. */
export function unfinished(file: string): string {
  return `${file}.part`;
}

/**
 * Writes a snapshot part by part, under a temporary name until it is complete. Without fsync: the digests detect what a power
 * failure has damaged.
 * @param isStale true once the shard has changed, or there is no more time
 * @returns whether it was written
 * @throws I/O errors
 */
export async function writeSnapshot(
  file: string,
  head: SnapshotHead,
  parts: Parts,
  isStale: () => boolean,
): Promise<boolean> {
  const handle = await open(unfinished(file), 'w', 0o600);
  let isComplete = false;
  try {
    isComplete = await writeParts(new FrameWriter(handle), head, parts, isStale);
  } finally {
    await handle.close();
    if (!isComplete) await rm(unfinished(file), { force: true });
  }
  if (isComplete) await rename(unfinished(file), file);
  return isComplete;
}

async function writeParts(
  frames: FrameWriter,
  head: SnapshotHead,
  parts: Parts,
  isStale: () => boolean,
): Promise<boolean> {
  await frames.write(Buffer.from(JSON.stringify(head)));
  let sliceEndsMs = performance.now() + shardSliceMs;
  for (const part of parts) {
    for (const frame of framesOf(part)) {
      if (isStale()) return false;
      await frames.write(frame);
      if (performance.now() < sliceEndsMs) continue;
      await setImmediate();
      sliceEndsMs = performance.now() + shardSliceMs;
    }
  }
  return !isStale();
}

/** Opens a snapshot and reads its head. @throws SnapshotDamagedError; I/O errors */
export async function openSnapshot(file: string): Promise<OpenSnapshot> {
  const frames = await FrameReader.open(file);
  try {
    const head = JSON.parse((await frames.next()).toString()) as SnapshotHead;
    return { head, parts: new FramedParts(frames), close: () => frames.close() };
  } catch (error) {
    await frames.close();
    if (error instanceof SyntaxError) throw new SnapshotDamagedError('its head is no JSON');
    throw error;
  }
}

/** Increase it if the file format changes without a change of the code of `layers`. */
const format = 2;
/**
 * `src/search` and the layers that it uses (checked by `test/layers.test.ts`): limits, for example, decide which words are
 * indexed.
 */
const layers = ['contract', 'lib', 'search'];
/** The code of a worker in the package, which has no TypeScript. */
const builtWorker = 'dist/server/workers.partition.js';
const repository = fileURLToPath(new URL('../../../../', import.meta.url));

/**
 * A digest of everything that determines the content and memory layout of a shard: the code, the packages that it uses, and
 * Node, whose Unicode tables define words.
 * @param root folder with the `package.json`
 */
export function codeDigest(root: string = repository): string {
  const packages = readFileSync(path.join(root, 'package.json'), 'utf8');
  const platform = JSON.stringify([format, process.versions, process.arch, packages]);
  const hash = createHash('sha256').update(platform);
  const files = isClone
    ? layers.flatMap((layer) => filesIn(path.join(root, 'src', layer)))
    : [path.join(root, builtWorker)];
  for (const file of files.sort()) hash.update(path.relative(root, file)).update(readFileSync(file));
  return hash.digest('hex');
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.join(parentPath, name));
}
