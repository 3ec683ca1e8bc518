import type { RedisHost } from '../../store/store.ts';
import type { MessageBody, Reply } from '../../store/streams/message-body.ts';
import { SocketTransport } from './sockets.ts';
import { StreamTransport } from './streams.ts';
import type { LiveWorker, Transport } from './transport.ts';

/**
 * All ways of a front to the workers. Workers of its machine are reached over sockets while these are connected, all
 * others through streams.
 */
export class FrontTransport implements Transport {
  readonly #sockets = new SocketTransport();
  readonly #streams: StreamTransport;

  /** @param processId of the front, as in its heartbeat */
  constructor(host: RedisHost, processId: string) {
    this.#streams = new StreamTransport(host, processId);
  }

  /** Requests that went over sockets so far. */
  get sentOverSockets(): number {
    return this.#sockets.sent;
  }

  start(): Promise<void> {
    return this.#streams.start();
  }

  send(worker: LiveWorker, body: MessageBody, timeoutMs: number, onEnd: (reply: Reply) => void): boolean {
    return (
      this.#sockets.send(worker, body, timeoutMs, onEnd) || this.#streams.send(worker, body, timeoutMs, onEnd)
    );
  }

  async close(): Promise<void> {
    await Promise.all([this.#sockets.close(), this.#streams.close()]);
  }
}
