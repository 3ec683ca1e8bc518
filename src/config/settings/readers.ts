/** How one setting's text becomes a value. A reader that cannot throws a `WrongValue` that says what is allowed. */
import { isIP } from 'node:net';
import { apiKeyCharactersMax } from '../../contract/limits.ts';
import { hashedForm } from '../tenant/api-key.ts';
import { canonicalHost } from '../urls/host.ts';

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

export class WrongValue extends Error {
  /** The value as it may be shown; a reader of secrets masks it. */
  readonly shown: string;

  /** @param allowed what the value must be: `a whole number from 0 to 65535` */
  constructor(shown: string, allowed: string) {
    super(allowed);
    this.shown = shown;
  }
}

export const portMax = 65_535;
const headerPrefixesMax = 16;
const headerPrefixCharactersMax = 64;
/** `token` of RFC 9110, section 5.6.2, which header names are made of. */
const tokenPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const truths = new Map([
  ['on', true],
  ['true', true],
  ['1', true],
  ['off', false],
  ['false', false],
  ['0', false],
]);

export function wholeNumber(text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^[0-9]{1,15}$/.test(text) && value >= min && value <= max) return value;
  throw new WrongValue(text, `a whole number from ${min} to ${max}`);
}

export function oneOf<T extends string>(text: string, choices: readonly T[]): T {
  const choice = choices.find((known) => known === text.toLowerCase());
  if (choice !== undefined) return choice;
  throw new WrongValue(text, `one of ${choices.join(', ')}`);
}

export function onOrOff(text: string): boolean {
  const value = truths.get(text.toLowerCase());
  if (value !== undefined) return value;
  throw new WrongValue(text, 'on or off (also true, false, 1, 0)');
}

/** A key, written as itself or as `sha256:<hex>`. */
export function writtenKey(text: string): string {
  if (hashedForm(text) !== null) return text;
  throw new WrongValue(
    '***',
    `1 to ${apiKeyCharactersMax} visible ASCII characters, or sha256:<64 hex digits>`,
  );
}

/** An address or a name to listen on. */
export function listenHost(text: string): string {
  if (isIP(text) !== 0 || canonicalHost(text) !== null) return text;
  throw new WrongValue(text, 'an IP address or a host name, without a port');
}

export function redisUrl(text: string): string {
  const url = parsedUrl(text);
  const sound =
    url !== null &&
    (url.protocol === 'redis:' || url.protocol === 'rediss:') &&
    url.hostname !== '' &&
    /^\/?[0-9]{0,4}$/.test(url.pathname);
  if (sound) return text;
  throw new WrongValue(
    withoutPassword(text),
    'redis://[user:password@]host[:port][/database], or the same with rediss:// for TLS',
  );
}

export function clusterSeeds(text: string): HostAndPort[] {
  return listOf(text).map((seed) => {
    const [, bracketed, name, port] = /^(?:\[([^\]]+)\]|([^:@/\s]+)):([0-9]{1,5})$/.exec(seed) ?? [];
    const host = bracketed ?? name;
    const sound =
      host !== undefined && (bracketed === undefined ? canonicalHost(host) !== null : isIP(host) === 6);
    if (sound && Number(port) >= 1 && Number(port) <= portMax) return { host, port: Number(port) };
    throw new WrongValue(withoutPassword(text), 'host:port pairs, separated by commas');
  });
}

/** Prefixes of header names, each once whatever its case, without the hyphen that follows them. */
export function headerPrefixes(text: string): string[] {
  const prefixes = new Map(listOf(text).map((prefix) => [prefix.toLowerCase(), prefix]));
  const sound = (prefix: string) =>
    tokenPattern.test(prefix) && !prefix.endsWith('-') && prefix.length <= headerPrefixCharactersMax;
  if (prefixes.size > 0 && prefixes.size <= headerPrefixesMax && [...prefixes.values()].every(sound)) {
    return [...prefixes.values()];
  }
  throw new WrongValue(
    text,
    `1 to ${headerPrefixesMax} beginnings of header names, separated by commas, such as X-Service,X-Acme`,
  );
}

function listOf(text: string): string[] {
  return text.split(',').map((item) => item.trim());
}

function parsedUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

/** Cuts to the last `@`, for a broken value may have a password with any character in it. */
function withoutPassword(text: string): string {
  const at = text.lastIndexOf('@');
  return at === -1 ? text : `${/^[a-z]+:\/\//i.exec(text)?.[0] ?? ''}***${text.slice(at)}`;
}
