/** A request, as handlers see it. */
import type {
  ClientPrincipal,
  ManagementPrincipal,
  Principal,
  SourcePrincipal,
} from '../config/configuration.ts';
import type { Problem } from '../contract/errors.ts';
import { assert } from '../lib/assert.ts';
import type { Answer } from './answer.ts';
import type { RequestBody } from './uws/body.ts';
import type { HeaderReader } from './uws/request-headers.ts';

/** The headers that a route reads: lower-case name without prefix -> full names, one per prefix if the header has a prefix. */
export type DeclaredHeaders = ReadonlyMap<string, readonly string[]>;

/** The parts of a request besides its body. */
export interface CallHead {
  /** The query string as received, without the `?`. */
  readonly query: string;
  readonly headers: HeaderReader;
  readonly declared: DeclaredHeaders;
  /** Path parameters as received, percent-encoded. */
  readonly parameters: readonly string[];
}

/** The members of a body that handlers use. */
export type CallBody = Pick<RequestBody, 'announcedBytes' | 'isPacked' | 'bytes' | 'read' | 'release'>;

export class Call {
  #isGone = false;
  #onGone: (() => void) | null = null;

  constructor(
    private readonly head: CallHead,
    readonly principal: Principal | null,
    /** Null if the endpoint takes none. */
    readonly requestBody: CallBody | null,
    /**
     * Counts keys of a body that are new to its tenant.
     * @returns the problem if the request must be refused; otherwise null
     */
    readonly countNewKeys: (tenant: string, count: number) => Problem | null = () => null,
  ) {}

  /** The query string as received, without the `?`. */
  get query(): string {
    return this.head.query;
  }

  /** Path parameters as received, percent-encoded. */
  get parameters(): readonly string[] {
    return this.head.parameters;
  }

  /**
   * The value of a header, under the first prefix that has one; '' if it is absent. Also '' if the route does not declare it,
   * because preflights and `/openapi.json` must list every header that is read.
   * @param name lower-cased, without prefix
   */
  header(name: string): string {
    for (const full of this.head.declared.get(name) ?? []) {
      const value = this.head.headers.of(full);
      if (value !== '') return value;
    }
    return '';
  }

  /** @param listener called once if the client disconnects before the response is sent; immediately if it already has */
  onGone(listener: () => void): void {
    if (this.#isGone) listener();
    else this.#onGone = listener;
  }

  /** The client has disconnected. */
  gone(): void {
    this.#isGone = true;
    this.#onGone?.();
    this.#onGone = null;
  }

  get client(): ClientPrincipal {
    assert(this.principal?.kind === 'client', 'the route has an environment client');
    return this.principal;
  }

  get source(): SourcePrincipal {
    assert(this.principal?.kind === 'source', 'the route has a data source');
    return this.principal;
  }

  get manager(): ManagementPrincipal {
    assert(this.principal?.kind === 'management', 'the route has a management client');
    return this.principal;
  }

  get body(): CallBody {
    assert(this.requestBody !== null, 'the route has a body');
    return this.requestBody;
  }
}

/** Handles a call. @throws ProblemError for errors of the client, StoreUnavailableError for temporary ones */
export type Handler = (call: Call) => Answer | Promise<Answer>;
