import { domainToASCII } from 'node:url';

/** A URL as it is compared: `host` null when it is relative, with its port when that is not the scheme's own. */
export interface NormalUrl {
  readonly host: string | null;
  /** With its query string, whose members are in order. The path alone has no `?`. */
  readonly path: string;
}

const absolutePattern = /^(https?):\/\/([^/?#]*)(.*)$/is;
const hostAndPortPattern = /^(\[[^\]]*\]|[^:]*)(?::([0-9]*))?$/;
export const defaultPorts: Readonly<Record<string, string>> = { http: '80', https: '443' };
export const portMax = 65_535;

/**
 * The form in which two spellings of a URL are equal (docs/reference/configuration.md "URLs and domains"). It ignores
 * the scheme, the case of the host, the scheme's own port, user names, the order of the members of a query string, a fragment,
 * trailing slashes, the writing of the percent-encoding, and whether letters and their marks are composed (NFC). Double slashes and dot segments inside the path are part of it: paths
 * are not resolved here. Null for what neither begins with `/` nor is an absolute http(s) URL with a host.
 */
export function normalizeUrl(url: string): NormalUrl | null {
  if (url.startsWith('/')) return { host: null, path: normalPathAndQuery(url) };
  const [, scheme, authority, rest] = absolutePattern.exec(url) ?? [];
  if (scheme === undefined || authority === undefined || rest === undefined) return null;
  const host = normalAuthority(scheme.toLowerCase(), authority);
  return host === null ? null : { host, path: normalPathAndQuery(rest) };
}

/** Paths whose claims answer a request, best first. @param path as `normalizeUrl` gives it */
export function answeringPaths(path: string): readonly string[] {
  const queryAt = path.indexOf('?');
  return queryAt === -1 ? [path] : [path, path.slice(0, queryAt)];
}

function normalPathAndQuery(text: string): string {
  const query = normalQuery(text);
  return query === '' ? normalPath(text) : `${normalPath(text)}?${query}`;
}

/** Members in code-point order, each as `name=value`; `+` is a space, as forms write it. Empty where a URL has none. */
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

/** Characters that forms and browsers do not encode, except those that separate members. */
const plainQueryText = /^[A-Za-z0-9\-._~!$'()*,;:@/?]*$/;
const queryToken = /%[0-9A-Fa-f]{2}|[A-Za-z0-9\-._~!$'()*,;:@/?]+|[^A-Za-z0-9\-._~!$'()*,;:@/?]/gu;

function normalQueryText(text: string): string {
  if (plainQueryText.test(text)) return text;
  return composed(text.replaceAll('+', ' ')).replace(queryToken, (token) =>
    normalToken(token, plainQueryText, plainQueryText),
  );
}

/** A host without its port: what domains name. */
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
/** The characters above, except the slash, mean the same when they are written as %XX; %2F is a slash inside a segment. */
const decodableInPath = /^[A-Za-z0-9\-._~!$&'()*+,;=:@]$/;

/** The path of a text that begins with one: up to `?` or `#`, in the writing in which paths are compared. */
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

/** Characters beyond ASCII, as a normal path writes them. */
const encodedCharacter =
  /%(?:[CD][0-9A-F]%[89AB][0-9A-F]|E[0-9A-F](?:%[89AB][0-9A-F]){2}|F[0-7](?:%[89AB][0-9A-F]){3})/gi;

/** The character that such a text stands for; itself when it stands for none. */
function decodedCharacter(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

/** A path in NFC, whether its characters came raw or encoded: an accented letter looks the same in one code point and in two. */
function composed(path: string): string {
  const text = path.replace(encodedCharacter, decodedCharacter);
  const normal = text.normalize('NFC');
  return normal === text ? path : normal;
}

/** A lone `%` becomes `%25`, and what is not ASCII its UTF-8 bytes: the same whether it came raw or encoded. */
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
/** Lower-case names that need no further look; a last label that begins with a letter is not an IPv4 address. */
const plainHost = /^(?:[a-z0-9_-]+\.)*[a-z][a-z0-9_-]*$/;
const ipv6Host = /^\[[0-9a-fA-F:.]+\]$/;
const structural = /[\s/?#@:*\\[\]%]/;

/**
 * A host name as it is compared: lower case, international names in their ASCII form (UTS #46), no final dot, IPv4
 * and IPv6 addresses in their usual writing. Null for what is not a host: a port, a scheme or a path is not part of one.
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
 * The two forms in which paths of URLs are compared (docs/reference/configuration.md "URLs and domains"). `exact`: as they
 * are normalized. `folded`: the path in lower case, the query string as it is, for a tenant whose URLs are case-insensitive.
 */
export type UrlForm = 'exact' | 'folded';

/** @param path as `normalizeUrl` gives it */
export function pathInForm(path: string, form: UrlForm): string {
  if (form === 'exact') return path;
  const queryAt = path.indexOf('?');
  return queryAt === -1 ? foldedPath(path) : foldedPath(path.slice(0, queryAt)) + path.slice(queryAt);
}

/**
 * A normal path in lower case, a normal path again. Letters beyond ASCII are lowered as Unicode has them. An encoded
 * byte that encodes no letter (`%2F`, or one that is not UTF-8) stays as it is.
 */
function foldedPath(path: string): string {
  if (!path.includes('%')) return path.toLowerCase();
  return normalPath(path.replace(encodedCharacter, decodedCharacter).toLowerCase());
}
