/** A shard in a file: what it is a shard of, then its parts. */
import { open, rename, rm } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { shardSliceMs } from '../../../contract/limits.ts';
import type { FieldType } from '../../../search/fields/field-type.ts';
import { type PartReader, type Parts, SnapshotDamagedError } from '../../../search/snapshot/parts.ts';
import { FrameReader, FrameWriter } from './frames.ts';
import { FramedParts, framesOf } from './part-frames.ts';

export interface SnapshotHead {
  /** What the shard was made of and by. One of another identity is of no use. */
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
 * Writes a snapshot part by part, under another name until it is whole. It is not written through to the disk: digests tell
 * what a power cut has left. @param isStale true once the shard has changed, or there is no more time @returns whether it
 * was written @throws what the disk says
 */
export async function writeSnapshot(
  file: string,
  head: SnapshotHead,
  parts: Parts,
  isStale: () => boolean,
): Promise<boolean> {
  const handle = await open(unfinished(file), 'w', 0o600);
  let isWhole = false;
  try {
    isWhole = await writeParts(new FrameWriter(handle), head, parts, isStale);
  } finally {
    await handle.close();
    if (!isWhole) await rm(unfinished(file), { force: true });
  }
  if (isWhole) await rename(unfinished(file), file);
  return isWhole;
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

/** Opens a snapshot and reads its head. @throws SnapshotDamagedError; what the disk says */
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
