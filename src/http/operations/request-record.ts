import type { Principal } from '../../config/configuration.ts';
import type { Answer } from '../answer.ts';
import { bodyBytesOf } from '../uws/reply.ts';
import type { Log } from './log.ts';
import type { RouteTimes } from './request-times.ts';

/** Of whose requests records are kept: a route of the table, or all requests that none of them takes. */
export interface RecordedRoute {
  /** As the table of endpoints writes it; null: the table has none. */
  readonly path: string | null;
  readonly method: string;
  /** Null: not measured. */
  readonly times: RouteTimes | null;
}

/**
 * One request, as the metrics and the log tell of it. At `debug` the log has a line for it: its method, its route as the table of
 * endpoints writes it, and whose it was. Never its URL, headers or body, in which keys and data may stand.
 */
export class RequestRecord {
  #tenant: string | null = null;
  readonly #startedAtMs = performance.now();

  constructor(
    private readonly log: Log,
    private readonly route: RecordedRoute,
  ) {}

  /** Whose key the request brought. */
  by(principal: Principal | null): void {
    this.#tenant = principal?.tenant.alias ?? null;
  }

  /** The client has taken the whole answer, or all of it is with the system. */
  answered(answer: Answer): void {
    const durationMs = performance.now() - this.#startedAtMs;
    this.route.times?.observe(answer.status, durationMs);
    if (!this.log.writesDebug) return;
    const bytes = answer.isHead === true ? 0 : bodyBytesOf(answer);
    this.#write({ status: answer.status, problem: answer.problem ?? null, bytes }, durationMs, 'answered');
  }

  /** The client went away before it had its whole answer. */
  aborted(): void {
    if (!this.log.writesDebug) return;
    const durationMs = performance.now() - this.#startedAtMs;
    this.#write({ status: null, problem: null, bytes: null }, durationMs, 'aborted');
  }

  #write(
    outcome: {
      readonly status: number | null;
      readonly problem: string | null;
      readonly bytes: number | null;
    },
    durationMs: number,
    message: string,
  ): void {
    const ms = Math.round(durationMs * 1000) / 1000;
    const { path, method } = this.route;
    this.log.debug({ method, route: path, tenant: this.#tenant, ...outcome, ms }, message);
  }
}
