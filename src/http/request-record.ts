/**
 * Requests in the metrics and the log: their number and duration by route, a log line for each at `debug`, and the ids that
 * identify a request in logs and other systems (`X-Request-Id`, and `traceparent` of W3C Trace Context).
 */
import { randomBytes } from 'node:crypto';
// Imported, because the global `performance` is a getter that runs at each use.
import { performance } from 'node:perf_hooks';
import type { Principal } from '../config/configuration.ts';
import type { Answer } from './answer.ts';
import type { Log } from './log.ts';
import { bodyBytesOf } from './uws/reply.ts';
import type { HeaderReader } from './uws/request-headers.ts';

/** The route of a recorded request. Requests that match no route of the table share one. */
export interface RecordedRoute {
  /** Path pattern in the route table; null if no route matches. */
  readonly path: string | null;
  readonly method: string;
  /** Null if it is not measured. */
  readonly times: RouteTimes | null;
}

/**
 * Records one request in the metrics and the log. At `debug` the log has a line with its method, path pattern, tenant and ids.
 * The line never has the URL, headers or body, because they may contain keys and data.
 */
export class RequestRecord {
  #tenant: string | null = null;
  readonly #startedAtMs = performance.now();

  constructor(
    private readonly log: Log,
    private readonly route: RecordedRoute,
    /** Value of `X-Request-Id` in the response. */
    readonly requestId: string,
    private readonly traceparent: string | null,
    /** Header lines to add to the response, from `headLines`. */
    readonly addedLines: string,
  ) {}

  /** True if only the head of the response is sent. */
  get isHead(): boolean {
    return this.route.method === 'HEAD';
  }

  /** Records the tenant of the request's key. */
  by(principal: Principal | null): void {
    this.#tenant = principal?.tenant.alias ?? null;
  }

  /** Must be called when the whole response was passed to the operating system. */
  answered(answer: Answer): void {
    const durationMs = performance.now() - this.#startedAtMs;
    this.route.times?.observe(answer.status, durationMs);
    if (!this.log.writesDebug) return;
    const bytes = answer.isHead === true ? 0 : bodyBytesOf(answer);
    this.#write({ status: answer.status, problem: answer.problem ?? null, bytes }, durationMs, 'answered');
  }

  /** Must be called if the client disconnects before it has the whole response. */
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

const bucketSeconds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const bucketMs = bucketSeconds.map((seconds) => seconds * 1000);
/** Upper bound of all statuses, exclusive. */
const statusEnd = 600;

/**
 * Counts and durations of the requests of a route, stored as plain numbers and formatted for Prometheus when requested. The
 * metrics library would look up labels twice per request, which takes more than a tenth of the time of a cached answer (`npm
 * run bench -- delivery`).
 */
export class RouteTimes {
  readonly #byStatus = new Float64Array(statusEnd);
  readonly #buckets = new Float64Array(bucketMs.length + 1);
  #totalMs = 0;

  constructor(private readonly labels: string) {}

  /** Counts one finished request. */
  observe(status: number, durationMs: number): void {
    this.#byStatus[status] = (this.#byStatus[status] ?? 0) + 1;
    this.#totalMs += durationMs;
    let bucket = 0;
    while (bucket < bucketMs.length && durationMs > (bucketMs[bucket] ?? 0)) bucket += 1;
    this.#buckets[bucket] = (this.#buckets[bucket] ?? 0) + 1;
  }

  /** Number of finished requests. */
  get count(): number {
    return this.#buckets.reduce((sum, count) => sum + count, 0);
  }

  countSamples(name: string): string[] {
    const samples: string[] = [];
    this.#byStatus.forEach((count, status) => {
      if (count > 0) samples.push(`${name}{${this.labels},status="${status}"} ${count}`);
    });
    return samples;
  }

  durationSamples(name: string): string[] {
    if (this.#byStatus.every((count) => count === 0)) return [];
    let count = 0;
    const samples = bucketSeconds.map((seconds, bucket) => {
      count += this.#buckets[bucket] ?? 0;
      return `${name}_bucket{${this.labels},le="${seconds}"} ${count}`;
    });
    count += this.#buckets[bucketSeconds.length] ?? 0;
    return [
      ...samples,
      `${name}_bucket{${this.labels},le="+Inf"} ${count}`,
      `${name}_sum{${this.labels}} ${this.#totalMs / 1000}`,
      `${name}_count{${this.labels}} ${count}`,
    ];
  }
}

/** All routes as two metrics in the Prometheus text format. */
export function requestText(routes: readonly RouteTimes[]): string {
  const counts = 'millrace_http_requests_total';
  const durations = 'millrace_http_request_duration_seconds';
  return [
    `# HELP ${counts} Completed requests by interface, endpoint and status`,
    `# TYPE ${counts} counter`,
    ...routes.flatMap((route) => route.countSamples(counts)),
    `# HELP ${durations} Time from the head of a request to the last byte of its response`,
    `# TYPE ${durations} histogram`,
    ...routes.flatMap((route) => route.durationSamples(durations)),
    '',
  ].join('\n');
}

const requestIdPattern = /^[\x21-\x7e]{1,128}$/;
const traceparentPattern = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Random prefix of this process. */
const madeStart = randomBytes(9).toString('base64url');
let made = 0;

/** The id that the client sent if it is valid, otherwise a new one. */
export function requestIdOf(headers: HeaderReader): string {
  const sent = headers.of('x-request-id');
  if (sent !== '' && requestIdPattern.test(sent)) return sent;
  made += 1;
  return `${madeStart}-${made.toString(36)}`;
}

/** Null if the client sent none, or a malformed one. */
export function traceparentOf(headers: HeaderReader): string | null {
  return validTraceparent(headers.of('traceparent'));
}

export function validTraceparent(sent: string): string | null {
  return traceparentPattern.test(sent) ? sent : null;
}
