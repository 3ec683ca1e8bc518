/** Settings are environment variables (docs/reference/settings.md); a wrong value stops the start with one clear line. */
import { availableParallelism } from 'node:os';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defaultFrontLimits, type FrontLimits } from '../../contract/front-limits.ts';
import {
  leaseMs,
  openRequestsPerSecondMax,
  partitionsMax,
  processesMax,
  queryCpuMs,
  replicaWaitMs,
} from '../../contract/limits.ts';
import { excerpt } from '../../lib/quote.ts';
import {
  clusterSeeds,
  type HostAndPort,
  headerPrefixes,
  listenHost,
  oneOf,
  onOrOff,
  portMax,
  redisUrl,
  WrongValue,
  wholeNumber,
  writtenKey,
} from './readers.ts';

export type LogLevel = (typeof logLevels)[number];
export type AppendFsync = (typeof appendFsyncs)[number];

/** Which Redis holds everything. `private`: a child process of `npm start` with its files under `dataDir`. */
export type RedisSetting =
  | { readonly kind: 'private' }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'cluster'; readonly seeds: readonly HostAndPort[] };

/** PEM files, by absolute path. */
export interface TlsFiles {
  /** The front's certificate, followed by those that it was signed with. */
  readonly certFile: string;
  readonly keyFile: string;
}

/** 0 (as others) to 19; idle: only while nobody else wants the core (sched(7), SCHED_IDLE). */
export type Niceness = number | 'idle';
export const nicenessMax = 19;

export interface Settings {
  /** 0: any free port. */
  readonly port: number;
  readonly host: string;
  /** What the fronts speak HTTPS with; null: plain HTTP. Whether the files are good is for `checkTlsFiles`. */
  readonly tls: TlsFiles | null;
  /** Requests a second that one front takes for one API key; 0: as many as come. */
  readonly rateLimit: number;
  /** The key that `/metrics` asks for, as itself or as `sha256:<hex>`; null: it asks for none. */
  readonly metricsKey: string | null;
  /** Requests a second without a known key that one front takes from one address; 0: as many as come. */
  readonly openRateLimit: number;
  readonly redis: RedisSetting;
  /**
   * URL of the Redis that queries and their answers pass between processes; null: the one that holds everything, or, when
   * that is private, a second one that keeps nothing.
   */
  readonly messagesUrl: string | null;
  /** Absolute path. */
  readonly configDir: string;
  /** False where nobody said which folder is meant: what lies there then replaces nothing else (`cli/configuration/publish.ts`). */
  readonly isConfigDirGiven: boolean;
  /** True for the folder `config` of this repository, which has the demo tenant with its public keys. */
  readonly isConfigDirOwn: boolean;
  /** Absolute path. */
  readonly dataDir: string;
  /** Partition workers that `npm start` runs. */
  readonly workers: number;
  /** Of workers and jobs: above 0 fronts and Redis go first where all share a machine. */
  readonly workerNiceness: Niceness;
  /** HTTP fronts that `npm start` runs. */
  readonly web: number;
  readonly partitions: number;
  /** As written, without the hyphen: `X-Service`. Never empty. */
  readonly headerPrefixes: readonly string[];
  readonly demo: boolean;
  readonly logLevel: LogLevel;
  /** Memory for finished answers of delivery and queries in each HTTP front; 0 turns the cache off. */
  readonly deliveryCacheBytes: number;
  readonly frontLimits: FrontLimits;
  /** Processor time that a query has in each worker before it is refused. */
  readonly queryCpuMs: number;
  /** A worker that is not heard of for this long loses its partitions. */
  readonly leaseMs: number;
  /** Replicas of the one Redis that must have what is acknowledged. */
  readonly confirmReplicas: number;
  /** How long a write waits for them, and a write to a cluster for one. */
  readonly replicaWaitMs: number;
  /** When the private Redis writes its append-only file through to the disk. */
  readonly appendFsync: AppendFsync;
}

/** The user's mistake; its message is the one line to print. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

const mebibyte = 1024 * 1024;
const deliveryCacheMebibytesMax = 65_536;
const rateLimitMax = 1_000_000;
const backlogMax = 10_000_000;
const bodiesMebibytesMax = 65_536;
const answersMebibytesMax = 65_536;
const waitSecondsMax = 3_600;
/** Two turns of a query. */
const queryCpuMsMin = 10;
const queryCpuMsMax = 600_000;
/** Leases are renewed every half a second, and Redis may be slow. */
const leaseSecondsMin = 2;
const confirmReplicasMax = 16;
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
const appendFsyncs = ['always', 'everysec'] as const;
const repositoryDir = resolve(dirname(fileURLToPath(import.meta.url)), '../../..');

function niceness(text: string): Niceness {
  if (text.toLowerCase() === 'idle') return 'idle';
  if (/^[0-9]{1,2}$/.test(text) && Number(text) <= nicenessMax) return Number(text);
  throw new WrongValue(text, `a whole number from 0 to ${nicenessMax}, or idle`);
}

