/** One request as a handler sees it. */
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

/** The headers that a route reads: name without prefix, lower-cased -> full names, of a prefixed one one for each prefix. */
export type DeclaredHeaders = ReadonlyMap<string, readonly string[]>;

/** The part of a request that a call reads. */
export interface CallHead {
  /** The query string as it came, without the `?`. */
  readonly query: string;
  readonly headers: HeaderReader;
  readonly declared: DeclaredHeaders;
  /** Path parameters as they came, percent-encoded. */
  readonly parameters: readonly string[];
}

/** The part of a body that handlers read. */
export type CallBody = Pick<RequestBody, 'announcedBytes' | 'isPacked' | 'bytes' | 'read' | 'release'>;

export class Call {
  #isGone = false;
  #onGone: (() => void) | null = null;

  constructor(
    private readonly head: CallHead,
    readonly principal: Principal | null,
    /** Null where the endpoint takes none. */
    readonly requestBody: CallBody | null,
    /** Counts keys that a body names and its tenant did not have. @returns why it is refused; null when it is not */
    readonly countNewKeys: (tenant: string, count: number) => Problem | null = () => null,
  ) {}

  /** The query string as it came, without the `?`. */
  get query(): string {
    return this.head.query;
  }

  /** Path parameters as they came, percent-encoded. */
  get parameters(): readonly string[] {
    return this.head.parameters;
  }

  /**
   * A header, the first one that a prefix gives; '' when it is absent, and when the route does not declare it: preflights and
   * `/openapi.json` list all that is read. @param name lower-cased, without prefix
   */
  header(name: string): string {
    for (const full of this.head.declared.get(name) ?? []) {
      const value = this.head.headers.of(full);
      if (value !== '') return value;
    }
    return '';
  }

  /** @param listener called once when the client goes away before its answer is sent; immediately if it has gone already */
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

/** Answers a call. @throws ProblemError for what the client can change, StoreUnavailableError for what passes */
export type Handler = (call: Call) => Answer | Promise<Answer>;
