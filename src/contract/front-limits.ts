/** Limits and time-outs of a front that an operator may set; their defaults are those of `limits.ts`. */
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
  /** Stream entries of one tenant that may wait in one partition before its ingest is answered 503. */
  readonly ingestBacklogEntries: number;
  /** Request bodies that one front holds at a time; what arrives beyond it is answered 503. */
  readonly bodiesInFlightBytes: number;
  /** Answers that one front holds for clients that have not read them; beyond it large ones are answered 503. */
  readonly unsentAnswersBytes: number;
  /** A body of which nothing arrives for this long ends the request. */
  readonly bodyIdleMs: number;
  /** How long a request with `X-Service-Min-Version` waits before it is answered 503. */
  readonly minVersionWaitMs: number;
  /** How long a complete answer of a query is waited for before it is answered 503. */
  readonly queryWaitMs: number;
  /** Longest command to Redis; then its request is answered 503. */
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

/** How long after SIGTERM a process may take to end, in ms. `npm start` ends all of its processes in that time. */
export function stopMsOf(limits: Pick<FrontLimits, 'drainMs'>): number {
  return limits.drainMs + stopReserveMs;
}
