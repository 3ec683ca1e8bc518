/**
 * The worker's end of direct links: fronts on the same machine ask over a socket of the file system instead of through
 * Redis. Nothing rests on it: whoever cannot connect asks through the streams.
 */
import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import type { MessageBody } from '../store/message-body.ts';
import type { InboundRequest } from '../store/messages.ts';
import { unpack } from '../store/pack.ts';
import { FrameReader } from './frames.ts';
import { newLinkPath } from './link-folder.ts';
import { LinkWriter } from './link-writer.ts';
import type { LinkRequest } from './worker-links.ts';

export class LinkServer {
  #server: Server | null = null;
  #path: string | null = null;
  readonly #sockets = new Set<Socket>();

  constructor(private readonly onRequest: (request: InboundRequest) => void) {}

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
    const writer = new LinkWriter(socket);
    const frames = new FrameReader((bytes) => {
      for (const request of unpack<LinkRequest[]>(bytes)) this.#take(request, writer);
    });
    socket.on('data', (piece) => frames.take(piece));
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
  }

  #take([number, timeoutMs, body]: LinkRequest, writer: LinkWriter): void {
    this.onRequest(new LinkedRequest(body, performance.now() + timeoutMs, number, writer));
  }
}

class LinkedRequest implements InboundRequest {
  constructor(
    readonly body: MessageBody,
    readonly deadlineMs: number,
    private readonly number: number,
    private readonly writer: LinkWriter,
  ) {}

  reply(answer: MessageBody): void {
    this.writer.put([this.number, answer]);
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
