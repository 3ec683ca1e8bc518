/** What a front and a worker know of each other when queries travel between them. */
import type { QueryAddresses } from '../../store/processes/process-messages.ts';
import type { MessageBody } from './message-body.ts';

/** A live worker, as its heartbeat describes it. */
export interface LiveWorker {
  /** Id of the process. */
  readonly id: string;
  /** Name of its machine. */
  readonly host: string;
  /** Null: it announces none, as workers of another version do. */
  readonly addresses: QueryAddresses | null;
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
