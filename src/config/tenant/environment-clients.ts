import type { Cursor } from '../../contract/config-cursor.ts';
import {
  cacheControlCharactersMax,
  configNameCharactersMax,
  originsPerClientMax,
} from '../../contract/limits.ts';
import { quote } from '../../lib/message-text.ts';
import type { CacheTagHeader, Domain, Environment, Scope } from '../configuration.ts';
import { AllowedOrigins, originPattern } from '../urls/origins.ts';
import { canonicalHost } from '../urls/url.ts';
import type { ConfiguredKey } from './api-keys.ts';
import {
  EntriesByName,
  isHeaderName,
  isHeaderValue,
  readAlias,
  readChoice,
  readKeys,
  readNamed,
  readWholeNumber,
} from './common-fields.ts';
import { type IndexPatterns, readIndexPatterns } from './index-patterns.ts';
import { clientScopes, clientShape, depthShape, domainShape, hostedScopes } from './tenant-shapes.ts';

/** Cache headers of an environment client (docs/guide/caches.md): `cacheControl`, `cacheTags`. */

/** Cache tag headers whose tags are separated by spaces. */
const spaced = new Set(['surrogate-key', 'xkey']);
/** Headers with another meaning to the front or to HTTP clients. */
const taken =
  /^(?:access-control-.*|age|allow|(?:.*-)?cache-control|clear-site-data|connection|content-.*|date|etag|expires|keep-alive|last-modified|link|location|pragma|proxy-.*|refresh|retry-after|server|set-cookie2?|surrogate-control|edge-control|status|strict-transport-security|te|trailer|transfer-encoding|upgrade|vary|via|warning|www-authenticate|x-accel-.*|.*-version)$/;

/** Null if it is absent; also, with an issue, if it is not a valid header value. */
function readCacheControl(at: Cursor): string | null {
  const text = at.isAbsent ? null : at.nonEmptyString();
  if (text === null || (isHeaderValue(text) && text.length <= cacheControlCharactersMax)) return text;
  at.issue(
    'not a valid Cache-Control value',
    'Write a value such as "public, s-maxage=31536000": visible ASCII characters and spaces, in one line, ' +
      `at most ${cacheControlCharactersMax}.`,
  );
  return null;
}

/** Null if it is absent; also, with an issue, if the header name is invalid or reserved. */
function readCacheTags(at: Cursor): CacheTagHeader | null {
  const name = at.isAbsent ? null : at.nonEmptyString();
  if (name === null) return null;
  const lower = name.toLowerCase();
  if (!isHeaderName(name) || name.length > configNameCharactersMax) {
    at.issue(
      `${quote(name)} is not a header name`,
      `Write the one that your cache reads, such as "Cache-Tag", "Surrogate-Key" or "xkey"; at most ${configNameCharactersMax} characters.`,
    );
    return null;
  }
  if (taken.test(lower)) {
    at.issue(
      `the header ${quote(name)} has another meaning`,
      'Write the one that your cache reads tags from, such as "Cache-Tag", "Surrogate-Key" or "xkey".',
    );
    return null;
  }
  return { name, separator: spaced.has(lower) ? ' ' : ',' };
}

export interface ClientEntry {
  readonly name: string;
  readonly environment: Environment;
  readonly domains: readonly Domain[];
  readonly scopes: ReadonlySet<Scope>;
  readonly indexes: IndexPatterns;
  /** Null: all origins. */
  readonly origins: AllowedOrigins | null;
  readonly cacheControl: string | null;
  readonly cacheTags: CacheTagHeader | null;
  readonly depth: number | null;
  readonly keys: readonly ConfiguredKey[];
  readonly at: Cursor;
}

/** The domain of tenants without domains: relative URLs and all hosts. */
const everyHost: Domain = { alias: 'default', hostnames: ['*'] };
/** Placeholder for an invalid environment, so that the rest of its client is still checked. */
const unknownEnvironment: Environment = { id: '', alias: '' };

/** Reads `domains` of a tenant file. */
export function readDomains(list: Cursor): Domains {
  const domains = new Domains();
  const taken = new EntriesByName<true>('hostname');
  for (const at of list.items()) {
    if (at.object(domainShape) === null) continue;
    const alias = readAlias(at.member('alias'));
    const hostnames = readHostnames(at.member('hostnames'), taken);
    if (alias !== null) domains.add(alias, { alias, hostnames }, at.member('alias'));
  }
  return domains;
}

