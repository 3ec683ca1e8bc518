import { domainToASCII } from 'node:url';

/**
 * A URL in the form in which URLs are compared: `host` is null for relative URLs, and includes any port other than the scheme's
 * default.
 */
export interface NormalUrl {
  readonly host: string | null;
  /** With its query string, whose parameters are sorted. Without a query string, there is no `?`. */
  readonly path: string;
}

const absolutePattern = /^(https?):\/\/([^/?#]*)(.*)$/is;
const hostAndPortPattern = /^(\[[^\]]*\]|[^:]*)(?::([0-9]*))?$/;
export const defaultPorts: Readonly<Record<string, string>> = { http: '80', https: '443' };
export const portMax = 65_535;

/**
 * Normalizes a URL for comparison (docs/reference/configuration.md "URLs and domains"). It ignores the scheme, the case of the
 * host, the default port, user names, the order of query parameters, fragments, trailing slashes, variants of percent-encoding,
 * and Unicode composition (NFC). It keeps double slashes and dot segments, because it does not resolve paths. Null if the text
 * neither begins with `/` nor is an absolute http(s) URL with a host.
 */
export function normalizeUrl(url: string): NormalUrl | null {
  if (url.startsWith('/')) return { host: null, path: normalPathAndQuery(url) };
  const [, scheme, authority, rest] = absolutePattern.exec(url) ?? [];
  if (scheme === undefined || authority === undefined || rest === undefined) return null;
  const host = normalAuthority(scheme.toLowerCase(), authority);
  return host === null ? null : { host, path: normalPathAndQuery(rest) };
}

/** The paths whose claims match a request, in order of preference. @param path from `normalizeUrl` */
export function candidatePaths(path: string): readonly string[] {
  const queryAt = path.indexOf('?');
  return queryAt === -1 ? [path] : [path, path.slice(0, queryAt)];
}

function normalPathAndQuery(text: string): string {
  const query = normalQuery(text);
  return query === '' ? normalPath(text) : `${normalPath(text)}?${query}`;
}

/** Parameters sorted by code point, each as `name=value`; `+` is a space, as in forms. Empty if there are none. */
function normalQuery(text: string): string {
  const [, query = ''] = /^[^?#]*\?([^#]*)/.exec(text) ?? [];
  if (query === '') return '';
  const members = query.split('&').filter((member) => member !== '');
  return members.map(normalMember).sort().join('&');
}

function normalMember(member: string): string {
  const equals = member.indexOf('=');
  const [name, value] = equals === -1 ? [member, ''] : [member.slice(0, equals), member.slice(equals + 1)];
  return `${normalQueryText(name)}=${normalQueryText(value)}`;
}

/** Characters that forms and browsers do not encode, except separators of parameters. */
const plainQueryText = /^[A-Za-z0-9\-._~!$'()*,;:@/?]*$/;
const queryToken = /%[0-9A-Fa-f]{2}|[A-Za-z0-9\-._~!$'()*,;:@/?]+|[^A-Za-z0-9\-._~!$'()*,;:@/?]/gu;

function normalQueryText(text: string): string {
  if (plainQueryText.test(text)) return text;
  return composed(text.replaceAll('+', ' ')).replace(queryToken, (token) =>
    normalToken(token, plainQueryText, plainQueryText),
  );
}

/** A host without its port. */
export function hostnameOf(host: string): string {
  return host.replace(/:[0-9]+$/, '');
}

function normalAuthority(scheme: string, authority: string): string | null {
  const [, name, writtenPort] =
    hostAndPortPattern.exec(authority.slice(authority.lastIndexOf('@') + 1)) ?? [];
  const hostname = name === undefined ? null : canonicalHost(name);
  if (hostname === null) return null;
  const port = (writtenPort ?? '').replace(/^0+(?=[0-9])/, '');
  if (port === '' || port === defaultPorts[scheme]) return hostname;
  return Number(port) > portMax ? null : `${hostname}:${port}`;
}

/** Characters that RFC 3986 allows unencoded in a path segment, and the slash between segments. */
const plainPath = /^[A-Za-z0-9\-._~!$&'()*+,;=:@/]*$/;
const pathToken = /%[0-9A-Fa-f]{2}|[A-Za-z0-9\-._~!$&'()*+,;=:@/]+|[^A-Za-z0-9\-._~!$&'()*+,;=:@/]/gu;
/** The characters above, except the slash, are equivalent to their %XX form; %2F is a slash inside a segment. */
const decodableInPath = /^[A-Za-z0-9\-._~!$&'()*+,;=:@]$/;

/** The normalized path at the beginning of a text, up to `?` or `#`. */
function normalPath(text: string): string {
  const end = text.search(/[?#]/);
  const raw = end === -1 ? text : text.slice(0, end);
  const path = plainPath.test(raw)
    ? raw
    : composed(raw).replace(pathToken, (token) => normalToken(token, plainPath, decodableInPath));
  let length = path.length;
  while (length > 0 && path[length - 1] === '/') length--;
  return length === 0 ? '/' : path.slice(0, length);
}

/** Percent-encoded characters beyond ASCII. */
const encodedCharacter =
  /%(?:[CD][0-9A-F]%[89AB][0-9A-F]|E[0-9A-F](?:%[89AB][0-9A-F]){2}|F[0-7](?:%[89AB][0-9A-F]){3})/gi;

/** The decoded character, or the text itself if it is not valid UTF-8. */
function decodedCharacter(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

/** A path in NFC, for raw and encoded characters: an accented letter may be one code point or two. */
function composed(path: string): string {
  const text = path.replace(encodedCharacter, decodedCharacter);
  const normal = text.normalize('NFC');
  return normal === text ? path : normal;
}

/** Encodes a lone `%` as `%25`, and non-ASCII characters as UTF-8, so that raw and encoded forms are equal. */
function normalToken(token: string, plain: RegExp, decodable: RegExp): string {
  if (token.length === 3 && token.startsWith('%')) {
    const character = String.fromCharCode(Number.parseInt(token.slice(1), 16));
    return decodable.test(character) ? character : token.toUpperCase();
  }
  if (plain.test(token)) return token;
  return Buffer.from(token).reduce(
    (text, byte) => `${text}%${byte.toString(16).padStart(2, '0').toUpperCase()}`,
    '',
  );
}

const hostCharactersMax = 253;
/** Lowercase names that are already canonical; a last label that begins with a letter excludes IPv4 addresses. */
const plainHost = /^(?:[a-z0-9_-]+\.)*[a-z][a-z0-9_-]*$/;
const ipv6Host = /^\[[0-9a-fA-F:.]+\]$/;
const structural = /[\s/?#@:*\\[\]%]/;

/**
 * A host name in canonical form: lowercase, international names in ASCII (UTS #46), no final dot, IPv4 and IPv6 addresses in
 * their standard notation. Null if the text is not a host, for example with a port, scheme or path.
 */
export function canonicalHost(text: string): string | null {
  if (text.length > hostCharactersMax) return null;
  if (plainHost.test(text)) return text;
  const name = text.endsWith('.') ? text.slice(0, -1) : text;
  if (ipv6Host.test(name)) return parsedHost(name);
  if (name === '' || structural.test(name)) return null;
  const host = domainToASCII(name);
  return host === '' || structural.test(host) || host.endsWith('.') ? null : host;
}

function parsedHost(text: string): string | null {
  try {
    return new URL(`http://${text}`).hostname;
  } catch {
    return null;
  }
}

/**
 * The two forms for comparing URL paths (docs/reference/configuration.md "URLs and domains"). `exact`: the normalized path.
 * `folded`: with a lowercase path but an unchanged query string, for tenants with case-insensitive URLs.
 */
export type UrlForm = 'exact' | 'folded';

/** @param path from `normalizeUrl` */
export function pathInForm(path: string, form: UrlForm): string {
  if (form === 'exact') return path;
  const queryAt = path.indexOf('?');
  return queryAt === -1 ? foldedPath(path) : foldedPath(path.slice(0, queryAt)) + path.slice(queryAt);
}

/**
 * A normalized path in lower case, normalized again. Non-ASCII letters follow Unicode. Encoded bytes that are not letters
 * (`%2F`, or invalid UTF-8) are unchanged.
 */
function foldedPath(path: string): string {
  if (!path.includes('%')) return path.toLowerCase();
  return normalPath(path.replace(encodedCharacter, decodedCharacter).toLowerCase());
}
