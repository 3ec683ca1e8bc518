/**
 * Requests and replies over sockets of the file system, between the fronts and workers of a machine: a front's connections, a
 * worker's end, and the frames between them. This is a fast path: through Redis a message is written and read three times
 * each way. Its figure: bench/README.md "Fast paths".
 */
import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { pack, unpack } from '../../store/codec/pack.ts';
import type { MessageBody, Reply } from '../../store/streams/message-body.ts';
import { PendingReplies } from '../../store/streams/pending-replies.ts';
import { newSocketPath } from './socket-folder.ts';
import type { InboundRequest, Listener, LiveWorker, Transport } from './transport.ts';

/** A worker that does not listen is not tried again for this long. */
const retryMs = 1_000;
/** Length of a frame, before its bytes: little-endian. */
const headBytes = 4;
/** In a long turn, messages that have waited this long leave with the next one. */
const holdMs = 0.5;

/** The messages. A reply has the number of its request. */
type SocketRequest = readonly [number: number, timeoutMs: number, body: MessageBody];
type SocketReply = readonly [number: number, body: MessageBody];

/** A front's end. */
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
      // A worker of another version sends another form.
      if (isReply(message)) this.#pending.settle(message[0], { kind: 'answer', body: message[1] });
      else socket.destroy();
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

/** A worker's end. A front that cannot connect asks through the streams. */
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

function isReply(message: unknown): message is SocketReply {
  return Array.isArray(message) && message.length === 2 && typeof message[0] === 'number';
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

/**
 * Sends packed messages over a socket, each in a frame: its length and its bytes. Messages of one turn of the event loop leave
 * in one write, because a system call may have to wake the process at the other end.
 */
export class FramedSocket {
  /** Packed messages that have not left. */
  #held: Uint8Array[] = [];
  /** When the first of them was sent, on the clock of `performance.now()`. */
  #heldSinceMs = 0;

  /** @param onMessage called with each message. It must check the form of a message that a stranger may have sent */
  constructor(
    private readonly socket: Socket,
    private readonly onMessage: (message: unknown) => void,
  ) {
    const frames = new FrameReader((frame) => this.#read(frame));
    socket.on('data', (piece) => frames.take(piece));
    socket.on('error', () => {});
  }

  /** False once nobody reads at the other end. */
  get isOpen(): boolean {
    return this.socket.writable;
  }

  /** Sends a message. A closed socket takes nothing. */
  send(message: unknown): void {
    if (!this.socket.writable) return;
    if (this.#held.length === 0) {
      this.#heldSinceMs = performance.now();
      setImmediate(this.#letGo);
    }
    this.#held.push(pack(message));
    if (performance.now() - this.#heldSinceMs >= holdMs) this.#letGo();
  }

  readonly #letGo = (): void => {
    if (this.#held.length > 0 && this.socket.writable) this.socket.write(framed(this.#held));
    this.#held = [];
  };

  close(): void {
    this.socket.destroy();
  }

  /** A peer that sends anything but packed messages is cut off, and what came together with that is not read. */
  #read(frame: Buffer): void {
    if (this.socket.destroyed) return;
    let message: unknown;
    try {
      message = unpack(frame);
    } catch {
      this.socket.destroy();
      return;
    }
    this.onMessage(message);
  }
}

/** The messages in frames, one after the other. */
function framed(messages: readonly Uint8Array[]): Buffer {
  const bytes = messages.reduce((sum, { length }) => sum + headBytes + length, 0);
  const frames = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const message of messages) {
    at = frames.writeUInt32LE(message.length, at);
    frames.set(message, at);
    at += message.length;
  }
  return frames;
}

/** Finds the frames in the pieces of a stream, however they are cut. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #heldBytes = 0;
  /** Bytes to hold before looking for a frame again. */
  #wantedBytes = headBytes;

  constructor(private readonly onFrame: (bytes: Buffer) => void) {}

  /** Takes the next piece. @param piece must not be changed from now on */
  take(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#heldBytes += piece.length;
    if (this.#heldBytes < this.#wantedBytes) return;
    const held = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces);
    const from = this.#readFrames(held);
    this.#pieces = from < held.length ? [held.subarray(from)] : [];
    this.#heldBytes = held.length - from;
  }

  /** @returns the place after the last whole frame */
  #readFrames(held: Buffer): number {
    for (let from = 0; ; ) {
      const left = held.length - from;
      this.#wantedBytes = left < headBytes ? headBytes : headBytes + held.readUInt32LE(from);
      if (left < this.#wantedBytes) return from;
      const end = from + this.#wantedBytes;
      this.onFrame(held.subarray(from + headBytes, end));
      from = end;
    }
  }
}
