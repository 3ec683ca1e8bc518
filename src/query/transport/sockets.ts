/**
 * A front's connections to the workers of its machine, over sockets of the file system. This is a fast path: through
 * Redis a message is written and read three times each way. Its figure stands in `bench/README.md`, "Fast paths".
 */
import { createConnection } from 'node:net';
import { hostname } from 'node:os';
import type { MessageBody, Reply } from '../../store/streams/message-body.ts';
import { PendingReplies } from '../../store/streams/pending-replies.ts';
import { FramedSocket } from './framed-socket.ts';
import type { LiveWorker, Transport } from './transport.ts';

/** A worker that does not listen is not tried again for this long. */
const retryMs = 1_000;

/** The messages. A reply has the number of its request. */
export type SocketRequest = readonly [number: number, timeoutMs: number, body: MessageBody];
export type SocketReply = readonly [number: number, body: MessageBody];

export class SocketTransport implements Transport {
  readonly #host = hostname();
  /** Connections by the path of the worker's socket. Those that ended stay for `retryMs`. */
  readonly #connections = new Map<string, WorkerConnection>();
  #sent = 0;
  #isClosed = false;

  /** Requests sent so far. */
  get sent(): number {
    return this.#sent;
  }

  async start(): Promise<void> {}

  /** The first request to a worker begins to connect, and has to go another way. */
  send(worker: LiveWorker, body: MessageBody, timeoutMs: number, onEnd: (reply: Reply) => void): boolean {
    const { host, socketPath } = worker;
    if (socketPath === null || host !== this.#host || this.#isClosed) return false;
    const connection = this.#connections.get(socketPath) ?? this.#connect(socketPath);
    if (!connection.isOpen) return false;
    this.#sent += 1;
    connection.send(body, timeoutMs, onEnd);
    return true;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const connection of this.#connections.values()) connection.close('closed');
  }

  #connect(socketPath: string): WorkerConnection {
    const connection = new WorkerConnection(socketPath, () => {
      setTimeout(() => this.#connections.delete(socketPath), retryMs).unref();
    });
    this.#connections.set(socketPath, connection);
    return connection;
  }
}

class WorkerConnection {
  readonly #socket: FramedSocket;
  readonly #pending = new PendingReplies<MessageBody>();
  #isOpen = false;

  /** @param onEnd called when the connection has ended, whatever ended it */
  constructor(socketPath: string, onEnd: () => void) {
    const socket = createConnection(socketPath);
    this.#socket = new FramedSocket(socket, (message) => {
      const [number, body] = message as SocketReply;
      this.#pending.settle(number, { kind: 'answer', body });
    });
    socket.on('connect', () => {
      this.#isOpen = true;
    });
    socket.on('close', () => {
      this.close('gone');
      onEnd();
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  send(body: MessageBody, timeoutMs: number, onEnd: (reply: Reply) => void): void {
    const write = (number: number) => {
      const request: SocketRequest = [number, timeoutMs, body];
      this.#socket.send(request);
    };
    this.#pending.ask(timeoutMs, write, onEnd);
  }

  close(reason: 'gone' | 'closed'): void {
    this.#isOpen = false;
    this.#socket.close();
    this.#pending.loseAll(reason);
  }
}
