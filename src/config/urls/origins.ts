/** Origins of web pages (RFC 6454, section 6.2), and patterns of origins that may use an environment client's keys. */
import { canonicalHost, defaultPorts, portMax } from './url.ts';

/** The parts of an origin; the host is an IPv6 address in brackets or a name. */
const originParts = /^([a-z][a-z0-9+.-]*):\/\/(\[[^\]]*\]|[^\s/?#@:[\]\\]+)(?::(\d{1,5}|\*))?$/i;
/** Replaces a `*` label while the host is checked. */
const anyLabel = 'any-label';

/**
 * The regular expression source of an origin pattern (docs/reference/configuration.md "Origins of a client"): `*` matches one
 * label of the host, or the port. It only matches characters of origins. Null if the pattern is invalid.
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

/** Browsers omit the default port. `*` matches any port, including the default. */
function portPattern(scheme: string, port: string | undefined): string {
  if (port === '*') return '(?::[0-9]{1,5})?';
  if (port === undefined || Number(port) === Number(defaultPorts[scheme])) return '';
  return `:${Number(port)}`;
}

function escaped(text: string): string {
  return text.replaceAll(/[.+*?^$()[\]{}|\\-]/g, '\\$&');
}

/** The origins that a client allows. */
export class AllowedOrigins {
  readonly #allowed: RegExp | null;

  /** @param patterns from `originPattern`; none: no origin is allowed */
  constructor(patterns: readonly string[]) {
    this.#allowed = patterns.length === 0 ? null : new RegExp(`^(?:${patterns.join('|')})$`);
  }

  /** @param origin as a browser sends it: lowercase, without the default port */
  allows(origin: string): boolean {
    return this.#allowed?.test(origin) ?? false;
  }
}
