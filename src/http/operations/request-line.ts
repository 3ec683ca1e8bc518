import type { Principal } from '../../config/configuration.ts';
import type { Answer } from '../answer.ts';
import { bodyBytesOf } from '../uws/reply.ts';
import type { Log } from './log.ts';

/**
 * The line of one request in the log, at `debug`: its method, its route as the table of endpoints writes it, and whose it was.
 * Never its URL, headers or body, in which keys and data may stand.
 */
export class RequestLine {
  #tenant: string | null = null;
  readonly #startedAtMs = performance.now();

  constructor(
    private readonly log: Log,
    private readonly method: string,
    /** Null: none that the table has. */
    private readonly route: string | null,
  ) {}

  /** Whose key the request brought. */
  by(principal: Principal | null): void {
    this.#tenant = principal?.tenant.alias ?? null;
  }

  answered(answer: Answer): void {
    const bytes = answer.isHead === true ? 0 : bodyBytesOf(answer);
    this.#write({ status: answer.status, bytes }, 'answered');
  }

  /** The client went away before it had its whole answer. */
  aborted(): void {
    this.#write({ status: null, bytes: null }, 'aborted');
  }

  #write(outcome: { readonly status: number | null; readonly bytes: number | null }, message: string): void {
    const ms = Math.round((performance.now() - this.#startedAtMs) * 1000) / 1000;
    this.log.debug(
      { method: this.method.toUpperCase(), route: this.route, tenant: this.#tenant, ...outcome, ms },
      message,
    );
  }
}
