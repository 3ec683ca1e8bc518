/** The front's end of direct links to the workers on its machine. Whom there is none to is asked through the streams. */
import { createConnection, type Socket } from 'node:net';
import { hostname } from 'node:os';
import type { Reply } from '../../store/streams/message-body.ts';
import { PendingReplies } from '../../store/streams/pending-replies.ts';
import { TextPlaces } from '../protocol/ask-texts.ts';
import { FrameCursor } from '../protocol/frame-buffer.ts';
import { FrameReader } from '../protocol/frames.ts';
import { readReply, writeRequest } from '../protocol/link-messages.ts';
import { takeBytes } from '../protocol/slab.ts';
import { MomentReader, NeedsWriter, type ScatterRequest, type WorkerAnswers } from '../protocol/wire.ts';
import { LinkWriter } from './link-writer.ts';

/** Read at a time, into memory that is used again: a buffer for each read would keep the garbage collector busy. */
const readBytesMax = 256 * 1024;

export type LinkReply = Reply<WorkerAnswers>;

/** A worker that may be linked to. */
export interface LinkedWorker {
  readonly id: string;
  readonly host: string;
  /** Null when it has no link. */
  readonly link: string | null;
}

export class WorkerLinks {
  readonly #links = new Map<string, WorkerLink>();
  #asked = 0;

  /** Requests that went over links so far. */
  get asked(): number {
    return this.#asked;
  }

  /** Connects to workers that are new on this machine, and lets go of those that are not told of any more. */
  follow(workers: readonly LinkedWorker[]): void {
    const near = workers.filter(({ host, link }) => link !== null && host === hostname());
    const ids = new Set(near.map(({ id }) => id));
    for (const [id, link] of this.#links) if (!ids.has(id)) link.close('gone');
    for (const { id, link } of near) {
      if (link === null || this.#links.has(id)) continue;
      this.#links.set(id, new WorkerLink(link, () => this.#links.delete(id)));
    }
  }

  /**
   * @param end called with what becomes of it, at the latest when the time is over
   * @returns false when there is no link to the worker at the moment, and nothing was asked
   */
  ask(
    workerId: string,
    request: ScatterRequest,
    timeoutMs: number,
    end: (reply: LinkReply) => void,
  ): boolean {
    const link = this.#links.get(workerId);
    if (!link?.isOpen) return false;
    this.#asked += 1;
    link.ask(request, timeoutMs, end);
    return true;
  }

  close(): void {
    for (const link of this.#links.values()) link.close('closed');
  }
}

class WorkerLink {
  readonly #socket: Socket;
  readonly #writer: LinkWriter;
  readonly #texts = new TextPlaces();
  readonly #needs = new NeedsWriter();
  readonly #moments = new MomentReader();
  readonly #pending = new PendingReplies<WorkerAnswers>();
  #isOpen = false;

  /** @param onEnd called once it is over, whatever ended it */
  constructor(file: string, onEnd: () => void) {
    const frames = new FrameReader((frame) => this.#takeReplies(new FrameCursor(frame)));
    this.#socket = createConnection({
      path: file,
      onread: {
        buffer: Buffer.allocUnsafeSlow(readBytesMax),
        callback(byteCount, buffer) {
          const piece = takeBytes(byteCount);
          piece.set(buffer.subarray(0, byteCount));
          frames.take(piece);
          return true;
        },
      },
    });
    this.#writer = new LinkWriter(this.#socket);
    this.#socket.on('connect', () => {
      this.#isOpen = true;
    });
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => {
      onEnd();
      this.close('gone');
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  ask({ needs, asks }: ScatterRequest, timeoutMs: number, end: (reply: LinkReply) => void): void {
    const send = (number: number) => {
      const frame = this.#writer.begin(this.#needs.write(needs));
      writeRequest(frame, { number, timeoutMs, asks: this.#texts.send(asks) });
      this.#writer.end();
    };
    this.#pending.ask(timeoutMs, send, end);
  }

  #takeReplies(frame: FrameCursor): void {
    const moment = this.#moments.read(frame.readText());
    while (!frame.isAtEnd) {
      const { number, answers } = readReply(frame);
      this.#pending.settle(number, { kind: 'answer', body: { moment, answers } });
    }
  }

  close(reason: 'gone' | 'closed'): void {
    this.#isOpen = false;
    this.#socket.destroy();
    this.#pending.loseAll(reason);
  }
}
