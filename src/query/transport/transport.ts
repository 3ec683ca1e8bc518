/** The interface through which requests get from fronts to workers, and replies back. */
import type { MessageBody, Reply } from '../../store/streams/message-body.ts';

/** A live worker, as its heartbeat describes it. */
export interface LiveWorker {
  /** Id of the process. */
  readonly id: string;
  /** Name of its machine. */
  readonly host: string;
  /** Path of the socket for processes of the same machine; null: the worker has none. */
  readonly socketPath: string | null;
}

/** A front's end. A message may be lost. The transport sends nothing twice. */
export interface Transport {
  /** Resolves once replies can arrive. @throws StoreUnavailableError */
  start(): Promise<void>;
  /**
   * Sends a request to a worker.
   * @param onEnd called once with the reply, or with a loss when the time is over at the latest
   * @returns false when this transport does not reach the worker now; nothing is sent then
   */
  send(worker: LiveWorker, body: MessageBody, timeoutMs: number, onEnd: (reply: Reply) => void): boolean;
  /** Ends all requests under way as lost. */
  close(): Promise<void>;
}

/** A request at a worker. */
export interface InboundRequest {
  readonly body: MessageBody;
  /** Nobody waits for the reply after this time, on the clock of `performance.now()`. */
  readonly deadlineMs: number;
  /** True once nobody can take the reply any more. */
  readonly isGone: boolean;
  /** Must be called at most once. */
  reply(body: MessageBody): void;
}

/** A worker's end. It hands over the requests that come. */
export interface Listener {
  /** Resolves once requests can arrive. @throws StoreUnavailableError */
  start(): Promise<void>;
  close(): Promise<void>;
}
