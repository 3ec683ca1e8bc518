import { isIP } from 'node:net';
import { apiKeyCharactersMax, headerPrefixCharactersMax, headerPrefixesMax } from '../../contract/limits.ts';
import { excerpt } from '../../lib/message-text.ts';
import { hashedForm } from '../tenant/api-keys.ts';
import { canonicalHost, portMax } from '../urls/url.ts';

/** A setting as listed in the reference and `--help`. */
export interface ListedSetting {
  readonly variable: string;
  /** In the format of the variable, or in words; empty if there is none. */
  readonly default: string;
  /** The unit of the variable; empty for none. */
  readonly unit: string;
  /** Completes the sentence "it must be …". */
  readonly allowed: string;
  /** In Markdown, without a full stop. */
  readonly meaning: string;
}

/** One environment variable. */
export class Setting<Value, Default extends Value | null> {
  /**
   * @param defaultValue null for none
   * @param defaultText the default in words, if it is not a single value
   */
  constructor(
    readonly variable: string,
    private readonly kind: Kind<Value>,
    private readonly defaultValue: Default,
    private readonly meaning: string,
    private readonly defaultText: string | null = null,
  ) {}

  /** The value in an environment. An empty variable counts as not set. An invalid value adds an error and gives the default. */
  read(env: NodeJS.ProcessEnv, errors: string[]): Value | Default {
    const text = env[this.variable]?.trim() ?? '';
    if (text === '') return this.defaultValue;
    const value = this.kind.parse(text);
    if (value !== null) return value;
    const shown = JSON.stringify(excerpt(this.kind.redact(text)));
    errors.push(`${this.variable} is ${shown}: it must be ${this.kind.allowed}`);
    return this.defaultValue;
  }

  get listed(): ListedSetting {
    const { variable, kind, defaultValue, defaultText, meaning } = this;
    const text = defaultText ?? (defaultValue === null ? '' : kind.format(defaultValue));
    return { variable, default: text, unit: kind.unit, allowed: kind.allowed, meaning };
  }
}

/** The type of a setting: which values are allowed, and how they are parsed and formatted. */
interface Kind<Value> {
  /** Completes the sentence "it must be …": `a whole number from 0 to 65535`. */
  readonly allowed: string;
  /** The unit of a variable; empty for none. */
  readonly unit: string;
  /** Null if the text is not a valid value. */
  readonly parse: (text: string) => Value | null;
  /** Formats a value as the variable would have it. */
  readonly format: (value: Value) => string;
  /** An invalid value as messages may show it, without secrets. */
  readonly redact: (text: string) => string;
}

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

function kind<Value>(
  allowed: string,
  parse: (text: string) => Value | null,
  rest: Partial<Kind<Value>> = {},
): Kind<Value> {
  return { allowed, unit: '', parse, format: String, redact: (text) => text, ...rest };
}

/** A whole number in decimal digits, within inclusive bounds. */
export function wholeNumber(min: number, max: number, unit = ''): Kind<number> {
  return kind(`a whole number from ${min} to ${max}`, (text) => wholeNumberIn(text, min, max), { unit });
}

/** A whole number of units that is stored in smaller units. @param size smaller units per unit */
function multiple(min: number, max: number, unit: string, size: number): Kind<number> {
  const parse = (text: string) => {
    const count = wholeNumberIn(text, min, max);
    return count === null ? null : count * size;
  };
  const format = (value: number) => String(value / size);
  return kind(`a whole number from ${min} to ${max}`, parse, { unit, format });
}

/** In MiB; the value is in bytes. */
export function mebibytes(min: number, max: number): Kind<number> {
  return multiple(min, max, 'MiB', 1024 * 1024);
}

/** In seconds; the value is in milliseconds. */
export function seconds(min: number, max: number): Kind<number> {
  return multiple(min, max, 's', 1000);
}

/** In days, with optional decimals; the value is in milliseconds. */
export function days(min: number, max: number): Kind<number> {
  const parse = (text: string) => {
    const value = /^[0-9]{1,6}(\.[0-9]{1,9})?$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value * dayMs : null;
  };
  const format = (value: number) => String(value / dayMs);
  return kind(`a number from ${min} to ${max}`, parse, { unit: 'days', format });
}

const dayMs = 86_400_000;

function wholeNumberIn(text: string, min: number, max: number): number | null {
  const value = Number(text);
  return /^[0-9]{1,15}$/.test(text) && value >= min && value <= max ? value : null;
}

/** One of several words, case-insensitive. */
export function oneOf<Choice extends string>(...choices: readonly Choice[]): Kind<Choice> {
  const parse = (text: string) => choices.find((choice) => choice === text.toLowerCase()) ?? null;
  return kind(`one of ${choices.join(', ')}`, parse);
}

const booleanWords: ReadonlyMap<string, boolean> = new Map([
  ['on', true],
  ['true', true],
  ['1', true],
  ['off', false],
  ['false', false],
  ['0', false],
]);

export const onOrOff: Kind<boolean> = kind(
  'on or off (also true, false, 1, 0)',
  (text) => booleanWords.get(text.toLowerCase()) ?? null,
  { format: (value) => (value ? 'on' : 'off') },
);

