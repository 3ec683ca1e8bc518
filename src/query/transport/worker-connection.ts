/** A front's connection to one worker. */

import { randomInt } from 'node:crypto';
import { createConnection, type Socket } from 'node:net';
import { queryHandshakeMs } from '../../contract/limits.ts';
import { SweptSlots } from '../../lib/slot-map.ts';
import { FramedSocket } from './framed-socket.ts';
import { FrontHandshake, handshakeFrameBytesMax } from './handshake.ts';
import { isReply, type MessageBody, ping, type Reply, type RequestMessage } from './messages.ts';

/** Maximum number of requests that wait for the connection to open. */
const waitingRequestsMax = 1_000;
/** Ticks without received data after which the worker is pinged, and after which the connection is closed. */
const pingTicks = 3;
const silentTicks = 8;

/** Address of a Unix domain socket, or of TCP. */
export type SocketAddress = { readonly path: string } | { readonly host: string; readonly port: number };

interface WaitingRequest {
  readonly number: number;
  readonly deadlineMs: number;
  readonly body: MessageBody;
}

export interface WorkerConnectionOptions {
  readonly key: Buffer;
  readonly workerId: string;
  /** Tried one after the other until the worker responds. */
  readonly addresses: readonly SocketAddress[];
  onOpen(): void;
  /** Called once, before its requests end as lost. @param problem why it could not be opened; null if it was open */
  onEnd(problem: string | null): void;
}

export class WorkerConnection {
  readonly #pending = new PendingReplies();
  #waiting: WaitingRequest[] = [];
  #state: 'opening' | 'open' | 'ended' = 'opening';
  #socket: Socket | null = null;
  #framed: FramedSocket | null = null;
  #problem = '';
  readonly #timer: NodeJS.Timeout;
  #bytesRead = 0;
  #quietTicks = 0;

  constructor(private readonly options: WorkerConnectionOptions) {
    this.#timer = setTimeout(() => this.#giveUp(), queryHandshakeMs);
    this.#tryAddress(0);
  }

