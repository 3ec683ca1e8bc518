/**
 * Server-sent events. A connection buffers at most the one piece that it could not write. Further events wait at their
 * producer, and their bytes are counted. A client that leaves too much unread is disconnected, and reconnects with the id of
 * its last event.
 */
import type { HttpResponse } from 'uWebSockets.js';
import { followerCommentMs, followerUnsentBytesMax } from '../../contract/limits.ts';
import type { ProcessMetrics } from '../../lib/process-metrics.ts';
import { SweptSlots } from '../../lib/slot-map.ts';
import { SlowReaderCheck } from './unsent-answers.ts';

const sweepMs = 1000;
const nothing = new Uint8Array();
const comment = Buffer.from(':\n\n');
const pieceBytes = 16 * 1024;

/** A stream of events to a client, for their producer. */
export type EventStream = Pick<
  OpenEventStream,
  'isOver' | 'isBlocked' | 'send' | 'sendLong' | 'heldBack' | 'taken' | 'end' | 'cutOff'
>;

/** Called when a stream begins. @returns function that is called once when it is over, for whatever reason */
export type OpenStream = (stream: EventStream) => () => void;

export class EventStreams {
  readonly #open = new SweptSlots<OpenEventStream>(sweepMs, (stream, nowMs) => stream.check(nowMs));
  readonly #cutOff;
  #isClosed = false;
  #endings = 0;

  constructor(metrics: ProcessMetrics) {
    this.#cutOff = metrics.counter(
      'millrace_http_streams_cut_off_total',
      'Event streams closed because their clients did not read them',
    );
    metrics.gaugeOf('millrace_http_streams', 'Open event streams', () => this.#open.size);
  }

  /** How often all streams were ended. */
  get endings(): number {
    return this.#endings;
  }

  /**
   * Begins a stream. Must be called within a cork, after the head of the response.
   * @param endings value of `endings` when the request arrived: if all streams were ended since, this one ends immediately too
   * @param onEnd called when the stream was ended, but not when it was aborted
   */
  begin(res: HttpResponse, open: OpenStream, endings: number, onEnd: () => void): OpenEventStream {
    const stream = new OpenEventStream(this, res, onEnd);
    res.write(comment);
    if (this.#isClosed || endings !== this.#endings) setImmediate(() => stream.end());
    else stream.opened(open(stream));
    return stream;
  }

  enter(stream: OpenEventStream): number {
    return this.#open.add(stream);
  }

  leave(slot: number): void {
    this.#open.remove(slot);
  }

  countCutOff(): void {
    this.#cutOff.inc();
  }

  /** Ends all streams, and those that begin later. */
  close(): void {
    this.#isClosed = true;
    this.endAll();
  }

  endAll(): void {
    this.#endings += 1;
    this.#open.each((stream) => stream.end());
  }
}

export class OpenEventStream {
  #slot: number | null;
  #onOver: (() => void) | null = null;
  #isBlocked = false;
  /** Data not sent because the connection is blocked. */
  #heldBackBytes = 0;
  /** The part of the current long event that was not sent yet. */
  #rest: Uint8Array = nothing;
  /** Checks how fast the client reads that event. */
  #pace: SlowReaderCheck | null = null;
  /** Bytes passed to the connection. */
  #sentBytes = 0;
  #quietSinceMs = performance.now();
  #whenTaken: (() => void)[] | null = null;

  constructor(
    private readonly all: EventStreams,
    private readonly res: HttpResponse,
    private readonly onEnd: () => void,
  ) {
    this.#slot = all.enter(this);
    res.onWritable(() => {
      this.#resume();
      return true;
    });
  }

  opened(onOver: () => void): void {
    if (this.isOver) onOver();
    else this.#onOver = onOver;
  }

  /** True if nothing more can be sent to the client. */
  get isOver(): boolean {
    return this.#slot === null;
  }

  /** True while the connection has unsent data. The producer must wait before it sends more. */
  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  /** Sends events, whose bytes may be shared with other streams. Must not be called while the connection is blocked. */
  send(piece: Uint8Array): void {
    if (this.isOver) return;
    this.#quietSinceMs = performance.now();
    this.#sentBytes += piece.length;
    this.res.cork(() => {
      this.#isBlocked = !this.res.write(piece);
    });
  }

  /**
   * Sends an event of any length, as fast as the client reads. Resolves when all of it is sent, or the client has disconnected.
   */
  async sendLong(event: Uint8Array): Promise<void> {
    this.#rest = event;
    this.#pace = new SlowReaderCheck(performance.now(), this.#sentBytes, pieceBytes);
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

  /** Reports that events were not sent because the connection is blocked. */
  heldBack(bytes: number): void {
    if (this.isOver) return;
    this.#heldBackBytes += bytes;
    if (this.#heldBackBytes > followerUnsentBytesMax) this.cutOff();
  }

  /** Disconnects a client that reads too slowly. */
  cutOff(): void {
    if (this.isOver) return;
    this.all.countCutOff();
    this.res.close();
  }

  /** Resolves when the connection is no longer blocked, or the client has disconnected. */
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

  /** Must be called when the connection is closed or the response is over. */
  drop(): void {
    if (this.#slot === null) return;
    this.all.leave(this.#slot);
    this.#slot = null;
    this.#settleTaken();
    this.#onOver?.();
  }

  /**
   * Called once a second. A comment shows the client that the connection is alive. For a blocked connection one is written each
   * time, because every write restarts the 10 s after which uWebSockets.js closes it. A client that reads a long event too
   * slowly is disconnected, as with any other response.
   */
  check(nowMs: number): void {
    if (this.isOver) return;
    if (!this.#isBlocked && nowMs - this.#quietSinceMs < followerCommentMs) return;
    this.res.cork(() => this.#resume());
    if (this.#pace?.isTooSlow(nowMs, this.#sentBytes)) this.cutOff();
  }

  /**
   * Only a write shows whether the connection has sent its data. It writes a comment, or one byte of the current long event,
   * which a comment would end.
   */
  #resume(): void {
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
