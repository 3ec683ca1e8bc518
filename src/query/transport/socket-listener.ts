/** A worker's end of the sockets of its machine. A front that cannot connect asks through the streams. */
import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import type { MessageBody } from '../../store/streams/message-body.ts';
import { FramedSocket } from './framed-socket.ts';
import { newSocketPath } from './socket-folder.ts';
import type { SocketReply, SocketRequest } from './sockets.ts';
import type { InboundRequest, Listener } from './transport.ts';

export class SocketListener implements Listener {
  #server: Server | null = null;
  #path: string | null = null;
  readonly #sockets = new Set<Socket>();

  constructor(private readonly onRequest: (request: InboundRequest) => void) {}

  /** Path of the socket, for the heartbeat; null when there are no sockets here. */
  get path(): string | null {
    return this.#path;
  }

  /** Never throws: without sockets everything goes through the streams. */
  async start(): Promise<void> {
    const file = await newSocketPath(isDead);
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
    socket.on('close', () => this.#sockets.delete(socket));
    const framed = new FramedSocket(socket, (message) => {
      // A front of another version sends another form.
      if (isRequest(message)) this.onRequest(new SocketInboundRequest(message, framed));
      else socket.destroy();
    });
  }
}

class SocketInboundRequest implements InboundRequest {
  readonly body: MessageBody;
  readonly deadlineMs: number;
  readonly #number: number;

  constructor(
    [number, timeoutMs, body]: SocketRequest,
    private readonly socket: FramedSocket,
  ) {
    this.#number = number;
    this.deadlineMs = performance.now() + timeoutMs;
    this.body = body;
  }

  get isGone(): boolean {
    return !this.socket.isOpen;
  }

  reply(body: MessageBody): void {
    const reply: SocketReply = [this.#number, body];
    this.socket.send(reply);
  }
}

function isRequest(message: unknown): message is SocketRequest {
  if (!Array.isArray(message) || message.length !== 3) return false;
  const [number, timeoutMs] = message;
  return typeof number === 'number' && typeof timeoutMs === 'number';
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
