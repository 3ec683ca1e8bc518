/**
 * Request bodies as they arrive (docs/reference/http.md "Bad input and slow clients"). No memory is set aside for what
 * is only announced. All bodies in flight share one budget. A body that stands still ends its request.
 */
import type { HttpResponse } from 'uWebSockets.js';
import { ProblemError, problems } from '../../contract/errors.ts';
import type { FrontLimits } from '../../contract/front-limits.ts';
import { SlotMap } from '../../lib/slot-map.ts';

/** The client went away; nobody waits for an answer. */
export class AbortedError extends Error {
  override readonly name = 'AbortedError';
}

const sweepMs = 1000;

/** All bodies that one front is receiving or working on. */
export class BodyIntake {
  readonly #receiving = new SlotMap<RequestBody>();
  #heldBytes = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(readonly limits: Pick<FrontLimits, 'bodiesInFlightBytes' | 'bodyIdleMs'>) {}

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** @throws ProblemError `unavailable` when the budget is used up */
  take(bytes: number): void {
    if (this.#heldBytes + bytes > this.limits.bodiesInFlightBytes)
      throw new ProblemError(problems.unavailable);
    this.#heldBytes += bytes;
  }

  give(bytes: number): void {
    this.#heldBytes -= bytes;
  }

  /** Watches a body that is coming. @returns its slot, for `unwatch` */
  watch(body: RequestBody): number {
    this.#timer ??= setInterval(() => this.#sweep(), sweepMs);
    return this.#receiving.add(body);
  }

  unwatch(place: number): void {
    this.#receiving.remove(place);
  }

  #sweep(): void {
    const now = performance.now();
    this.#receiving.each((body) => body.checkIdle(now));
    // The timer stops here and not when the last body ends: between two small requests there is never a body.
    if (this.#receiving.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}

export class RequestBody {
  readonly #res: HttpResponse;
  readonly #intake: BodyIntake;
  #takenBytes = 0;
  /** From `BodyIntake.watch`; null while the body is not watched. */
  #place: number | null = null;
  #lastPieceAtMs = 0;
  #reject: ((error: Error) => void) | null = null;

  constructor(
    res: HttpResponse,
    intake: BodyIntake,
    /** The number in `Content-Length`. */
    readonly announcedBytes: number,
  ) {
    this.#res = res;
    this.#intake = intake;
  }

  /**
   * Hands over the body piece by piece. Must be called before the handler's first await. A piece is valid only during
   * the call.
   * @throws AbortedError; ProblemError; whatever `consume` throws
   */
  read(consume: (piece: Uint8Array) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#receive((piece, isLast) => {
        if (piece.byteLength > 0) consume(new Uint8Array(piece));
        if (isLast) resolve();
      }, reject);
    });
  }

  /**
   * Reads the whole body; see `read`. A body of several pieces comes in a buffer of its own.
   * @throws `tooLarge` beyond `bytesMax`
   */
  async bytes(bytesMax: number, tooLarge: ProblemError): Promise<Buffer<ArrayBuffer>> {
    if (this.announcedBytes > bytesMax) throw tooLarge;
    const pieces: Buffer<ArrayBuffer>[] = [];
    await this.read((piece) => pieces.push(Buffer.from(piece)));
    const [first] = pieces;
    if (first !== undefined && pieces.length === 1) return first;
    const whole = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const piece of pieces) at += piece.copy(whole, at);
    return whole;
  }

  #receive(consume: (piece: ArrayBuffer, isLast: boolean) => void, fail: (error: Error) => void): void {
    this.#reject = fail;
    this.#lastPieceAtMs = performance.now();
    this.#place = this.#intake.watch(this);
    this.#res.onData((buffer, isLast) => {
      if (this.#reject === null) return;
      this.#lastPieceAtMs = performance.now();
      try {
        this.#intake.take(buffer.byteLength);
        this.#takenBytes += buffer.byteLength;
        if (isLast) this.#unwatch();
        consume(buffer, isLast);
      } catch (error) {
        this.#fail(error instanceof Error ? error : new Error(String(error)));
        return;
      }
      if (isLast) this.#reject = null;
    });
  }

  /** Called once a second while the body is incomplete. */
  checkIdle(nowMs: number): void {
    if (nowMs - this.#lastPieceAtMs >= this.#intake.limits.bodyIdleMs) {
      this.#fail(new ProblemError(problems.bodyStoodStill));
      return;
    }
    // uWebSockets.js closes a connection that sends less than 16 KB/s for about 10 s, and sends no answer. Pausing
    // stops that clock, and resuming does not start it again.
    this.#res.pause();
    this.#res.resume();
  }

  /** Ends the body because the client went away. */
  abort(): void {
    this.#fail(new AbortedError('the client went away'));
  }

  /** Gives back the bytes that the body held. Called when its request is over. */
  release(): void {
    this.#unwatch();
    this.#intake.give(this.#takenBytes);
    this.#takenBytes = 0;
  }

  #unwatch(): void {
    if (this.#place === null) return;
    this.#intake.unwatch(this.#place);
    this.#place = null;
  }

  #fail(error: Error): void {
    const reject = this.#reject;
    this.#reject = null;
    this.#unwatch();
    reject?.(error);
  }
}
