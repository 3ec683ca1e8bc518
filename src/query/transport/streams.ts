/** Sends requests and replies as entries of Redis Streams. They reach every worker. */

import type { RedisHost } from '../../store/store.ts';
import type { MessageBody, Reply } from '../../store/streams/message-body.ts';
import { RequestReceiver, RequestSender } from '../../store/streams/messages.ts';
import type { InboundRequest, Listener, LiveWorker, Transport } from './transport.ts';

export class StreamTransport implements Transport {
  readonly #sender: RequestSender;

  /** @param processId of the front, as in its heartbeat */
  constructor(host: RedisHost, processId: string) {
    this.#sender = new RequestSender(host, processId);
  }

  start(): Promise<void> {
    return this.#sender.start();
  }

  send({ id }: LiveWorker, body: MessageBody, timeoutMs: number, onEnd: (reply: Reply) => void): boolean {
    void this.#sender.ask(id, body, timeoutMs).then(onEnd);
    return true;
  }

  close(): Promise<void> {
    return this.#sender.close();
  }
}

export class StreamListener implements Listener {
  readonly #receiver: RequestReceiver;

  /** @param processId of the worker, as in its heartbeat */
  constructor(host: RedisHost, processId: string, onRequest: (request: InboundRequest) => void) {
    this.#receiver = new RequestReceiver(host, processId, ({ body, deadlineMs, reply }) =>
      onRequest({ body, deadlineMs, isGone: false, reply }),
    );
  }

  /** Requests that came too late to be handed over. */
  get stale(): number {
    return this.#receiver.stale;
  }

  start(): Promise<void> {
    return this.#receiver.start();
  }

  close(): Promise<void> {
    return this.#receiver.close();
  }
}