/**
 * Reads every setting; a variable that is empty counts as absent, for a `.env` file writes it so.
 * Relative folders are relative to the working directory.
 * @throws SettingsError naming every wrong variable, its value and what is allowed
 */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const mistakes: string[] = [];
  function setting<T>(name: string, absent: T, read: (text: string) => T): T {
    const text = env[name]?.trim() ?? '';
    if (text === '') return absent;
    try {
      return read(text);
    } catch (error) {
      if (!(error instanceof WrongValue)) throw error;
      mistakes.push(`${name} is ${JSON.stringify(excerpt(error.shown))}: it must be ${error.message}`);
      return absent;
    }
  }

  const redis = setting<RedisSetting | null>('REDIS_URL', null, (text) => ({
    kind: 'url',
    url: redisUrl(text),
  }));
  const cluster = setting<RedisSetting | null>('REDIS_CLUSTER', null, (text) => ({
    kind: 'cluster',
    seeds: clusterSeeds(text),
  }));
  if (redis !== null && cluster !== null) {
    mistakes.push('REDIS_URL and REDIS_CLUSTER are both set: keep one of them');
  }
  const certFile = setting<string | null>('TLS_CERT', null, (text) => resolve(text));
  const keyFile = setting<string | null>('TLS_KEY', null, (text) => resolve(text));
  if ((certFile === null) !== (keyFile === null)) {
    const [there, missing] = certFile === null ? ['TLS_KEY', 'TLS_CERT'] : ['TLS_CERT', 'TLS_KEY'];
    mistakes.push(`${there} is set and ${missing} is not: HTTPS needs both, HTTP neither`);
  }
  const limits = defaultFrontLimits;
  const waitMs = (text: string) => 1000 * wholeNumber(text, 1, waitSecondsMax);
  const givenConfigDir = setting<string | null>('CONFIG_DIR', null, (text) => text);
  const configDir = resolve(givenConfigDir ?? 'config');
  const isConfigDirOwn = configDir === resolve(repositoryDir, 'config');
  const settings: Settings = {
    port: setting('PORT', 4000, (text) => wholeNumber(text, 0, portMax)),
    host: setting('HOST', '127.0.0.1', listenHost),
    tls: certFile === null || keyFile === null ? null : { certFile, keyFile },
    metricsKey: setting<string | null>('METRICS_KEY', null, writtenKey),
    rateLimit: setting('RATE_LIMIT', 0, (text) => wholeNumber(text, 0, rateLimitMax)),
    openRateLimit: setting('OPEN_RATE_LIMIT', openRequestsPerSecondMax, (text) =>
      wholeNumber(text, 0, rateLimitMax),
    ),
    redis: redis ?? cluster ?? { kind: 'private' },
    messagesUrl: setting<string | null>('MESSAGES_URL', null, redisUrl),
    configDir,
    isConfigDirGiven: givenConfigDir !== null,
    isConfigDirOwn,
    dataDir: resolve(setting('DATA_DIR', '.data', (text) => text)),
    workers: setting('WORKERS', Math.max(1, availableParallelism() - 1), (text) =>
      wholeNumber(text, 1, processesMax),
    ),
    workerNiceness: setting<Niceness>('WORKER_NICENESS', 0, niceness),
    web: setting('WEB', 1, (text) => wholeNumber(text, 1, processesMax)),
    partitions: setting('PARTITIONS', 16, (text) => wholeNumber(text, 1, partitionsMax)),
    headerPrefixes: setting('HEADER_PREFIX', ['X-Service'], headerPrefixes),
    demo: setting('DEMO', isConfigDirOwn, onOrOff),
    logLevel: setting<LogLevel>('LOG_LEVEL', 'info', (text) => oneOf(text, logLevels)),
    deliveryCacheBytes:
      mebibyte * setting('DELIVERY_CACHE_MB', 128, (text) => wholeNumber(text, 0, deliveryCacheMebibytesMax)),
    frontLimits: {
      ingestBacklogEntries: setting('INGEST_BACKLOG', limits.ingestBacklogEntries, (text) =>
        wholeNumber(text, 1, backlogMax),
      ),
      bodiesInFlightBytes: setting(
        'BODIES_MB',
        limits.bodiesInFlightBytes,
        (text) => mebibyte * wholeNumber(text, 1, bodiesMebibytesMax),
      ),
      unsentAnswersBytes: setting(
        'ANSWERS_MB',
        limits.unsentAnswersBytes,
        (text) => mebibyte * wholeNumber(text, 1, answersMebibytesMax),
      ),
      bodyIdleMs: setting('BODY_IDLE_SECONDS', limits.bodyIdleMs, waitMs),
      minVersionWaitMs: setting('MIN_VERSION_WAIT_SECONDS', limits.minVersionWaitMs, waitMs),
      queryWaitMs: setting('QUERY_WAIT_SECONDS', limits.queryWaitMs, waitMs),
      redisTimeoutMs: setting('REDIS_TIMEOUT_SECONDS', limits.redisTimeoutMs, waitMs),
      drainMs: setting('DRAIN_SECONDS', limits.drainMs, waitMs),
    },
    queryCpuMs: setting('QUERY_CPU_MS', queryCpuMs, (text) =>
      wholeNumber(text, queryCpuMsMin, queryCpuMsMax),
    ),
    leaseMs: setting(
      'LEASE_SECONDS',
      leaseMs,
      (text) => 1000 * wholeNumber(text, leaseSecondsMin, waitSecondsMax),
    ),
    confirmReplicas: setting('CONFIRM_REPLICAS', 0, (text) => wholeNumber(text, 0, confirmReplicasMax)),
    replicaWaitMs: setting('REPLICA_WAIT_SECONDS', replicaWaitMs, waitMs),
    appendFsync: setting<AppendFsync>('APPEND_FSYNC', 'always', (text) => oneOf(text, appendFsyncs)),
  };
  if (settings.confirmReplicas > 0 && settings.redis.kind === 'private') {
    mistakes.push('CONFIRM_REPLICAS is set and REDIS_URL is not: the private Redis has no replicas');
  }
  if (mistakes.length > 0) throw new SettingsError(mistakes.join('; '));
  return settings;
}
