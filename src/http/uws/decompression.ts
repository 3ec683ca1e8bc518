import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import type { Semaphore } from '../../lib/semaphore.ts';

export interface DecompressedSink {
  /** Receives decompressed bytes, which it may keep. It may call `stop`. */
  piece(bytes: Uint8Array): void;
  /**
   * Called once, when everything is decompressed or nothing more can be.
   * @param isValid true if the data was complete, with nothing after it
   */
  end(isValid: boolean): void;
}

/**
 * Decompresses a body as it arrives, in the thread pool of Node. The semaphore limits how many pieces are decompressed at a
 * time. It is held for one piece only, so a slow body does not block others. Decompressed bytes are passed on immediately.
 */
export class Decompression {
  #decompressor: Decompressor | null = null;
  /** Received pieces that are not decompressed yet. */
  readonly #waiting: Uint8Array[] = [];
  #hasAll = false;
  #isWorking = false;
  #isOver = false;
  #receivedBytes = 0;

  constructor(
    private readonly coding: CompressedCoding,
    private readonly turns: Semaphore,
    private readonly sink: DecompressedSink,
  ) {}

  /** Adds the next piece, which must stay valid until it is decompressed. */
  push(piece: Uint8Array, isLast: boolean): void {
    this.#receivedBytes += piece.length;
    if (piece.length > 0) this.#waiting.push(piece);
    this.#hasAll = isLast;
    if (!this.#isWorking && !this.#isOver) void this.#work();
  }

  /** Stops decompression: the sink is not called again. */
  stop(): void {
    this.#isOver = true;
    this.#waiting.length = 0;
    this.#decompressor?.destroy();
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    for (let piece = this.#waiting.shift(); piece !== undefined; piece = this.#waiting.shift()) {
      const endTurn = await this.turns.acquire();
      if (!this.#isOver) await this.#decompress(piece);
      endTurn();
    }
    this.#isWorking = false;
    if (!this.#hasAll || this.#isOver) return;
    if (this.#decompressor === null) this.#end(false);
    else this.#decompressor.end();
  }

  /** Resolves when the piece is decompressed, or the stream was closed because the data is corrupt or no longer needed. */
  #decompress(piece: Uint8Array): Promise<void> {
    this.#decompressor ??= this.#begin(piece[0] ?? 0);
    const decompressor = this.#decompressor;
    return new Promise((resolve) => {
      const settle = () => {
        decompressor.off('close', settle);
        resolve();
      };
      decompressor.on('close', settle);
      decompressor.write(piece, settle);
    });
  }

  #begin(firstByte: number): Decompressor {
    const decompressor = decompressorFor(this.coding, firstByte);
    decompressor.on('data', (bytes: Uint8Array) => {
      if (!this.#isOver) this.sink.piece(bytes);
    });
    decompressor.on('error', () => this.#end(false));
    // The stream ignores bytes after the end of the data without an error.
    decompressor.on('end', () => this.#end(decompressor.bytesWritten === this.#receivedBytes));
    return decompressor;
  }

  #end(isValid: boolean): void {
    if (this.#isOver) return;
    this.stop();
    this.sink.end(isValid);
  }
}

/** Compression of a body; `identity` for none. */
export type BodyCoding = 'identity' | CompressedCoding;
export type CompressedCoding = 'gzip' | 'br' | 'deflate';

const codings: ReadonlyMap<string, BodyCoding> = new Map([
  ['', 'identity'],
  ['identity', 'identity'],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['br', 'br'],
  ['deflate', 'deflate'],
]);

/** The coding of a `Content-Encoding` header; null for unknown ones and for several. */
export function codingOf(contentEncoding: string): BodyCoding | null {
  return codings.get(contentEncoding) ?? codings.get(contentEncoding.trim().toLowerCase()) ?? null;
}

/** Upper bound of the compressed size of a body. Data that cannot be compressed grows by less than 1%. */
export function compressedBytesMax(bytesMax: number): number {
  return Math.ceil(bytesMax * 1.01) + 1024;
}

/** Size of decompressed pieces. Other requests are handled between two pieces. */
const chunkSize = 64 * 1024;
/** Bits of the method in the first byte of a zlib stream (RFC 1950, section 2.2). */
const zlibMethodMask = 0x0f;
const zlibMethod = 8;

type Decompressor = ReturnType<typeof decompressorFor>;

/**
 * A decompressing stream of Node.
 * @param firstByte of the compressed data: `deflate` means a zlib stream, but some clients send raw deflate data
 */
function decompressorFor(coding: CompressedCoding, firstByte: number) {
  if (coding === 'gzip') return createGunzip({ chunkSize });
  if (coding === 'br') return createBrotliDecompress({ chunkSize });
  const isZlib = (firstByte & zlibMethodMask) === zlibMethod;
  return isZlib ? createInflate({ chunkSize }) : createInflateRaw({ chunkSize });
}
