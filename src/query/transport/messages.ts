/** Messages between fronts and workers, and what each side needs to know of the other. */
import type { QueryAddresses } from '../../store/processes/process-messages.ts';

/**
 * What a message carries: text, numbers, bytes and lists of them. Objects with keys that others choose travel as JSON text:
 * MessagePack's reader renames `__proto__`.
 */
export type MessageBody = null | boolean | number | string | Uint8Array | readonly MessageBody[];

export type Reply<Body = MessageBody> =
  | { readonly kind: 'answer'; readonly body: Body }
  /**
   * `gone`: the connection to the worker ended, or none could be opened. `unavailable`: the request or its reply could not be
   * sent. `late`: no reply before the deadline. `closed`: the front ends.
   */
  | { readonly kind: 'lost'; readonly reason: 'gone' | 'unavailable' | 'late' | 'closed' };

/** A request and its number. */
export type RequestMessage = readonly [number: number, timeoutMs: number, body: MessageBody];
/** The reply to the request of this number. Without a body: there is a reply, and it cannot be sent. */
export type ReplyMessage = readonly [number: number, body?: MessageBody];
/** Asks whether the worker is still there. It sends back the same. */
export const ping = true;

export function isRequest(message: unknown): message is RequestMessage {
  if (!Array.isArray(message) || message.length !== 3) return false;
  const [number, timeoutMs] = message;
  return typeof number === 'number' && typeof timeoutMs === 'number';
}

export function isReply(message: unknown): message is ReplyMessage {
  if (!Array.isArray(message) || message.length < 1 || message.length > 2) return false;
  return typeof message[0] === 'number';
}

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
  /** Deadline of the reply, on the clock of `performance.now()`. */
  readonly deadlineMs: number;
  /** True once the reply can no longer be delivered. */
  readonly isGone: boolean;
  /** Must be called at most once. */
  reply(body: MessageBody): void;
}
