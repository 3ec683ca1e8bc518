/** The worker's end of connections: receives requests of authenticated fronts. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type ListenOptions, type Server, type Socket } from 'node:net';
import { queryHandshakeMs, queryHandshakesMax } from '../../contract/limits.ts';
import { codeOf } from '../../lib/message-text.ts';
import type { QueryAddresses } from '../../store/processes/process-messages.ts';
import { FramedSocket } from './framed-socket.ts';
import { handshakeFrameBytesMax, transportKey, WorkerHandshake } from './handshake.ts';
import { announcedHost, type ListenAddress, newSocketPath } from './listen-address.ts';
import {
  type InboundRequest,
  isRequest,
  type MessageBody,
  ping,
  type ReplyMessage,
  type RequestMessage,
} from './messages.ts';

/** A connection that is idle for longer is closed: fronts send keepalives more often. */
const silentMs = 30_000;

export interface WorkerListenerOptions {
  /** The secret of the store. */
  readonly secret: Buffer;
  /** Id of the worker, as in its heartbeat. */
  readonly workerId: string;
  readonly listen: ListenAddress;
  onRequest(request: InboundRequest): void;
  /** Called for the first connection that fails the authentication. @param from its address */
  onStranger(from: string): void;
}

export class WorkerListener {
  readonly #key: Buffer;
  readonly #servers: Server[] = [];
  readonly #sockets = new Set<Socket>();
  #addresses: QueryAddresses = { socketPath: null, tcp: null };
  #hasReported = false;

  constructor(private readonly options: WorkerListenerOptions) {
    this.#key = transportKey(options.secret);
  }

  /** Addresses for the heartbeat. */
  get addresses(): QueryAddresses {
    return this.#addresses;
  }

  /** Resolves when it is listening. @throws Error with a one-line message if it cannot listen on the TCP address */
  async start(): Promise<void> {
    const socketPath = await this.#listenOnPath();
    this.#addresses = { socketPath, tcp: await this.#listenOnTcp() };
  }

  async close(): Promise<void> {
    this.#addresses = { socketPath: null, tcp: null };
    const closed = this.#servers.map((server) => new Promise((resolve) => server.close(resolve)));
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(closed);
  }

  /** Without a Unix domain socket, everything uses TCP. */
  async #listenOnPath(): Promise<string | null> {
    const path = await newSocketPath();
    if (path === null) return null;
    try {
      await this.#listen({ path });
      return path;
    } catch {
      return null;
    }
  }

  async #listenOnTcp(): Promise<QueryAddresses['tcp']> {
    const { host, port, announced } = this.options.listen;
    try {
      const { port: ownPort } = await this.#listen({ host, port });
      return { host: announced?.host ?? announcedHost(host), port: announced?.port ?? ownPort };
    } catch (error) {
      await this.close();
      throw new Error(
        `cannot listen on ${host}:${port} for queries (${codeOf(error) ?? error}): change WORKER_HOST or WORKER_PORT`,
        { cause: error },
      );
    }
  }

  async #listen(where: ListenOptions): Promise<{ port: number }> {
    // Connections in the handshake, the oldest first.
    const strangers = new Set<Socket>();
    const server = createServer((socket) => this.#greet(socket, strangers));
    server.listen(where);
    await once(server, 'listening');
    server.on('error', () => {});
    this.#servers.push(server);
    const address = server.address();
    return isTcp(address) ? address : { port: 0 };
  }

  #greet(socket: Socket, strangers: Set<Socket>): void {
    this.#sockets.add(socket);
    strangers.add(socket);
    const timer = setTimeout(() => socket.destroy(), queryHandshakeMs);
    const endHandshake = () => {
      clearTimeout(timer);
      strangers.delete(socket);
    };
    socket.on('close', () => {
      endHandshake();
      this.#sockets.delete(socket);
    });
    this.#dropOldest(strangers);
    socket.setNoDelay(true);
    const handshake = new WorkerHandshake(this.#key, this.options.workerId);
    const framed = new FramedSocket(socket, handshakeFrameBytesMax, (frame) => {
      if (handshake.isGreeted) {
        if (!handshake.isProven(frame)) this.#refuse(socket);
        else {
          endHandshake();
          this.#serve(socket, framed);
        }
        return;
      }
      const reply = handshake.replyTo(frame);
      if (reply === null) socket.destroy();
      else framed.sendFrame(reply);
    });
  }

  /** Fronts complete their handshake quickly. So many open handshakes are not from fronts, and must not lock fronts out. */
  #dropOldest(strangers: Set<Socket>): void {
    const [oldest] = strangers;
    if (strangers.size <= queryHandshakesMax || oldest === undefined) return;
    strangers.delete(oldest);
    oldest.destroy();
  }

  #refuse(socket: Socket): void {
    const from = socket.remoteAddress ?? 'this machine';
    socket.destroy();
    if (this.#hasReported) return;
    this.#hasReported = true;
    this.options.onStranger(from);
  }

  #serve(socket: Socket, framed: FramedSocket): void {
    socket.setTimeout(silentMs, () => socket.destroy());
    framed.pauseWhenFull();
    framed.readMessages((message) => {
      if (isRequest(message)) this.options.onRequest(new SocketRequest(message, framed));
      else if (message === ping) framed.sendSmall(ping);
      // A front of another version may send another format.
      else framed.close();
    });
  }
}

function isTcp(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === 'object' && address !== null;
}

class SocketRequest implements InboundRequest {
  readonly body: MessageBody;
  readonly deadlineMs: number;
  readonly #number: number;

  constructor(
    [number, timeoutMs, body]: RequestMessage,
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
    const reply: ReplyMessage = [this.#number, body];
    const none: ReplyMessage = [this.#number];
    if (!this.socket.send(reply)) this.socket.sendSmall(none);
  }
}
