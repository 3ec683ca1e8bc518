import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import type { Semaphore } from '../../lib/semaphore.ts';

export interface UnpackedSink {
  /** Takes bytes that came out, valid for as long as they are wanted. It may call `stop`. */
  piece(bytes: Uint8Array): void;
  /** Called once, when all is unpacked, or nothing more can be. @param isSound the data were whole, and nothing was after them */
  end(isSound: boolean): void;
}

/**
 * Unpacks a body piece by piece as it arrives. Helper threads of Node do it, as many pieces at a time as there are turns:
 * a turn ends with its piece, so a slow body does not block others. What has come out is handed over immediately.
 */
export class Unpacking {
  #unpacker: Unpacker | null = null;
  /** Received data that is not unpacked yet. */
  readonly #waiting: Uint8Array[] = [];
  #isWhole = false;
  #isWorking = false;
  #isOver = false;
  #cameBytes = 0;

  constructor(
    private readonly coding: PackedCoding,
    private readonly turns: Semaphore,
    private readonly sink: UnpackedSink,
  ) {}

  /** Takes the next piece, which is kept until it is unpacked. */
  push(piece: Uint8Array, isLast: boolean): void {
    this.#cameBytes += piece.length;
    if (piece.length > 0) this.#waiting.push(piece);
    this.#isWhole = isLast;
    if (!this.#isWorking && !this.#isOver) void this.#work();
  }

  /** Gives up: the sink hears nothing more. */
  stop(): void {
    this.#isOver = true;
    this.#waiting.length = 0;
    this.#unpacker?.destroy();
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    for (let piece = this.#waiting.shift(); piece !== undefined; piece = this.#waiting.shift()) {
      const endTurn = await this.turns.acquire();
      if (!this.#isOver) await this.#unpack(piece);
      endTurn();
    }
    this.#isWorking = false;
    if (!this.#isWhole || this.#isOver) return;
    if (this.#unpacker === null) this.#end(false);
    else this.#unpacker.end();
  }

  /** Settles when the piece is unpacked, or the unpacker is closed, because the data is corrupt or no longer needed. */
  #unpack(piece: Uint8Array): Promise<void> {
    this.#unpacker ??= this.#begin(piece[0] ?? 0);
    const unpacker = this.#unpacker;
    return new Promise((resolve) => {
      const settle = () => {
        unpacker.off('close', settle);
        resolve();
      };
      unpacker.on('close', settle);
      unpacker.write(piece, settle);
    });
  }

  #begin(firstByte: number): Unpacker {
    const unpacker = unpackerFor(this.coding, firstByte);
    unpacker.on('data', (bytes: Uint8Array) => {
      if (!this.#isOver) this.sink.piece(bytes);
    });
    unpacker.on('error', () => this.#end(false));
    // Bytes after the end of the data are left lying without an error.
    unpacker.on('end', () => this.#end(unpacker.bytesWritten === this.#cameBytes));
    return unpacker;
  }

  #end(isSound: boolean): void {
    if (this.#isOver) return;
    this.stop();
    this.sink.end(isSound);
  }
}

/** How the bytes of a body are packed; `identity`: not at all. */
export type BodyCoding = 'identity' | PackedCoding;
export type PackedCoding = 'gzip' | 'br' | 'deflate';

const codings: ReadonlyMap<string, BodyCoding> = new Map([
  ['', 'identity'],
  ['identity', 'identity'],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['br', 'br'],
  ['deflate', 'deflate'],
]);

/** The coding that a `Content-Encoding` header names; null for another one, and for several. */
export function codingOf(contentEncoding: string): BodyCoding | null {
  return codings.get(contentEncoding) ?? codings.get(contentEncoding.trim().toLowerCase()) ?? null;
}

/** The largest body whose packed form may have so many bytes. What cannot be packed grows by less than a hundredth. */
export function packedBytesMax(bytesMax: number): number {
  return Math.ceil(bytesMax * 1.01) + 1024;
}

/** Bytes that come out at a time: between two such pieces other requests have their turn. */
const chunkSize = 64 * 1024;
/** In the first byte of a zlib stream: the method (RFC 1950, section 2.2). */
const zlibMethodMask = 0x0f;
const zlibMethod = 8;

type Unpacker = ReturnType<typeof unpackerFor>;

/**
 * A stream that unpacks, on helper threads of Node.
 * @param firstByte of what is packed: `deflate` is a zlib stream, but some send the bare data of it
 */
function unpackerFor(coding: PackedCoding, firstByte: number) {
  if (coding === 'gzip') return createGunzip({ chunkSize });
  if (coding === 'br') return createBrotliDecompress({ chunkSize });
  const isZlib = (firstByte & zlibMethodMask) === zlibMethod;
  return isZlib ? createInflate({ chunkSize }) : createInflateRaw({ chunkSize });
}
