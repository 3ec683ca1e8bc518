/** Limits and timeouts of a front that an operator can set; the defaults are in `limits.ts`. */
import {
  bodiesInFlightBytes,
  bodyIdleTimeoutMs,
  drainMs,
  ingestBacklogEntries,
  minVersionWaitMs,
  queryWaitMs,
  redisCommandTimeoutMs,
  stopReserveMs,
  unsentAnswersBytes,
} from './limits.ts';

export interface FrontLimits {
  /** Maximum number of stream entries of a tenant waiting in a partition; beyond it, its ingest gets a 503. */
  readonly ingestBacklogEntries: number;
  /** Maximum bytes of request bodies held by a front; requests beyond it get a 503. */
  readonly bodiesInFlightBytes: number;
  /** Maximum bytes of responses that clients have not yet read; beyond it, large ones get a 503. */
  readonly unsentAnswersBytes: number;
  /** How long a body may be idle before the request ends. */
  readonly bodyIdleMs: number;
  /** How long a request with `X-Service-Min-Version` waits before it gets a 503. */
  readonly minVersionWaitMs: number;
  /** How long a query waits for a complete answer before it gets a 503. */
  readonly queryWaitMs: number;
  /** Timeout of Redis commands, after which the request gets a 503. */
  readonly redisTimeoutMs: number;
  /** How long requests may continue after SIGTERM. */
  readonly drainMs: number;
}

export const defaultFrontLimits: FrontLimits = {
  ingestBacklogEntries,
  bodiesInFlightBytes,
  unsentAnswersBytes,
  bodyIdleMs: bodyIdleTimeoutMs,
  minVersionWaitMs,
  queryWaitMs,
  redisTimeoutMs: redisCommandTimeoutMs,
  drainMs,
};

/** How long a process may take to end after SIGTERM, in ms. `npm start` ends all of its processes in that time. */
export function stopMsOf(limits: Pick<FrontLimits, 'drainMs'>): number {
  return limits.drainMs + stopReserveMs;
}
