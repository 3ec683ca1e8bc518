/** One request as a handler sees it. The request of uWebSockets.js itself must not be touched after an await. */
import type { HttpRequest } from 'uWebSockets.js';
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
import { HeaderName } from './uws/header-name.ts';
import { headerText } from './uws/text-decoding.ts';

/** The headers that a route reads. They are known when the server starts. */
export interface HeaderPlan {
  readonly names: readonly HeaderName[];
  /** Name without prefix, lower-cased -> full names, one per prefix. */
  readonly prefixed: ReadonlyMap<string, readonly HeaderName[]>;
}

/** @param prefixes as in the setting `HEADER_PREFIX` */
export function planHeaders(
  plain: readonly string[],
  prefixed: readonly string[],
  prefixes: readonly string[],
): HeaderPlan {
  const full = new Map(
    prefixed.map((name) => [name.toLowerCase(), prefixes.map((prefix) => headerName(`${prefix}-${name}`))]),
  );
  return { names: [...plain.map(headerName), ...[...full.values()].flat()], prefixed: full };
}

function headerName(name: string): HeaderName {
  return new HeaderName(name.toLowerCase());
}

const none: readonly string[] = [];

/** The part of a request that a call reads. */
export type CallHead = Pick<HttpRequest, 'getQuery' | 'getHeader'>;

/** The part of a body that handlers read. */
export type CallBody = Pick<RequestBody, 'announcedBytes' | 'isPacked' | 'bytes' | 'read' | 'release'>;

export class Call {
  /** Null once uWebSockets.js has taken it back. */
  #request: CallHead | null;
  readonly #plan: HeaderPlan;
  #values = none;
  #isGone = false;
  #onGone: (() => void) | null = null;

  constructor(
    request: CallHead,
    plan: HeaderPlan,
    /** Path parameters as they came, percent-encoded. */
    readonly parameters: readonly string[],
    readonly principal: Principal | null,
    /** Null where the endpoint takes none. */
    readonly requestBody: CallBody | null,
    /** Counts keys that a body names and its tenant did not have. @returns why it is refused; null when it is not */
    readonly countNewKeys: (tenant: string, count: number) => Problem | null = () => null,
  ) {
    this.#request = request;
    this.#plan = plan;
    // The library declares a text, but gives undefined for a URL without `?`.
    this.query = (request.getQuery() as string | undefined) ?? '';
  }

  /** The query string as it came, without the `?`. */
  readonly query: string;

  /**
   * Copies the headers of the plan. Must be called before uWebSockets.js takes the request back, unless the call is
   * answered by then: an answer from the cache reads only two or three headers.
   */
  keepHeaders(): void {
    const request = this.#request;
    if (request === null) return;
    this.#values = this.#plan.names.map((name) => name.of(request));
    this.#request = null;
  }

  /** A header of the plan, '' when it is absent. */
  header(name: HeaderName): string {
    const raw = this.#request === null ? this.#kept(name) : name.of(this.#request);
    return raw === '' ? '' : headerText(raw);
  }

  #kept({ text }: HeaderName): string {
    return this.#values[this.#plan.names.findIndex((name) => name.text === text)] ?? '';
  }

  /** The first value that one of the prefixes gives, '' when all are absent. @param name lower-cased, without prefix */
  prefixedHeader(name: string): string {
    for (const full of this.#plan.prefixed.get(name) ?? []) {
      const value = this.header(full);
      if (value !== '') return value;
    }
    return '';
  }

  /** @param listener called once when the client goes away before its answer is sent; at once if it has gone already */
  onGone(listener: () => void): void {
    if (this.#isGone) listener();
    else this.#onGone = listener;
  }

  /** The client went away: nobody waits for the answer. */
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
