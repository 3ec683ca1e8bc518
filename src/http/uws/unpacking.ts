import type { Semaphore } from '../../lib/semaphore.ts';
import { type PackedCoding, type Unpacker, unpackerFor } from './body-coding.ts';

export interface UnpackedSink {
  /** Takes bytes that came out, valid for as long as they are wanted. It may call `stop`. */
  piece(bytes: Uint8Array): void;
  /** Called once, when all is unpacked, or nothing more can be. @param isSound the data were whole, and nothing was after them */
  end(isSound: boolean): void;
}

/**
 * Unpacks a body piece by piece as it arrives. Helper threads of Node do it, as many pieces at a time as there are turns:
 * a turn ends with its piece, so a body that comes slowly keeps nobody waiting. What has come out is handed over immediately.
 */
export class Unpacking {
  #unpacker: Unpacker | null = null;
  /** What has come and is not unpacked. */
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

  /** Settles when the piece is unpacked, or the unpacker is closed, because the data are broken or nobody wants them. */
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
