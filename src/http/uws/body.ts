/**
 * Receives request bodies (docs/reference/http.md "Bad input and slow clients"). No memory is reserved for bytes that are only
 * announced. All bodies in flight share one budget. A request whose body stalls fails.
 */
import type { HttpResponse } from 'uWebSockets.js';
import { type Problem, ProblemError, problems } from '../../contract/errors.ts';
import type { FrontLimits } from '../../contract/front-limits.ts';
import { unpackingAtOnceMax } from '../../contract/limits.ts';
import { Semaphore } from '../../lib/semaphore.ts';
import { SweptSlots } from '../../lib/slot-map.ts';
import {
  type BodyCoding,
  type CompressedCoding,
  codingOf,
  compressedBytesMax,
  Decompression,
} from './decompression.ts';
import { headerText } from './request-headers.ts';

/** Smaller pieces are buffered until they reach this size. */
const gatheredBytes = 4 * 1024;

/**
 * Merges small pieces of a body. Each piece has about 200 bytes of overhead, which the budget of bodies does not count, and a
 * client may send one byte per chunk.
 */
export class GatheredPieces {
  #held: Uint8Array<ArrayBuffer> | null = null;
  #heldBytes = 0;

  /** @param consume receives a piece, which is valid only during the call */
  constructor(private readonly consume: (piece: Uint8Array<ArrayBuffer>, isLast: boolean) => void) {}

  /** @param piece valid only during the call */
  push(piece: Uint8Array<ArrayBuffer>, isLast: boolean): void {
    if (this.#heldBytes + piece.length > gatheredBytes) this.#flush(false);
    if (this.#heldBytes === 0 && (isLast || piece.length >= gatheredBytes)) {
      this.consume(piece, isLast);
      return;
    }
    this.#held ??= new Uint8Array(gatheredBytes);
    this.#held.set(piece, this.#heldBytes);
    this.#heldBytes += piece.length;
    if (isLast) this.#flush(true);
  }

  #flush(isLast: boolean): void {
    if (this.#held === null || this.#heldBytes === 0) return;
    const piece = this.#held.subarray(0, this.#heldBytes);
    this.#heldBytes = 0;
    this.consume(piece, isLast);
  }
}

/** The client has disconnected. */
export class AbortedError extends Error {
  override readonly name = 'AbortedError';
}

/** A byte that is never valid in UTF-8. */
const invalidByte = Uint8Array.of(0xff);

/** Receives a piece of a body. */
type Consume = (piece: Uint8Array) => void;

interface DecompressedReading {
  readonly consume: Consume;
  /** Limit of the decompressed bytes. */
  readonly bytesMax: number;
  readonly tooLarge: Problem;
  readonly finish: () => void;
}

/** The framing of a request body, from its headers. */
export interface BodyHead {
  /** The number in `Content-Length`: the body's bytes as they are sent. */
  readonly announcedBytes: number;
  /** Value of the header; '' if it is absent. */
  readonly contentEncoding: string;
}

export class RequestBody {
  readonly announcedBytes: number;
  readonly #res: HttpResponse;
  readonly #intake: BodyIntake;
  readonly #contentEncoding: string;
  #takenBytes = 0;
  /** From `BodyIntake.watch`; null while the body is not watched. */
  #slot: number | null = null;
  #lastPieceAtMs = 0;
  #decompression: Decompression | null = null;
  /** Null before the body is read, and after it is complete or has failed. */
  #reject: ((error: Error) => void) | null = null;

  constructor(res: HttpResponse, intake: BodyIntake, { announcedBytes, contentEncoding }: BodyHead) {
    this.#res = res;
    this.#intake = intake;
    this.announcedBytes = announcedBytes;
    this.#contentEncoding = contentEncoding;
  }

  /** True if the body is compressed, so that its size is unknown until it is read. */
  get isPacked(): boolean {
    return codingOf(this.#contentEncoding) !== 'identity';
  }

  /**
   * Passes the decompressed body to `consume` piece by piece. Must be called before the handler's first await. A piece is valid
   * only during the call. Corrupt compressed data counts as a body that is not JSON: `consume` gets a byte that is not valid
   * UTF-8.
   * @param bytesMax limit of the decompressed body
   * @throws ProblemError `tooLarge` beyond it, 415 for an unknown coding; AbortedError; whatever `consume` throws
   */
  read(consume: Consume, bytesMax: number, tooLarge: Problem): Promise<void> {
    return new Promise((resolve, reject) => {
      const coding = this.#coding();
      if (this.announcedBytes > (coding === 'identity' ? bytesMax : compressedBytesMax(bytesMax)))
        throw new ProblemError(tooLarge);
      const finish = () => {
        this.#reject = null;
        resolve();
      };
      if (coding !== 'identity') {
        const decompression = this.#decompressed(coding, { consume, bytesMax, tooLarge, finish });
        this.#receive((piece, isLast) => decompression.push(piece.slice(), isLast), reject);
        return;
      }
      this.#receive((piece, isLast) => {
        if (piece.length > 0) consume(piece);
        if (isLast) finish();
      }, reject);
    });
  }

