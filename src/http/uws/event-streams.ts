/**
 * Server-sent events: responses without an end. A connection holds no more than the piece that it could
 * not take. What comes after that waits with its producer, and is counted. A client that leaves too much unread is
 * cut off, and comes back with the last event that it has.
 */
import type { HttpResponse } from 'uWebSockets.js';
import { followerCommentMs, followerUnsentBytesMax } from '../../contract/limits.ts';
import type { ProcessMetrics } from '../../lib/process-metrics.ts';
import { SlotMap } from '../../lib/slot-map.ts';
import { SlowReaderCheck } from './unsent-answers.ts';

const sweepMs = 1000;
const nothing = new Uint8Array();
const comment = Buffer.from(':\n\n');
const pieceBytes = 16 * 1024;

/** The client, as the producer of events sees it. */
export interface EventStream {
  /** True when nothing more reaches the client. */
  readonly isOver: boolean;
  /** The connection has not taken what it was given. What more there is waits with its maker. */
  readonly isBlocked: boolean;
  /** Events that other streams may share. Not while the connection is blocked. */
  send(piece: Uint8Array): void;
  /** An event of any length, as the client takes it. Resolves when all of it is taken, or the client is gone. */
  sendLong(event: Uint8Array): Promise<void>;
  /** Notes that something more was not sent because the connection is blocked. */
  heldBack(bytes: number): void;
  /** Resolves when the client has taken what was sent, or is gone. */
  taken(): Promise<void>;
  end(): void;
  /** Ends the connection of a client that reads too slowly. */
  cutOff(): void;
}

/** Called when a stream begins. @returns called once when it is over, for whatever reason */
export type OpenStream = (stream: EventStream) => () => void;

export class EventStreams {
  readonly #open = new SlotMap<OpenEventStream>();
  readonly #cutOff;
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;
  #endings = 0;

  constructor(metrics: ProcessMetrics) {
    this.#cutOff = metrics.counter(
      'millrace_http_streams_cut_off_total',
      'Event streams closed because their clients did not read them',
    );
    metrics.gaugeOf('millrace_http_streams', 'Open event streams', () => this.#open.size);
  }

  /** How often all of them were ended. */
  get endings(): number {
    return this.#endings;
  }

  /**
   * Within a cork, after the head of the answer.
   * @param endings when it was asked for; a stream that was asked for before all were ended does not go on either
   * @param onEnd called when the answer is over and not aborted
   */
  begin(res: HttpResponse, open: OpenStream, endings: number, onEnd: () => void): OpenEventStream {
    this.#timer ??= setInterval(() => this.#sweep(), sweepMs);
    const stream = new OpenEventStream(this, res, onEnd);
    res.write(comment);
    if (this.#isClosed || endings !== this.#endings) setImmediate(() => stream.end());
    else stream.opened(open(stream));
    return stream;
  }

  enter(stream: OpenEventStream): number {
    return this.#open.add(stream);
  }

  leave(place: number): void {
    this.#open.remove(place);
  }

  noteCutOff(): void {
    this.#cutOff.inc();
  }

  /** Ends all of them, and those that begin later. */
  close(): void {
    this.#isClosed = true;
    this.endAll();
  }

  endAll(): void {
    this.#endings += 1;
    this.#open.each((stream) => stream.end());
  }

  #sweep(): void {
    const nowMs = performance.now();
    this.#open.each((stream) => stream.check(nowMs));
    if (this.#open.size > 0 || this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
  }
}

export class OpenEventStream implements EventStream {
  #place: number | null;
  #onOver: (() => void) | null = null;
  #isBlocked = false;
  /** Data not sent because the connection is blocked. */
  #heldBackBytes = 0;
  /** Of a long event that has begun: what the connection was not given. */
  #rest: Uint8Array = nothing;
  /** How fast the client takes that event. */
  #pace: SlowReaderCheck | null = null;
  /** Bytes that the connection was given. */
  #given = 0;
  #quietSinceMs = performance.now();
  #whenTaken: (() => void)[] | null = null;

  constructor(
    private readonly all: EventStreams,
    private readonly res: HttpResponse,
    private readonly onEnd: () => void,
  ) {
    this.#place = all.enter(this);
    res.onWritable(() => {
      this.#goOn();
      return true;
    });
  }

  opened(onOver: () => void): void {
    if (this.isOver) onOver();
    else this.#onOver = onOver;
  }

  get isOver(): boolean {
    return this.#place === null;
  }

  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  send(piece: Uint8Array): void {
    if (this.isOver) return;
    this.#quietSinceMs = performance.now();
    this.#given += piece.length;
    this.res.cork(() => {
      this.#isBlocked = !this.res.write(piece);
    });
  }

  async sendLong(event: Uint8Array): Promise<void> {
    this.#rest = event;
    this.#pace = new SlowReaderCheck(performance.now(), this.#given, pieceBytes);
    while (this.#rest.length > 0 && !this.isOver) {
      this.send(this.#takeOfRest(pieceBytes));
      await this.taken();
    }
    this.#pace = null;
    this.#rest = nothing;
  }

  #takeOfRest(bytes: number): Uint8Array {
    const piece = this.#rest.subarray(0, bytes);
    this.#rest = this.#rest.subarray(bytes);
    return piece;
  }

  heldBack(bytes: number): void {
    if (this.isOver) return;
    this.#heldBackBytes += bytes;
    if (this.#heldBackBytes > followerUnsentBytesMax) this.cutOff();
  }

  cutOff(): void {
    if (this.isOver) return;
    this.all.noteCutOff();
    this.res.close();
  }

  taken(): Promise<void> {
    if (this.isOver || !this.#isBlocked) return Promise.resolve();
    return new Promise((resolve) => {
      this.#whenTaken ??= [];
      this.#whenTaken.push(resolve);
    });
  }

  end(): void {
    if (this.isOver) return;
    this.drop();
    this.res.cork(() => this.res.end());
    this.onEnd();
  }

  /** The connection is gone, or the answer over. */
  drop(): void {
    if (this.#place === null) return;
    this.all.leave(this.#place);
    this.#place = null;
    this.#settleTaken();
    this.#onOver?.();
  }

  /**
   * Called once a second. A comment shows the client that the connection is alive. To a client that does not read one is
   * written each time: every try puts off the 10 s after which uWebSockets.js closes a connection by itself. A client that
   * takes a long event too slowly is cut off, as with any other answer.
   */
  check(nowMs: number): void {
    if (this.isOver) return;
    if (!this.#isBlocked && nowMs - this.#quietSinceMs < followerCommentMs) return;
    this.res.cork(() => this.#goOn());
    if (this.#pace?.isTooSlow(nowMs, this.#given)) this.cutOff();
  }

  /**
   * Only a write shows whether the connection has sent its data. It is a comment, or a byte of the event that has
   * begun: a comment would end that.
   */
  #goOn(): void {
    if (this.isOver) return;
    this.#quietSinceMs = performance.now();
    this.#isBlocked = !this.res.write(this.#rest.length > 0 ? this.#takeOfRest(1) : comment);
    if (this.#isBlocked) return;
    this.#heldBackBytes = 0;
    this.#settleTaken();
  }

  #settleTaken(): void {
    const waiting = this.#whenTaken;
    this.#whenTaken = null;
    for (const resolve of waiting ?? []) resolve();
  }
}
