/** Messages on a byte stream: each frame is its length (4 bytes, little-endian) and its bytes. */
import { takeBytes } from './slab.ts';

const headBytes = 4;

/** Finds the frames in the pieces of a stream, however they are cut. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #heldBytes = 0;
  /** Bytes to hold before looking for a frame again. */
  #wantedBytes = headBytes;

  constructor(private readonly onFrame: (bytes: Buffer) => void) {}

  /** @param piece stays as it is from now on */
  take(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#heldBytes += piece.length;
    if (this.#heldBytes < this.#wantedBytes) return;
    const held = this.#pieces.length === 1 ? piece : joined(this.#pieces, this.#heldBytes);
    const from = this.#tellFrames(held);
    this.#pieces = from < held.length ? [held.subarray(from)] : [];
    this.#heldBytes = held.length - from;
  }

  /** @returns the place behind the last whole frame */
  #tellFrames(held: Buffer): number {
    for (let from = 0; ; ) {
      const left = held.length - from;
      this.#wantedBytes = left < headBytes ? headBytes : headBytes + held.readUInt32LE(from);
      if (left < this.#wantedBytes) return from;
      const end = from + this.#wantedBytes;
      this.onFrame(held.subarray(from + headBytes, end));
      from = end;
    }
  }
}

function joined(pieces: readonly Buffer[], bytes: number): Buffer {
  const whole = takeBytes(bytes);
  let at = 0;
  for (const piece of pieces) at += piece.copy(whole, at);
  return whole;
}
