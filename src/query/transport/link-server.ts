/**
 * The worker's end of direct links: fronts on the same machine ask over a socket of the file system instead of through
 * Redis. Nothing rests on it: whoever cannot connect asks through the streams.
 */
import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { PlacedTexts } from '../protocol/ask-texts.ts';
import { FrameCursor } from '../protocol/frame-buffer.ts';
import { FrameReader } from '../protocol/frames.ts';
import { readRequest, writeReply } from '../protocol/link-messages.ts';
import { type Answers, NeedsReader, type ScatterRequest } from '../protocol/wire.ts';
import type { InboundAsks } from '../worker/inbound-asks.ts';
import { newLinkPath } from './link-folder.ts';
import { LinkWriter } from './link-writer.ts';

export class LinkServer {
  #server: Server | null = null;
  #path: string | null = null;
  readonly #sockets = new Set<Socket>();

  constructor(private readonly onAsks: (asks: InboundAsks) => void) {}

  /** Where fronts connect to, for the heartbeat; null when there are no links here. */
  get path(): string | null {
    return this.#path;
  }

  /** Never throws: without links everything goes through the streams. */
  async start(): Promise<void> {
    const file = await newLinkPath(isDead);
    if (file === null) return;
    const server = createServer((socket) => this.#serve(socket));
    try {
      server.listen(file);
      await once(server, 'listening');
    } catch {
      return;
    }
    server.on('error', () => {});
    this.#server = server;
    this.#path = file;
  }

  async close(): Promise<void> {
    this.#path = null;
    const server = this.#server;
    this.#server = null;
    for (const socket of this.#sockets) socket.destroy();
    if (server !== null) await new Promise((resolve) => server.close(resolve));
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    const front = new LinkedFront(socket, this.onAsks);
    const frames = new FrameReader((frame) => front.take(new FrameCursor(frame)));
    socket.on('data', (piece) => {
      try {
        frames.take(piece);
      } catch {
        // Whoever speaks like that is no front of this version.
        socket.destroy();
      }
    });
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
  }
}

class LinkedFront {
  readonly #writer: LinkWriter;
  readonly #texts = new PlacedTexts();
  readonly #needs = new NeedsReader();

  constructor(
    socket: Socket,
    private readonly onAsks: (asks: InboundAsks) => void,
  ) {
    this.#writer = new LinkWriter(socket);
  }

  /** @throws RangeError for what is no frame of requests */
  take(frame: FrameCursor): void {
    const nowMs = performance.now();
    const needs = this.#needs.read(frame.readText());
    while (!frame.isAtEnd) {
      const { number, timeoutMs, asks } = readRequest(frame);
      const request = { needs, asks: this.#texts.receive(asks) };
      this.onAsks(new LinkedAsks(request, nowMs + timeoutMs, number, this.#writer));
    }
  }
}

class LinkedAsks implements InboundAsks {
  constructor(
    readonly request: ScatterRequest,
    readonly deadlineMs: number,
    private readonly number: number,
    private readonly writer: LinkWriter,
  ) {}

  get isGone(): boolean {
    return !this.writer.isOpen;
  }

  reply(moment: string, answers: Answers): void {
    writeReply(this.writer.begin(moment), { number: this.number, answers });
    this.writer.end();
  }
}

/** True when nobody listens there. */
async function isDead(file: string): Promise<boolean> {
  const socket = createConnection(file);
  try {
    await once(socket, 'connect');
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
  } finally {
    socket.destroy();
  }
}
