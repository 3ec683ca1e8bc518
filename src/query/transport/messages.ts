/** Messages between fronts and workers. */
import type { QueryAddresses } from '../../store/processes/process-messages.ts';

/**
 * Content of a message: strings, numbers, bytes and lists of them. Objects with arbitrary keys are sent as JSON, because the
 * MessagePack reader renames `__proto__`.
 */
export type MessageBody = null | boolean | number | string | Uint8Array | readonly MessageBody[];

export type Reply =
  | { readonly kind: 'answer'; readonly body: MessageBody }
  /**
   * `gone`: the connection to the worker ended, or none could be opened. `unavailable`: the request or its reply could not be
   * sent. `late`: no reply before the deadline. `closed`: the front is stopping.
   */
  | { readonly kind: 'lost'; readonly reason: 'gone' | 'unavailable' | 'late' | 'closed' };

/** A request with its number. */
export type RequestMessage = readonly [number: number, timeoutMs: number, body: MessageBody];
/** The reply to the request with this number. Without a body if the reply could not be sent. */
export type ReplyMessage = readonly [number: number, body?: MessageBody];
/** Keepalive of the front. The worker sends it back. */
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

/** A live worker, from its heartbeat. */
export interface LiveWorker {
  /** Id of the process. */
  readonly id: string;
  /** Hostname of its machine. */
  readonly host: string;
  /** Null if it announces none, like workers of another version. */
  readonly addresses: QueryAddresses | null;
}

/** A request received by a worker. */
export interface InboundRequest {
  readonly body: MessageBody;
  /** Deadline of the reply, on the clock of `performance.now()`. */
  readonly deadlineMs: number;
  /** True once the reply can no longer be delivered. */
  readonly isGone: boolean;
  /** Must be called at most once. */
  reply(body: MessageBody): void;
}
