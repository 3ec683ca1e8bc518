import { domainToASCII } from 'node:url';

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
