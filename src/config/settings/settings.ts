/**
 * Settings are environment variables (docs/reference/settings.md). An invalid value or an unusable HTTPS file prevents the
 * start with a one-line message.
 */

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { codeOf, reasonOf } from '../../lib/message-text.ts';
import type { HostAndPort } from './setting.ts';
import { type SettingValues, settingsTable } from './table.ts';

/** The Redis that stores everything. `private`: a child process of `npm start` with its files in `dataDir`. */
export type RedisSetting =
  | { readonly kind: 'private' }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'sentinel'; readonly hosts: readonly HostAndPort[]; readonly name: string }
  | { readonly kind: 'cluster'; readonly seeds: readonly HostAndPort[] };

/** PEM files, by absolute path. */
export interface TlsFiles {
  /** The front's certificate, followed by its chain. */
  readonly certFile: string;
  readonly keyFile: string;
}

/** Settings in the table that `Settings` has in another form. */
type Raw =
  | 'publicUrl'
  | 'redisUrl'
  | 'redisCluster'
  | 'redisSentinel'
  | 'redisSentinelName'
  | 'tlsCert'
  | 'tlsKey'
  | 'configDir'
  | 'snapshotDir'
  | 'demo';

/** See `table.ts` for their meaning. Times are in milliseconds, sizes in bytes, and paths are absolute. */
export interface Settings extends Omit<SettingValues, Raw> {
  /** URL of the fronts, without a trailing slash. */
  readonly publicUrl: string;
  readonly redis: RedisSetting;
  /** Files for HTTPS on the fronts; null: plain HTTP. `checkTlsFiles` checks them. */
  readonly tls: TlsFiles | null;
  readonly configDir: string;
  /**
   * False if the setting is absent. The folder then does not replace another active configuration
   * (`cli/configuration/publish-configuration.ts`).
   */
  readonly isConfigDirGiven: boolean;
  /** True for this repository's `config` folder, which contains the demo tenant with its public keys. */
  readonly isConfigDirOwn: boolean;
  /** Null: workers keep no snapshots. */
  readonly snapshotDir: string | null;
  readonly demo: boolean;
}

/** A user error; its message is the line to print. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

const repositoryDir = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');

/**
 * Reads every setting. An empty variable counts as absent, because `.env` files often have empty variables. Relative folders
 * are relative to the working directory.
 * @throws SettingsError with every invalid variable, its value and what is allowed
 */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const errors: string[] = [];
  const {
    redisUrl,
    redisCluster,
    redisSentinel,
    redisSentinelName,
    tlsCert,
    tlsKey,
    configDir: givenDir,
    ...others
  } = readTable(env, errors);
  const { host, port, dataDir } = others;
  const sentinels = { hosts: redisSentinel, name: redisSentinelName };
  const configDir = resolve(givenDir ?? 'config');
  const isConfigDirOwn = configDir === resolve(repositoryDir, 'config');
  const settings: Settings = {
    ...others,
    publicUrl: others.publicUrl ?? ownUrl(host, port, tlsCert !== null),
    redis: redisOf(redisUrl, redisCluster, sentinels),
    tls:
      tlsCert === null || tlsKey === null ? null : { certFile: resolve(tlsCert), keyFile: resolve(tlsKey) },
    configDir,
    isConfigDirGiven: givenDir !== null,
    isConfigDirOwn,
    dataDir: resolve(dataDir),
    snapshotDir: snapshotDirOf(others.snapshotDir, dataDir),
    demo: others.demo ?? isConfigDirOwn,
  };
  const named = Object.entries({
    REDIS_URL: redisUrl,
    REDIS_CLUSTER: redisCluster,
    REDIS_SENTINEL: sentinels.hosts,
  }).flatMap(([name, given]) => (given === null ? [] : [name]));
  if (named.length > 1) {
    const [first, ...others] = named.reverse();
    errors.push(
      `${others.reverse().join(', ')} and ${first} are ${named.length > 2 ? 'all' : 'both'} set: keep one of them`,
    );
  }
  if ((sentinels.hosts === null) !== (sentinels.name === null)) {
    errors.push('REDIS_SENTINEL and REDIS_SENTINEL_NAME need each other: set both, or neither');
  }
  if ((tlsCert === null) !== (tlsKey === null)) {
    const [there, missing] = tlsCert === null ? ['TLS_KEY', 'TLS_CERT'] : ['TLS_CERT', 'TLS_KEY'];
    errors.push(`${there} is set and ${missing} is not: HTTPS needs both, HTTP neither`);
  }
  if (settings.confirmReplicas > 0 && settings.redis.kind === 'private') {
    errors.push('CONFIRM_REPLICAS is set and REDIS_URL is not: the private Redis has no replicas');
  }
  if (errors.length > 0) throw new SettingsError(errors.join('; '));
  return settings;
}

