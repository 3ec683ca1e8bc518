/**
 * CORS for web pages on other origins (docs/reference/http.md "Web pages on other origins"; the Fetch standard). Only
 * environment keys support it: source and management keys do not belong in web pages, and the console has the same origin as
 * the front.
 */
import type { Configuration, Principal } from '../../config/configuration.ts';
import { originCharactersMax, preflightSeconds } from '../../contract/limits.ts';
import type { Answer, HeaderField } from '../answer.ts';
import type { HeaderDefinition, RouteDefinition } from '../route-definition.ts';
import type { Services } from '../services.ts';
import { headLines } from '../uws/reply.ts';
import type { HeaderReader } from '../uws/request-headers.ts';
import type { Access } from './access.ts';
import { pathsOf, routeTable } from './route-table.ts';

/** Whether an endpoint supports cross-origin requests, if the key's client allows the origin. */
export function allowsCrossOrigin({ kind }: Access): boolean {
  switch (kind) {
    case 'client':
    case 'reader':
      return true;
    case 'open':
    case 'metrics':
    case 'source':
    case 'management':
      return false;
  }
}

const everyOrigin: HeaderField = ['Access-Control-Allow-Origin', '*'];
/**
 * Repeats the `Vary` of delivered responses (`cache/finished-answer.ts`), which comes before it: nginx before 1.23 and
 * other caches only use the last `Vary` line.
 */
const varies: HeaderField = ['Vary', 'Origin, Accept-Encoding, X-Api-Key'];
const variesByKey: HeaderField = ['Vary', 'Accept-Encoding, X-Api-Key'];
const onlyVaries = headLines([varies]);
/** Headers of errors (`problem-answer.ts`). */
const problemHeaders = ['Retry-After', 'Allow', 'Accept-Encoding'];

/** Header lines for endpoints of other keys, whose responses depend on the key. */
export const varyByKeyLines = headLines([['Vary', 'Accept-Encoding, X-Api-Key, Authorization']]);

/** The header lines that allow pages on other origins to read a response. */
export class CrossOrigin {
  readonly #exposed: HeaderField;
  readonly #ofEveryOrigin: string;
  #configuration: Configuration | null = null;
  /** Whether a client of that configuration restricts its origins. */
  #clientMatters = false;

  /** @param principalOf finds the principal of the key in a request */
  constructor(
    private readonly services: Pick<Services, 'configuration' | 'headerPrefixes'>,
    private readonly principalOf: (kind: Access['kind'], headers: HeaderReader) => Principal | null,
  ) {
    this.#exposed = ['Access-Control-Expose-Headers', exposedNames(services.headerPrefixes).join(', ')];
    this.#ofEveryOrigin = headLines([everyOrigin, this.#exposed, variesByKey]);
  }

  /**
   * Header lines for any response. For a client that allows every origin they do not depend on `Origin`, so a shared cache
   * can serve the same response to every page. For a client that restricts its origins they vary by it.
   * @param kind of the endpoint; a path without one counts as an endpoint of environment clients
   */
  linesFor(headers: HeaderReader, kind: Access['kind'] = 'client'): string {
    const origin = headers.of('origin');
    const { configuration } = this.services;
    if (configuration.loaded && configuration.current !== this.#configuration)
      this.#note(configuration.current);
    const isReader = kind === 'reader';
    const principal = this.#clientMatters || isReader ? this.principalOf(kind, headers) : null;
    if (isReader && principal?.kind === 'management') return varyByKeyLines;
    const allowed = principal?.kind === 'client' ? principal.origins : null;
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
 * The response to a CORS preflight; null when no page may use the path. It is the same for every origin and key: browsers
 * send no key in a preflight, and the response to the actual request decides.
 */
export function preflightAnswer(path: string, headerPrefixes: readonly string[]): Answer | null {
  const routes = routeTable.filter(
    (route) => pathsOf(route).includes(path) && allowsCrossOrigin(route.access),
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

function headersRead({ headers, body, access }: RouteDefinition, prefixes: readonly string[]): string[] {
  return [
    ...(body === undefined ? [] : ['Content-Encoding']),
    ...(access.kind === 'reader' ? ['Authorization'] : []),
    ...headers.flatMap((header) => namesOf(header, prefixes)),
  ];
}

/** Common header names for `cacheTags`. Pages on other origins cannot read a header with another name. */
const tagHeaders = ['Cache-Tag', 'Surrogate-Key', 'xkey'];

/** Every response header in the route table, and those of errors. */
function exposedNames(headerPrefixes: readonly string[]): string[] {
  // The version is also sent under the platform's own prefix, whatever the setting (`ingest/write-handler.ts`).
  const prefixes = [...headerPrefixes, 'X-Service'];
  const answers = routeTable.flatMap((route) => Object.values(route.answers));
  const names = answers.flatMap(({ headers = [] }) => headers.flatMap((header) => namesOf(header, prefixes)));
  return [...new Set(['ETag', 'X-Request-Id', ...tagHeaders, ...names, ...problemHeaders])];
}

function namesOf({ name, prefixed }: HeaderDefinition, prefixes: readonly string[]): string[] {
  return prefixed ? prefixes.map((prefix) => `${prefix}-${name}`) : [name];
}