  /**
   * Reads the whole body; see `read`. A body of several pieces gets its own buffer, outside the pool.
   * @throws as `read`
   */
  async bytes(bytesMax: number, tooLarge: Problem): Promise<Buffer<ArrayBuffer>> {
    const pieces: Buffer<ArrayBuffer>[] = [];
    await this.read((piece) => pieces.push(Buffer.from(piece)), bytesMax, tooLarge);
    const [first] = pieces;
    if (first !== undefined && pieces.length === 1) return first;
    const whole = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const piece of pieces) at += piece.copy(whole, at);
    return whole;
  }

  #receive(
    consume: (piece: Uint8Array<ArrayBuffer>, isLast: boolean) => void,
    fail: (error: Error) => void,
  ): void {
    const pieces = new GatheredPieces(consume);
    this.#reject = fail;
    this.#lastPieceAtMs = performance.now();
    this.#slot = this.#intake.watch(this);
    this.#res.onData((buffer, isLast) => {
      this.#lastPieceAtMs = performance.now();
      this.#attempt(() => {
        this.#take(buffer.byteLength);
        if (isLast) this.#unwatch();
        pieces.push(new Uint8Array(buffer), isLast);
      });
    });
  }

  /** @throws ProblemError 415 */
  #coding(): BodyCoding {
    const coding = codingOf(this.#contentEncoding);
    if (coding !== null) return coding;
    throw new ProblemError(problems.contentCodingUnknown(headerText(this.#contentEncoding)));
  }

  /** Decompresses pushed data, and fails beyond `bytesMax`. */
  #decompressed(
    coding: CompressedCoding,
    { consume, bytesMax, tooLarge, finish }: DecompressedReading,
  ): Decompression {
    let bytes = 0;
    const piece = (decompressed: Uint8Array) => {
      bytes += decompressed.length;
      if (bytes > bytesMax) throw new ProblemError(tooLarge);
      this.#take(decompressed.length);
      consume(decompressed);
    };
    const end = (isValid: boolean) => {
      if (!isValid) consume(invalidByte);
      finish();
    };
    this.#decompression = new Decompression(coding, this.#intake.decompressionTurns, {
      piece: (decompressed) => this.#attempt(() => piece(decompressed)),
      end: (isValid) => this.#attempt(() => end(isValid)),
    });
    return this.#decompression;
  }

  /** Calls `act` unless the body is complete or has failed. An error that it throws fails the body. */
  #attempt(act: () => void): void {
    if (this.#reject === null) return;
    try {
      act();
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #take(bytes: number): void {
    this.#intake.take(bytes);
    this.#takenBytes += bytes;
  }

  /** Called once a second while the body is incomplete. */
  checkIdle(nowMs: number): void {
    if (nowMs - this.#lastPieceAtMs >= this.#intake.limits.bodyIdleMs) {
      this.#fail(new ProblemError(problems.bodyStoodStill));
      return;
    }
    // uWebSockets.js closes a connection that sends less than 16 KB/s for about 10 s, without a response. Pausing stops that
    // timer, and resuming does not start it again.
    this.#res.pause();
    this.#res.resume();
  }

  /** Fails the body because the client has disconnected. */
  abort(): void {
    this.#fail(new AbortedError('the client went away'));
  }

  /** Returns the bytes of the body to the budget. Called when its request is over. */
  release(): void {
    this.#unwatch();
    this.#intake.give(this.#takenBytes);
    this.#takenBytes = 0;
  }

  #unwatch(): void {
    if (this.#slot === null) return;
    this.#intake.unwatch(this.#slot);
    this.#slot = null;
  }

  #fail(error: Error): void {
    const reject = this.#reject;
    this.#reject = null;
    this.#unwatch();
    this.#decompression?.stop();
    reject?.(error);
  }
}

const sweepMs = 1000;

/** All request bodies that a front is receiving or processing. */
export class BodyIntake {
  readonly #receiving = new SweptSlots<RequestBody>(sweepMs, (body, nowMs) => body.checkIdle(nowMs));
  /** Limits how many pieces of compressed bodies are decompressed at a time. */
  readonly decompressionTurns = new Semaphore(unpackingAtOnceMax);
  #heldBytes = 0;

  constructor(readonly limits: Pick<FrontLimits, 'bodiesInFlightBytes' | 'bodyIdleMs'>) {}

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** @throws ProblemError `unavailable` if the budget is used up */
  take(bytes: number): void {
    if (this.#heldBytes + bytes > this.limits.bodiesInFlightBytes)
      throw new ProblemError(problems.unavailable);
    this.#heldBytes += bytes;
  }

  give(bytes: number): void {
    this.#heldBytes -= bytes;
  }

  /** Watches a body that is being received. @returns its slot, for `unwatch` */
  watch(body: RequestBody): number {
    return this.#receiving.add(body);
  }

  unwatch(slot: number): void {
    this.#receiving.remove(slot);
  }
}