function readTable(env: NodeJS.ProcessEnv, errors: string[]): SettingValues {
  const read = Object.entries(settingsTable).map(([name, setting]) => [name, setting.read(env, errors)]);
  return Object.fromEntries(read);
}

function ownUrl(host: string, port: number, isTls: boolean): string {
  return `${isTls ? 'https' : 'http'}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

function snapshotDirOf(given: string | null, dataDir: string): string | null {
  return given === 'off' ? null : resolve(given ?? join(dataDir, 'shards'));
}

interface SentinelSettings {
  readonly hosts: readonly HostAndPort[] | null;
  readonly name: string | null;
}

function redisOf(
  url: string | null,
  seeds: readonly HostAndPort[] | null,
  { hosts, name }: SentinelSettings,
): RedisSetting {
  if (url !== null) return { kind: 'url', url };
  if (hosts !== null && name !== null) return { kind: 'sentinel', hosts, name };
  return seeds === null ? { kind: 'private' } : { kind: 'cluster', seeds };
}

/**
 * The environment, with the variables of `.env` in the working directory as defaults (docs/reference/settings.md). Variables in
 * the real environment take precedence, even if they are empty. Does not change `env`.
 * @throws SettingsError if there is a `.env` that cannot be read
 */
export function environmentWithFile(env: NodeJS.ProcessEnv, workingDir: string): NodeJS.ProcessEnv {
  let text: string;
  try {
    text = readFileSync(join(workingDir, '.env'), 'utf8');
  } catch (error) {
    const code = codeOf(error) ?? 'unknown';
    if (code === 'ENOENT') return { ...env };
    throw new SettingsError(`.env cannot be read (${code}): make it a readable file, or remove it`);
  }
  return { ...parseEnv(text), ...env };
}

/** Settings of earlier versions, which are ignored. */
const formerSettings: Readonly<Record<string, string>> = {
  MESSAGES_URL: 'fronts and workers are connected directly, and need no Redis for messages',
};

/** A message for each setting of an earlier version that is still set. */
export function formerSettingsIn(env: NodeJS.ProcessEnv): string[] {
  return Object.entries(formerSettings).flatMap(([name, reason]) =>
    (env[name]?.trim() ?? '') === '' ? [] : [`${name} is no longer used: ${reason}. Remove it`],
  );
}

/** The settings of a command, from the environment and the `.env` in the working directory. @throws SettingsError */
export function commandSettings(): Settings {
  return readSettings(environmentWithFile(process.env, process.cwd()));
}

/**
 * Checks that a front can use these files for HTTPS, because uWebSockets.js reports no reason if it cannot.
 * @throws SettingsError with a one-line message about the file and the problem
 */
export function checkTlsFiles({ certFile, keyFile }: TlsFiles): void {
  const cert = readPem('TLS_CERT', certFile);
  const key = readPem('TLS_KEY', keyFile);
  try {
    createSecureContext({ cert });
  } catch (error) {
    throw new SettingsError(
      `TLS_CERT: ${certFile} contains no certificate in PEM format (${reasonOf(error)})`,
    );
  }
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw new SettingsError(
      `TLS_KEY: ${keyFile} does not contain the private key of the certificate in ${certFile}, ` +
        `in PEM format and without a passphrase (${reasonOf(error)})`,
    );
  }
}

function readPem(name: string, file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new SettingsError(`${name}: the file cannot be read (${reasonOf(error)})`);
  }
}