function readHostnames(list: Cursor, taken: EntriesByName<true>): string[] {
  const items = list.items();
  if (items.length === 0) list.issue('lists no host', 'Write ["*"] for relative URLs and any host.');
  const hostnames = new Set<string>();
  for (const at of items) {
    const host = readHostname(at);
    if (host === null) continue;
    // Several domains may have `*` for different clients; `readClient` checks that no client has two of them.
    if (host !== '*') taken.add(host, true, at);
    hostnames.add(host);
  }
  return [...hostnames];
}

function readHostname(at: Cursor): string | null {
  const text = at.nonEmptyString();
  if (text === null || text === '*') return text;
  const host = canonicalHost(text);
  if (host !== null) return host;
  at.issue(
    `${quote(text)} is not a hostname`,
    'Write only the name, such as www.example.com: no scheme, port, path or wildcard.',
  );
  return null;
}

/** Reads one of `environmentClients`; `index` is its position in the list. Null with an issue if it is not an object. */
export function readClient(
  at: Cursor,
  index: number,
  environments: EntriesByName<Environment>,
  domains: Domains,
): ClientEntry | null {
  if (at.object(clientShape) === null) return null;
  return {
    name: at.member('name').optionalString(`client ${index + 1}`),
    environment: readNamed(at.member('environment'), environments) ?? unknownEnvironment,
    domains: readClientDomains(at.member('domains'), domains),
    scopes: readScopes(at.member('scopes')),
    indexes: readIndexPatterns(at.member('indexes')),
    origins: readOrigins(at.member('origins')),
    cacheControl: readCacheControl(at.member('cacheControl')),
    cacheTags: readCacheTags(at.member('cacheTags')),
    depth: readWholeNumber(at.member('depth'), depthShape, null),
    keys: readKeys(at.member('apiKeys')),
    at,
  };
}

/** The domains of a tenant, and queries over those of its clients. */
export class Domains extends EntriesByName<Domain> {
  readonly #open = new Set<Domain>();
  #all: readonly Domain[] | null = null;

  constructor() {
    super('domain');
  }

  override add(name: string, domain: Domain, at: Cursor): void {
    super.add(name, domain, at);
    if (domain.hostnames.includes('*')) this.#open.add(domain);
  }

  /** All domains, in one array that clients share. */
  get all(): readonly Domain[] {
    this.#all ??= [...this.values()];
    return this.#all;
  }

  /** The domains in the list with the hostname `*`. */
  openOf(list: readonly Domain[]): readonly Domain[] {
    return list === this.all ? [...this.#open] : list.filter((domain) => this.#open.has(domain));
  }
}

/** A client without `domains` has all domains of its tenant. */
function readClientDomains(list: Cursor, domains: Domains): readonly Domain[] {
  const items = list.items();
  const named = items.flatMap((item) => readNamed(item, domains) ?? []);
  const chosen = items.length > 0 ? [...new Set(named)] : domains.all;
  const open = domains.openOf(chosen);
  if (open.length > 1) {
    const aliases = open.map((domain) => domain.alias).join(', ');
    list.issue(
      `several domains with hostname "*": ${aliases}`,
      'A client can have only one of them: list the domains of this client.',
    );
  }
  return chosen.length > 0 ? chosen : [everyHost];
}

function readScopes(list: Cursor): ReadonlySet<Scope> {
  if (list.json === undefined) return new Set(clientScopes);
  const read = (item: Cursor) => hostedScopes.get(item.json) ?? readChoice(item, 'scope', clientScopes) ?? [];
  return new Set(list.items().flatMap(read));
}

const originAdvice =
  'Write the scheme, the host and any port other than the default, such as https://www.example.com or http://localhost:*; ' +
  '* matches one whole label of the host, or any port. To allow every origin, leave "origins" out.';

/** Without `origins`, a client allows all origins; with an empty list, none. */
function readOrigins(list: Cursor): AllowedOrigins | null {
  if (list.isAbsent) return null;
  const items = list.items();
  if (items.length > originsPerClientMax)
    list.issue(`has ${items.length} origins`, `At most ${originsPerClientMax} are allowed: use patterns.`);
  const patterns = items.slice(0, originsPerClientMax).flatMap((at) => {
    const text = at.nonEmptyString();
    const pattern = text === null ? null : originPattern(text);
    if (text !== null && pattern === null) at.issue(`${quote(text)} is not an origin`, originAdvice);
    return pattern ?? [];
  });
  return new AllowedOrigins(patterns);
}