  /** A request waits while the connection opens. @returns false if no request can be sent now */
  send(body: MessageBody, timeoutMs: number, onEnd: (reply: Reply) => void): boolean {
    if (this.#state === 'ended' || this.#waiting.length >= waitingRequestsMax) return false;
    const write = (number: number) => {
      if (this.#framed !== null) this.#write(this.#framed, [number, timeoutMs, body]);
      else this.#waiting.push({ number, deadlineMs: performance.now() + timeoutMs, body });
    };
    this.#pending.ask(timeoutMs, write, onEnd);
    return true;
  }

  /**
   * Keepalive: a worker that lost its network or its power does not close its connections, so a silent one is pinged, and then
   * its connection is closed. Called once a second: counting calls instead of time ignores pauses of the front itself.
   */
  turn(): void {
    if (this.#framed === null || this.#socket === null) return;
    const { bytesRead } = this.#socket;
    this.#quietTicks = bytesRead === this.#bytesRead ? this.#quietTicks + 1 : 0;
    this.#bytesRead = bytesRead;
    if (this.#quietTicks >= silentTicks) this.#socket.destroy();
    else if (this.#quietTicks >= pingTicks) this.#framed.sendSmall(ping);
  }

  close(): void {
    this.#end('closed', null);
  }

  #tryAddress(at: number): void {
    const address = this.options.addresses[at];
    if (address === undefined) {
      this.#end('gone', this.#problem);
      return;
    }
    const handshake = new FrontHandshake(this.options.key, this.options.workerId);
    const socket = createConnection(address);
    const framed = new FramedSocket(socket, handshakeFrameBytesMax, (frame) => {
      const proof = handshake.proofFor(frame);
      if (proof === null) {
        this.#problem = `the process at ${shown(address)} is not this worker, or it uses another Redis`;
        socket.destroy();
        return;
      }
      framed.sendFrame(proof);
      this.#open(framed);
    });
    this.#socket = socket;
    this.#problem = `nothing at ${shown(address)} answers as a worker`;
    socket.setNoDelay(true);
    socket.on('connect', () => framed.sendFrame(handshake.hello));
    socket.on('error', (error) => {
      this.#problem = `no connection to ${shown(address)} (${'code' in error ? error.code : error.message})`;
    });
    socket.on('close', () => {
      if (this.#state === 'opening') this.#tryAddress(at + 1);
      else this.#end('gone', null);
    });
  }

  #open(framed: FramedSocket): void {
    clearTimeout(this.#timer);
    this.#state = 'open';
    this.#framed = framed;
    framed.readMessages((message) => {
      // A worker of another version may send another format.
      if (isReply(message)) this.#settle(message);
      else if (message !== ping) framed.close();
    });
    const waiting = this.#waiting;
    this.#waiting = [];
    const nowMs = performance.now();
    for (const { number, deadlineMs, body } of waiting) {
      if (deadlineMs > nowMs) this.#write(framed, [number, deadlineMs - nowMs, body]);
    }
    this.options.onOpen();
  }

  #write(framed: FramedSocket, request: RequestMessage): void {
    if (!framed.send(request)) this.#pending.settle(request[0], { kind: 'lost', reason: 'unavailable' });
  }

  #settle([number, ...bodies]: readonly [number: number, body?: MessageBody]): void {
    const [body] = bodies;
    this.#pending.settle(
      number,
      body === undefined ? { kind: 'lost', reason: 'unavailable' } : { kind: 'answer', body },
    );
  }

  /** The worker may be suspended or cut off. The time limit is for all addresses together. */
  #giveUp(): void {
    const problem = this.#problem;
    this.#socket?.destroy();
    this.#end('gone', problem);
  }

  #end(reason: 'gone' | 'closed', problem: string | null): void {
    if (this.#state === 'ended') return;
    this.#state = 'ended';
    clearTimeout(this.#timer);
    this.#socket?.destroy();
    this.#waiting = [];
    // Called before the requests end, so that retries open a new connection.
    this.options.onEnd(problem);
    this.#pending.loseAll(reason);
  }
}

function shown(address: SocketAddress): string {
  return 'path' in address ? address.path : `${address.host}:${address.port}`;
}

/** Maximum delay in detecting a timeout. */
const sweepMs = 20;

/** The number of a request combines its serial and, in the lower digits, its slot. */
const slotsMax = 2 ** 20;
const serialsMax = 2 ** 33;

interface Pending {
  readonly number: number;
  readonly deadlineMs: number;
  readonly end: (reply: Reply) => void;
}

/** Requests to a worker without a reply yet. */
class PendingReplies {
  readonly #pending = new SweptSlots<Pending>(sweepMs, ({ number, deadlineMs }, nowMs) => {
    if (deadlineMs <= nowMs) this.settle(number, { kind: 'lost', reason: 'late' });
  });
  /** Starts at a random number, so that a reply for an earlier process with this id matches no request. */
  #lastSerial = randomInt(serialsMax);

  /**
   * Adds a request.
   * @param send sends it with its number
   * @param end called with its reply or its loss, at the latest after the timeout
   */
  ask(timeoutMs: number, send: (number: number) => void, end: (reply: Reply) => void): void {
    if (this.#pending.size >= slotsMax) {
      end({ kind: 'lost', reason: 'unavailable' });
      return;
    }
    this.#lastSerial = (this.#lastSerial + 1) % serialsMax;
    const pending = { number: 0, deadlineMs: performance.now() + timeoutMs, end };
    pending.number = this.#lastSerial * slotsMax + this.#pending.add(pending);
    send(pending.number);
  }

  /** A reply without a waiting request is dropped: the request has timed out. */
  settle(number: number, reply: Reply): void {
    const slot = number % slotsMax;
    const pending = this.#pending.at(slot);
    if (pending?.number !== number) return;
    this.#pending.remove(slot);
    pending.end(reply);
  }

  /** Ends all requests in progress as lost. */
  loseAll(reason: 'gone' | 'closed'): void {
    this.#pending.each(({ number }) => this.settle(number, { kind: 'lost', reason }));
  }
}
