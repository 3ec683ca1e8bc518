// Of the global of this name, Node runs a getter each time.
import { performance } from 'node:perf_hooks';
import type { Principal } from '../../config/configuration.ts';
import type { Answer } from '../answer.ts';
import { bodyBytesOf } from '../uws/reply.ts';
import type { Log } from './log.ts';
import type { RouteTimes } from './request-times.ts';

/** The route of a recorded request. Requests that no route of the table takes share one. */
export interface RecordedRoute {
  /** As the route table writes it; null when the table has no such route. */
  readonly path: string | null;
  readonly method: string;
  /** Null: not measured. */
  readonly times: RouteTimes | null;
}

/**
 * One request, as the metrics and the log show it. At `debug` the log has a line for it, with its method, its route as
 * the route table writes it, its tenant and its ids. The line never has the URL, headers or body, because keys and data may
 * be in them.
 */
export class RequestRecord {
  #tenant: string | null = null;
  readonly #startedAtMs = performance.now();

  constructor(
    private readonly log: Log,
    private readonly route: RecordedRoute,
    /** Of `X-Request-Id`. */
    readonly requestId: string,
    private readonly traceparent: string | null,
    /** Header lines that the answer gets beside its own, from `headLines`. */
    readonly addedLines: string,
  ) {}

  /** Only the head of the answer is sent. */
  get isHead(): boolean {
    return this.route.method === 'HEAD';
  }

  /** Notes whose key the request brought. */
  by(principal: Principal | null): void {
    this.#tenant = principal?.tenant.alias ?? null;
  }

  /** Notes that the client has taken the whole answer, or that the operating system has all of it. */
  answered(answer: Answer): void {
    const durationMs = performance.now() - this.#startedAtMs;
    this.route.times?.observe(answer.status, durationMs);
    if (!this.log.writesDebug) return;
    const bytes = answer.isHead === true ? 0 : bodyBytesOf(answer);
    this.#write({ status: answer.status, problem: answer.problem ?? null, bytes }, durationMs, 'answered');
  }

  /** Notes that the client went away before it had its whole answer. */
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
    const { requestId, traceparent } = this;
    this.log.debug(
      { method, route: path, tenant: this.#tenant, requestId, traceparent, ...outcome, ms },
      message,
    );
  }
}
