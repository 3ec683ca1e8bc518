/** Origins of web pages (RFC 6454, section 6.2), and the patterns of those that may read as an environment client. */
import { canonicalHost, defaultPorts, portMax } from './url.ts';

/** An origin in parts; the host is an IPv6 address in brackets or a name. */
const originParts = /^([a-z][a-z0-9+.-]*):\/\/(\[[^\]]*\]|[^\s/?#@:[\]\\]+)(?::(\d{1,5}|\*))?$/i;
/** Text of a host that no browser sends, in place of a `*` label. */
const anyLabel = 'any-label';

/**
 * The regular expression of an origin pattern (docs/reference/configuration.md "Origins of a client"): `*` is
 * for one label of the host, or for the port. What it matches holds the characters of an origin alone. Null for what is
 * no pattern.
 */
export function originPattern(text: string): string | null {
  const [, scheme = '', host = '', port] = originParts.exec(text.toLowerCase()) ?? [];
  const hostSource = hostPattern(host);
  if (hostSource === null || (port !== undefined && port !== '*' && Number(port) > portMax)) return null;
  return `${escaped(scheme)}://${hostSource}${portPattern(scheme, port)}`;
}

function hostPattern(host: string): string | null {
  const labels = host.split('.');
  if (labels.some((label) => label === '' || (label.includes('*') && label !== '*'))) return null;
  const canonical = canonicalHost(labels.map((label) => (label === '*' ? anyLabel : label)).join('.'));
  if (canonical === null) return null;
  return canonical
    .split('.')
    .map((label) => (label === anyLabel ? '[a-z0-9_-]+' : escaped(label)))
    .join('\\.');
}

/** A browser leaves the default port out. `*` is any port, the default one too. */
function portPattern(scheme: string, port: string | undefined): string {
  if (port === '*') return '(?::[0-9]{1,5})?';
  if (port === undefined || Number(port) === Number(defaultPorts[scheme])) return '';
  return `:${Number(port)}`;
}

function escaped(text: string): string {
  return text.replaceAll(/[.+*?^$()[\]{}|\\-]/g, '\\$&');
}

/** The origins that a client names. */
export class AllowedOrigins {
  readonly #allowed: RegExp | null;

  /** @param patterns from `originPattern`; none: no origin is allowed */
  constructor(patterns: readonly string[]) {
    this.#allowed = patterns.length === 0 ? null : new RegExp(`^(?:${patterns.join('|')})$`);
  }

  /** @param origin as a browser sends it: lower case, no default port */
  allows(origin: string): boolean {
    return this.#allowed?.test(origin) ?? false;
  }
}
