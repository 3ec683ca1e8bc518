import type { RedisHost } from '../../store/store.ts';
import { SocketListener } from './sockets.ts';
import { StreamListener } from './streams.ts';
import type { InboundRequest, Listener } from './transport.ts';

/** All ways of fronts to a worker: its stream, and its socket for fronts of its machine. */
export class WorkerListener implements Listener {
  readonly #sockets: SocketListener;
  readonly #streams: StreamListener;

  /** @param processId of the worker, as in its heartbeat */
  constructor(host: RedisHost, processId: string, onRequest: (request: InboundRequest) => void) {
    this.#sockets = new SocketListener(onRequest);
    this.#streams = new StreamListener(host, processId, onRequest);
  }

  /** Path of the socket for fronts of this machine, for the heartbeat; null: there is none. */
  get socketPath(): string | null {
    return this.#sockets.path;
  }

  /** Requests that came too late to be handed over. */
  get stale(): number {
    return this.#streams.stale;
  }

  async start(): Promise<void> {
    await Promise.all([this.#sockets.start(), this.#streams.start()]);
  }

  async close(): Promise<void> {
    await Promise.all([this.#sockets.close(), this.#streams.close()]);
  }
}
