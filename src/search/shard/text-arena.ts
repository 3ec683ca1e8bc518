import { assert } from '../../lib/assert.ts';
import type { Steps } from '../../lib/cooperative-yield.ts';
import { grown } from '../growth.ts';
import { bytes, float64, int32, type PartReader, type Parts, uint32 } from '../snapshot/parts.ts';

const chunkBytesMin = 16 * 1024;
const chunkBytesMax = 1024 * 1024;
/** Each text is preceded by its doc id and its length in bytes. */
const headerBytes = 8;
const nowhere = -1;
const noBytes = Buffer.alloc(0);

interface Chunk {
  readonly bytes: Buffer;
  /** Bytes written. */
  end: number;
  /** Bytes of texts in use, including headers. */
  live: number;
}

/**
 * Stores a text per doc as UTF-8 outside the garbage-collected heap, where many texts would take two bytes per character. When
 * half of a chunk is unused, its texts are moved to the newest chunk, so that unused space never exceeds used space.
 */
export class TextArena {
  readonly #chunks: (Chunk | null)[] = [];
  readonly #freeChunks: number[] = [];
  #newest = nowhere;
  #chunkOf: Int32Array;
  #offsetOf: Uint32Array;
  #allocated = 0;

  constructor(capacity: number) {
    this.#chunkOf = new Int32Array(capacity).fill(nowhere);
    this.#offsetOf = new Uint32Array(capacity);
  }

  get bytes(): number {
    return this.#allocated + this.#chunkOf.byteLength + this.#offsetOf.byteLength;
  }

  *parts(): Parts {
    yield this.#chunkOf;
    yield this.#offsetOf;
    yield Float64Array.from(this.#chunks, (chunk) => chunk?.live ?? nowhere);
    for (const chunk of this.#chunks) if (chunk !== null) yield chunk.bytes.subarray(0, chunk.end);
  }

  /** Restores the parts. The chunks count as full, so the next text begins a new one. */
  async restore(from: PartReader): Promise<void> {
    this.#chunkOf = await from.numbers(int32);
    this.#offsetOf = await from.numbers(uint32);
    for (const [index, live] of (await from.numbers(float64)).entries()) {
      if (live === nowhere) {
        this.#chunks[index] = null;
        this.#freeChunks.push(index);
        continue;
      }
      const texts = await from.numbers(bytes);
      this.#chunks[index] = { bytes: texts, end: texts.length, live };
      this.#allocated += texts.length;
    }
  }

  *grow(capacity: number): Steps<void> {
    this.#chunkOf = yield* grown(this.#chunkOf, new Int32Array(capacity), nowhere);
    this.#offsetOf = yield* grown(this.#offsetOf, new Uint32Array(capacity), 0);
  }

  /** Stores a text. The doc must have none. Lone surrogates would be lost, but are escaped in JSON text. */
  set(doc: number, text: string): void {
    assert(this.#chunkOf[doc] === nowhere, 'a doc within the capacity, without a text');
    const size = Buffer.byteLength(text);
    const { chunk, at } = this.#place(doc, size);
    chunk.bytes.write(text, at + headerBytes, size, 'utf8');
  }

  /** Empty if the doc has none. */
  get(doc: number): string {
    return this.bytesOf(doc).toString();
  }

  /** The UTF-8 bytes of a text in the memory of the arena. They remain valid, because nothing is overwritten. */
  bytesOf(doc: number): Buffer {
    const chunk = this.#chunks[this.#chunkOf[doc] ?? nowhere];
    if (!chunk) return noBytes;
    const at = this.#offsetOf[doc] ?? 0;
    const from = at + headerBytes;
    return chunk.bytes.subarray(from, from + chunk.bytes.readUInt32LE(at + 4));
  }

  clear(doc: number): void {
    const index = this.#chunkOf[doc] ?? nowhere;
    const chunk = this.#chunks[index];
    if (!chunk) return;
    chunk.live -= headerBytes + chunk.bytes.readUInt32LE((this.#offsetOf[doc] ?? 0) + 4);
    this.#chunkOf[doc] = nowhere;
    if (index !== this.#newest && chunk.live <= chunk.end / 2) this.#empty(index, chunk);
  }

  /** Makes room for a text at the end of the newest chunk and writes its header. */
  #place(doc: number, size: number): { chunk: Chunk; at: number } {
    const chunk = this.#chunkWithRoom(headerBytes + size);
    const at = chunk.end;
    chunk.bytes.writeUInt32LE(doc, at);
    chunk.bytes.writeUInt32LE(size, at + 4);
    chunk.end += headerBytes + size;
    chunk.live += headerBytes + size;
    this.#chunkOf[doc] = this.#newest;
    this.#offsetOf[doc] = at;
    return { chunk, at };
  }

  #chunkWithRoom(bytes: number): Chunk {
    const newest = this.#chunks[this.#newest];
    if (newest && newest.end + bytes <= newest.bytes.length) return newest;
    const wanted = Math.min(Math.max(this.#allocated, chunkBytesMin), chunkBytesMax);
    const chunk: Chunk = { bytes: Buffer.allocUnsafeSlow(Math.max(wanted, bytes)), end: 0, live: 0 };
    this.#allocated += chunk.bytes.length;
    const full = this.#newest;
    this.#newest = this.#freeChunks.pop() ?? this.#chunks.length;
    this.#chunks[this.#newest] = chunk;
    if (newest && newest.live <= newest.end / 2) this.#empty(full, newest);
    return this.#chunks[this.#newest] === chunk && chunk.end + bytes <= chunk.bytes.length
      ? chunk
      : this.#chunkWithRoom(bytes);
  }

  /** Moves the remaining texts of a chunk to the newest one. */
  #empty(index: number, chunk: Chunk): void {
    this.#chunks[index] = null;
    this.#allocated -= chunk.bytes.length;
    for (let at = 0; at < chunk.end; ) {
      const doc = chunk.bytes.readUInt32LE(at);
      const size = chunk.bytes.readUInt32LE(at + 4);
      const next = at + headerBytes + size;
      if (this.#chunkOf[doc] === index && this.#offsetOf[doc] === at) {
        const place = this.#place(doc, size);
        chunk.bytes.copy(place.chunk.bytes, place.at + headerBytes, at + headerBytes, next);
      }
      at = next;
    }
    this.#freeChunks.push(index);
  }
}
