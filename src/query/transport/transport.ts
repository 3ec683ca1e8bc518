/** How requests get from fronts to workers, and replies back. */
import type { MessageBody, Reply } from '../../store/streams/message-body.ts';

/** A worker that lives, as its heartbeat tells of it. */
export interface LiveWorker {
  /** Id of the process. */
  readonly id: string;
  /** Name of its machine. */
  readonly host: string;
  /** Where processes of the same machine can connect to it; null: nowhere. */
  readonly socketPath: string | null;
}

/** A front's end. A message may be lost, and nothing is sent twice. */
export interface Transport {
  /** Resolves once replies can arrive. @throws StoreUnavailableError */
  start(): Promise<void>;
  /**
   * Sends a request to a worker.
   * @param onEnd called once with what becomes of it, as lost at the latest when the time is over
   * @returns false, with nothing sent, when this transport does not reach the worker at the moment
   */
  send(worker: LiveWorker, body: MessageBody, timeoutMs: number, onEnd: (reply: Reply) => void): boolean;
  /** Ends all requests under way as lost. */
  close(): Promise<void>;
}

/** A request at a worker. */
export interface InboundRequest {
  readonly body: MessageBody;
  /** On the clock of `performance.now()`; after it nobody waits for the reply. */
  readonly deadlineMs: number;
  /** True once nobody can take the reply any more. */
  readonly isGone: boolean;
  /** To be called once at most. */
  reply(body: MessageBody): void;
}

/** A worker's end: hands over the requests that come. */
export interface Listener {
  /** Resolves once requests can arrive. @throws StoreUnavailableError */
  start(): Promise<void>;
  close(): Promise<void>;
}
