/**
 * What browsers need for pages of other origins (docs/reference/http.md "Web pages on other origins"; the CORS protocol
 * of the Fetch standard). Only endpoints of environment keys have it: source and management keys do not belong into web
 * pages, and the console is a page of the front's own origin, for which browsers ask nothing of this.
 */
import type { ClientPrincipal, Configuration } from '../../config/configuration.ts';
import { originCharactersMax, preflightSeconds } from '../../contract/limits.ts';
import type { Answer, HeaderField } from '../answer.ts';
import type { HeaderDefinition, RouteDefinition } from '../route-definition.ts';
import type { Services } from '../services.ts';
import { headLines } from '../uws/reply.ts';
import type { HeaderReader } from '../uws/request-headers.ts';
import type { Access } from './access.ts';
import { pathsOf, routeTable } from './route-table.ts';

/** Whether pages of other origins may use an endpoint, as far as the key's client allows theirs. */
export function isForOtherOrigins({ kind }: Access): boolean {
  switch (kind) {
    case 'client':
      return true;
    case 'open':
    case 'metrics':
    case 'source':
    case 'management':
    case 'reader':
      return false;
  }
}

const everyOrigin: HeaderField = ['Access-Control-Allow-Origin', '*'];
/**
 * It repeats the `Vary` of delivered answers (`cache/finished-answer.ts`), after which it is: caches such as nginx
 * before 1.23 heed the last line alone.
 */
const varies: HeaderField = ['Vary', 'Origin, Accept-Encoding, X-Api-Key'];
const variesByKey: HeaderField = ['Vary', 'Accept-Encoding, X-Api-Key'];
const onlyVaries = headLines([varies]);
/** Headers of errors (`problem-answer.ts`). */
const problemHeaders = ['Retry-After', 'Allow', 'Accept-Encoding'];

/** Header lines of answers at endpoints of other keys: what is answered depends on who asks. */
export const linesOfOtherKeys = headLines([['Vary', 'Accept-Encoding, X-Api-Key, Authorization']]);

/** The header lines with which answers let pages of other origins read them. */
export class CrossOrigin {
  readonly #exposed: HeaderField;
  readonly #ofEveryOrigin: string;
  #configuration: Configuration | null = null;
  /** Whether some client of that configuration gets other headers than most. */
  #clientMatters = false;

  /** @param clientOf the client whose key a request shows */
  constructor(
    private readonly services: Pick<Services, 'configuration' | 'headerPrefixes'>,
    private readonly clientOf: (headers: HeaderReader) => ClientPrincipal | null,
  ) {
    this.#exposed = ['Access-Control-Expose-Headers', exposedNames(services.headerPrefixes).join(', ')];
    this.#ofEveryOrigin = headLines([everyOrigin, this.#exposed, variesByKey]);
  }

  /**
   * Header lines to add to the answer, whatever it says. Answers of a client that allows every origin are the same with and
   * without an `Origin`: a shared cache may give to a page what it kept for another program. Those of a client that
   * narrows its origins vary by it.
   */
  linesFor(headers: HeaderReader): string {
    const origin = headers.of('origin');
    const { configuration } = this.services;
    if (configuration.loaded && configuration.current !== this.#configuration)
      this.#note(configuration.current);
    const client = this.#clientMatters ? this.clientOf(headers) : null;
    const allowed = client?.origins ?? null;
    if (allowed === null) return this.#ofEveryOrigin;
    const isAllowed = origin.length <= originCharactersMax && allowed.allows(origin);
    if (!isAllowed) return onlyVaries;
    return headLines([['Access-Control-Allow-Origin', origin], this.#exposed, varies]);
  }

  #note(configuration: Configuration): void {
    this.#configuration = configuration;
    this.#clientMatters = configuration.clients.some(({ origins }) => origins !== null);
  }
}

/**
 * The answer to `OPTIONS`, with which a browser asks whether a page may send a request; null where no page may. It is
 * the same for every origin and key: a browser sends no key with it, and the answer to the request itself decides.
 */
export function preflightAnswer(path: string, headerPrefixes: readonly string[]): Answer | null {
  const routes = routeTable.filter(
    (route) => pathsOf(route).includes(path) && isForOtherOrigins(route.access),
  );
  if (routes.length === 0) return null;
  const methods = routes.flatMap(({ method }) =>
    method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
  );
  const read = routes.flatMap((route) => headersRead(route, headerPrefixes));
  return {
    status: 204,
    body: '',
    contentType: '',
    headers: [
      everyOrigin,
      ['Access-Control-Allow-Methods', methods.join(', ')],
      ['Access-Control-Allow-Headers', [...new Set([...alwaysAllowed, ...read])].join(', ')],
      ['Access-Control-Max-Age', String(preflightSeconds)],
    ],
  };
}

/** Many clients send a `Content-Type` with GET too. */
const alwaysAllowed = ['X-Api-Key', 'Content-Type', 'X-Request-Id', 'traceparent'];

function headersRead({ headers, body }: RouteDefinition, prefixes: readonly string[]): string[] {
  const names = headers.flatMap((header) => namesOf(header, prefixes));
  return body === undefined ? names : ['Content-Encoding', ...names];
}

/** Usual names of the `cacheTags` of a client; another one is not read by pages of other origins. */
const tagHeaders = ['Cache-Tag', 'Surrogate-Key', 'xkey'];

/** Every header of an answer that the route table names, and those of errors. */
function exposedNames(headerPrefixes: readonly string[]): string[] {
  // The version comes under the platform's own name too, whatever the setting says (`ingest/write-handler.ts`).
  const prefixes = [...headerPrefixes, 'X-Service'];
  const answers = routeTable.flatMap((route) => Object.values(route.answers));
  const names = answers.flatMap(({ headers = [] }) => headers.flatMap((header) => namesOf(header, prefixes)));
  return [...new Set(['ETag', 'X-Request-Id', ...tagHeaders, ...names, ...problemHeaders])];
}

function namesOf({ name, prefixed }: HeaderDefinition, prefixes: readonly string[]): string[] {
  return prefixed ? prefixes.map((prefix) => `${prefix}-${name}`) : [name];
}
