/** The front's end of direct links to the workers on its machine. Whom there is none to is asked through the streams. */
import { createConnection, type Socket } from 'node:net';
import { hostname } from 'node:os';
import type { MessageBody, Reply } from '../store/message-body.ts';
import { unpack } from '../store/pack.ts';
import { PendingReplies } from '../store/pending-replies.ts';
import { FrameReader } from './frames.ts';
import { LinkWriter } from './link-writer.ts';
import { takeBytes } from './slab.ts';

/** Read at a time, into memory that is used again: a buffer for each read would keep the garbage collector busy. */
const readBytesMax = 256 * 1024;

export type LinkRequest = readonly [number: number, timeoutMs: number, body: MessageBody];
export type LinkReply = readonly [number: number, body: MessageBody];

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

  /** Null when there is no link to the worker at the moment. Otherwise it resolves, at the latest when the time is over. */
  ask(workerId: string, body: MessageBody, timeoutMs: number): Promise<Reply> | null {
    const link = this.#links.get(workerId);
    if (!link?.isOpen) return null;
    this.#asked += 1;
    return link.ask(body, timeoutMs);
  }

  close(): void {
    for (const link of this.#links.values()) link.close('closed');
  }
}

class WorkerLink {
  readonly #socket: Socket;
  readonly #writer: LinkWriter;
  readonly #pending = new PendingReplies();
  #isOpen = false;

  /** @param onEnd called once it is over, whatever ended it */
  constructor(file: string, onEnd: () => void) {
    const frames = new FrameReader((bytes) => {
      for (const [number, body] of unpack<LinkReply[]>(bytes))
        this.#pending.settle(number, { kind: 'answer', body });
    });
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

  ask(body: MessageBody, timeoutMs: number): Promise<Reply> {
    return this.#pending.ask(timeoutMs, (number) => this.#writer.put([number, timeoutMs, body]));
  }

  close(reason: 'gone' | 'closed'): void {
    this.#isOpen = false;
    this.#socket.destroy();
    this.#pending.loseAll(reason);
  }
}