/** 0 (the default of processes) to 19; idle: runs only while no other process needs the core (sched(7), SCHED_IDLE). */
export type Niceness = number | 'idle';
export const nicenessMax = 19;

export const niceness: Kind<Niceness> = kind(`a whole number from 0 to ${nicenessMax}, or idle`, (text) =>
  text.toLowerCase() === 'idle' ? 'idle' : wholeNumberIn(text, 0, nicenessMax),
);

/** A file or a folder. */
export const path: Kind<string> = kind('a path', (text) => text);

export const folderOrOff: Kind<string> = kind('a folder or `off`', (text) => text);

/** A key in plain text or as `sha256:<hex>`. */
export const apiKey: Kind<string> = kind(
  `1 to ${apiKeyCharactersMax} visible ASCII characters, or sha256:<64 hex digits>`,
  (text) => (hashedForm(text) === null ? null : text),
  { redact: () => '***' },
);

/** An address or a name to listen on. */
export const listenHost: Kind<string> = kind('an IP address or a host name, without a port', (text) =>
  isIP(text) !== 0 || canonicalHost(text) !== null ? text : null,
);

export const redisUrl: Kind<string> = kind(
  'redis://[user:password@]host[:port][/database], or the same with rediss:// for TLS',
  (text) => {
    const url = parsedUrl(text);
    const isRedis = url?.protocol === 'redis:' || url?.protocol === 'rediss:';
    return isRedis && url.hostname !== '' && /^\/?[0-9]{0,4}$/.test(url.pathname) ? text : null;
  },
  { redact: withoutPassword },
);

export const clusterSeeds = kind<readonly HostAndPort[]>(
  'host:port pairs, separated by commas',
  (text) => {
    const seeds = listOf(text).flatMap((seed) => hostAndPort(seed) ?? []);
    return seeds.length === listOf(text).length ? seeds : null;
  },
  {
    redact: withoutPassword,
    format: (seeds) => seeds.map(({ host, port }) => `${host}:${port}`).join(','),
  },
);

/** An address that others connect to; null: the port that it listens on. */
export const reachableAddress = kind<{ readonly host: string; readonly port: number | null }>(
  'a host or host:port',
  (text) => (listenHost.parse(text) === null ? hostAndPort(text) : { host: text, port: null }),
  { format: ({ host, port }) => (port === null ? host : `${isIP(host) === 6 ? `[${host}]` : host}:${port}`) },
);

/** The name of a master in Redis Sentinel, as in `sentinel monitor NAME …`. */
export const sentinelName: Kind<string> = kind('1 to 100 letters, digits, `.`, `-` or `_`', (text) =>
  /^[\w.-]{1,100}$/.test(text) ? text : null,
);

function hostAndPort(seed: string): HostAndPort | null {
  const [, bracketed, name, port] = /^(?:\[([^\]]+)\]|([^:@/\s]+)):([0-9]{1,5})$/.exec(seed) ?? [];
  const host = bracketed ?? name;
  if (host === undefined || Number(port) < 1 || Number(port) > portMax) return null;
  const isValid = bracketed === undefined ? canonicalHost(host) !== null : isIP(host) === 6;
  return isValid ? { host, port: Number(port) } : null;
}

/** `token` of RFC 9110, section 5.6.2, which header names are built from. */
const tokenPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Prefixes of header names without the final hyphen, deduplicated case-insensitively. */
export const headerPrefixes = kind<readonly string[]>(
  `1 to ${headerPrefixesMax} prefixes of header names, separated by commas, such as X-Service,X-Acme`,
  (text) => {
    const prefixes = [...new Map(listOf(text).map((prefix) => [prefix.toLowerCase(), prefix])).values()];
    const isValid = (prefix: string) =>
      tokenPattern.test(prefix) && !prefix.endsWith('-') && prefix.length <= headerPrefixCharactersMax;
    return prefixes.length <= headerPrefixesMax && prefixes.every(isValid) ? prefixes : null;
  },
  { format: (prefixes) => prefixes.join(',') },
);

/** Host names, addresses and address ranges. */
export const allowedHosts = kind<readonly string[]>(
  'host names, addresses and CIDRs, separated by commas, such as 10.0.0.0/8,hooks.internal',
  (text) => {
    const list = listOf(text).filter((item) => item !== '');
    return list.every(isAllowedHost) ? list : null;
  },
  { format: (hosts) => hosts.join(',') },
);

function isAllowedHost(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const family = isIP(address);
  if (bits === undefined) return family !== 0 || canonicalHost(text) !== null;
  const isBits = /^[0-9]{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
  return more.length === 0 && family !== 0 && isBits;
}

/** The URL at which people reach the platform, without a trailing slash. */
export const publicUrl = kind<string>(
  'https://… or http://…, without a query',
  (text) => {
    const url = parsedUrl(text);
    const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
    const hasUser = url?.username !== '' || url.password !== '';
    return isHttp && url.search === '' && url.hash === '' && !hasUser ? url.href.replace(/\/+$/, '') : null;
  },
  { redact: withoutPassword },
);

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

/** Hides everything up to the last `@`, because the password in an invalid value may contain any character. */
function withoutPassword(text: string): string {
  const at = text.lastIndexOf('@');
  return at === -1 ? text : `${/^[a-z]+:\/\//i.exec(text)?.[0] ?? ''}***${text.slice(at)}`;
}
