/** Every setting, once. Reading the environment, refusing wrong values and listing settings all go by this table. */
import { availableParallelism } from 'node:os';
import {
  answersMebibytesMax,
  bodiesInFlightBytes,
  bodiesMebibytesMax,
  bodyIdleTimeoutMs,
  changesRetentionDays,
  changesRetentionDaysMax,
  confirmReplicasMax,
  deliveryCacheBytes,
  deliveryCacheMebibytesMax,
  drainMs,
  ingestBacklogEntries,
  ingestBacklogEntriesMax,
  leaseMs,
  leaseSecondsMin,
  minVersionWaitMs,
  openRequestsPerSecond,
  partitionsMax,
  processesMax,
  queryCpuMs,
  queryCpuMsMax,
  queryCpuMsMin,
  queryWaitMs,
  rateLimitMax,
  redisCommandTimeoutMs,
  replicaWaitMs,
  shardCopiesMax,
  unsentAnswersBytes,
  waitSecondsMax,
} from '../../contract/limits.ts';
import { portMax } from '../urls/url.ts';
import {
  allowedHosts,
  clusterSeeds,
  days,
  folderOrOff,
  headerPrefixes,
  listenHost,
  mebibytes,
  type Niceness,
  niceness,
  oneOf,
  onOrOff,
  path,
  publicUrl,
  redisUrl,
  seconds,
  sentinelName,
  wholeNumber,
  writtenKey,
} from './kinds.ts';
import { type ListedSetting, Setting } from './setting.ts';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
export type AppendFsync = 'always' | 'everysec';

const wait = seconds(1, waitSecondsMax);
const rate = wholeNumber(0, rateLimitMax, 'requests a second');
const processes = wholeNumber(1, processesMax);
const logLevel = oneOf<LogLevel>('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent');
const appendFsync = oneOf<AppendFsync>('always', 'everysec');

export const settingsTable = {
  port: new Setting<number, number>(
    'PORT',
    wholeNumber(0, portMax),
    4000,
    'port of the HTTP fronts; 0 takes any free one',
  ),
  host: new Setting<string, string>('HOST', listenHost, '127.0.0.1', 'address they listen on'),
  redisUrl: new Setting(
    'REDIS_URL',
    redisUrl,
    null,
    'the Redis that holds everything. Without it `npm start` runs a private `redis-server` on loopback, with a password',
  ),
  redisCluster: new Setting(
    'REDIS_CLUSTER',
    clusterSeeds,
    null,
    'nodes of a Redis Cluster that holds everything; not together with `REDIS_URL`',
  ),
  redisSentinel: new Setting(
    'REDIS_SENTINEL',
    clusterSeeds,
    null,
    'sentinels that know where the Redis is that holds everything, instead of `REDIS_URL`; with `REDIS_SENTINEL_NAME`',
  ),
  redisSentinelName: new Setting(
    'REDIS_SENTINEL_NAME',
    sentinelName,
    null,
    'name under which the sentinels watch that Redis',
  ),
  messagesUrl: new Setting(
    'MESSAGES_URL',
    redisUrl,
    null,
    'a Redis that keeps nothing, for queries on their way. Without it the one that has everything; with the private Redis, a second private one',
  ),
  configDir: new Setting(
    'CONFIG_DIR',
    path,
    null,
    'the configuration folder; without it nothing but the demo becomes active ([live configuration](../guide/live-configuration.md))',
    '`config`',
  ),
  dataDir: new Setting<string, string>(
    'DATA_DIR',
    path,
    '.data',
    'files of the private Redis; one `npm start` at a time',
  ),
  snapshotDir: new Setting(
    'SNAPSHOT_DIR',
    folderOrOff,
    null,
    'where workers keep their index shards over a restart, as a cache ([starts of workers](../guide/operating.md#starts-of-workers)); `off`: they do not',
    '`shards` in `DATA_DIR`',
  ),
  appendFsync: new Setting<AppendFsync, AppendFsync>(
    'APPEND_FSYNC',
    appendFsync,
    'always',
    'when the private Redis writes its file through to the disk',
  ),
  workers: new Setting<number, number>(
    'WORKERS',
    processes,
    Math.max(1, availableParallelism() - 1),
    'partition workers of `npm start`',
    'cores − 1, at least 1',
  ),
  web: new Setting<number, number>('WEB', processes, 1, 'HTTP fronts of `npm start`'),
  shardCopies: new Setting<number, number>(
    'SHARD_COPIES',
    wholeNumber(1, shardCopiesMax, 'workers'),
    1,
    'workers that hold the index shards of each partition, as far as there are so many workers; the same for all of them. With 2 a worker can die without a failed query, and memory for indexes doubles ([shard copies](../guide/deployment.md#shard-copies))',
  ),
  workerNiceness: new Setting<Niceness, Niceness>(
    'WORKER_NICENESS',
    niceness,
    0,
    'niceness of workers and jobs: with 5 fronts and Redis go first on busy cores. `idle` (Linux): they run only while nobody else wants the core. Readers wait less while much is written or rebuilt, and what is written shows later; with `idle` keep a part of a core free, or it waits until the rush is over',
  ),
  partitions: new Setting<number, number>(
    'PARTITIONS',
    wholeNumber(1, partitionsMax),
    16,
    'fixed when a store is first used, another value is refused then',
  ),
  headerPrefixes: new Setting<readonly string[], readonly string[]>(
    'HEADER_PREFIX',
    headerPrefixes,
    ['X-Service'],
    "beginnings of the platform's header names: `X-Service,X-Acme` reads `X-Acme-Type` too. Answers use the first",
  ),
  tlsCert: new Setting(
    'TLS_CERT',
    path,
    null,
    "PEM file of the fronts' certificate, with its chain; only together with `TLS_KEY`. With them the port speaks HTTPS only. Restart the fronts after a renewal",
  ),
  tlsKey: new Setting(
    'TLS_KEY',
    path,
    null,
    "PEM file of the certificate's private key, without a passphrase",
  ),
  metricsKey: new Setting(
    'METRICS_KEY',
    writtenKey,
    null,
    'the key that `/metrics` asks for, which names tenants: `Authorization: Bearer <key>` or `X-Api-Key`; may be written as `sha256:<hex>`. None: `/metrics` is open',
  ),
  metricsPort: new Setting(
    'METRICS_PORT',
    wholeNumber(1, portMax),
    null,
    'a port on `HOST` where this process serves its own metrics under `/metrics`, over HTTP; each process of a host needs another one, and `npm start` counts up from it. `/metrics` of a front shows that front alone then. None: it shows all processes',
  ),
  rateLimit: new Setting<number, number>(
    'RATE_LIMIT',
    rate,
    0,
    "requests that one front takes for one API key, with a burst of one second's worth; 0: no limit. Over it: 429 with `Retry-After`",
  ),
  openRateLimit: new Setting<number, number>(
    'OPEN_RATE_LIMIT',
    rate,
    openRequestsPerSecond,
    "requests without a known key (health, metrics, the document, unknown paths and keys) that one front takes from one address, an IPv6 /64 as one, with a burst of five seconds' worth; 0: no limit. Over it: 429. As many new API keys a second may a tenant's configurations and dry runs name. Behind a proxy all requests come from its address",
  ),
  ingestBacklogEntries: new Setting<number, number>(
    'INGEST_BACKLOG',
    wholeNumber(1, ingestBacklogEntriesMax, 'entries'),
    ingestBacklogEntries,
    'stream entries of one tenant (accepted requests, as each front counts its own) that may wait in one partition, and its requests that wait, before its ingest is answered 503',
  ),
  bodiesInFlightBytes: new Setting<number, number>(
    'BODIES_MB',
    mebibytes(1, bodiesMebibytesMax),
    bodiesInFlightBytes,
    'request bodies that one front holds at a time; what arrives beyond it is answered 503',
  ),
  unsentAnswersBytes: new Setting<number, number>(
    'ANSWERS_MB',
    mebibytes(1, answersMebibytesMax),
    unsentAnswersBytes,
    'answers that one front holds for clients which have not read them, each counted for every such client; beyond it answers over 64 KiB are 503; live answers may hold as much again, those of one tenant half of what others leave',
  ),
  bodyIdleMs: new Setting<number, number>(
    'BODY_IDLE_SECONDS',
    wait,
    bodyIdleTimeoutMs,
    'a body of which nothing arrives for this long ends its request (408)',
  ),
  minVersionWaitMs: new Setting<number, number>(
    'MIN_VERSION_WAIT_SECONDS',
    wait,
    minVersionWaitMs,
    'how long a request with `X-Service-Min-Version` waits, then 503',
  ),
  queryWaitMs: new Setting<number, number>(
    'QUERY_WAIT_SECONDS',
    wait,
    queryWaitMs,
    'how long a query waits for a complete answer of the workers, then 503',
  ),
  queryCpuMs: new Setting<number, number>(
    'QUERY_CPU_MS',
    wholeNumber(queryCpuMsMin, queryCpuMsMax, 'ms'),
    queryCpuMs,
    'processor time that a query has in each worker; beyond it 400 with what was costly. All queries of a multi-query together have twice as much',
  ),
  redisTimeoutMs: new Setting<number, number>(
    'REDIS_TIMEOUT_SECONDS',
    wait,
    redisCommandTimeoutMs,
    'longest command of a front to Redis, then 503',
  ),
  confirmReplicas: new Setting<number, number>(
    'CONFIRM_REPLICAS',
    wholeNumber(0, confirmReplicasMax, 'replicas'),
    0,
    'how many replicas must have a save, a delete or a configuration before it is acknowledged: of the one Redis, or of each shard on Redis Cluster. With `0`, one Redis waits for none, and a shard waits for one replica as long as it has any',
  ),
  replicaWaitMs: new Setting<number, number>(
    'REPLICA_WAIT_SECONDS',
    wait,
    replicaWaitMs,
    'how long a write waits for these replicas; then it is answered 503',
  ),
  changesRetentionMs: new Setting<number, number>(
    'CHANGES_RETENTION_DAYS',
    days(0, changesRetentionDaysMax),
    changesRetentionDays * 86_400_000,
    'how long the change log remembers removals, and what views were served under before; an older offset of the feed is answered 410',
  ),
  webhookAllow: new Setting<readonly string[], readonly string[]>(
    'WEBHOOK_ALLOW',
    allowedHosts,
    [],
    'receivers of webhooks that may have an address which is not public: host names, addresses, CIDRs, separated by commas. None: no such address is ever connected to',
  ),
  publicUrl: new Setting<string, null>(
    'PUBLIC_URL',
    publicUrl,
    null,
    'where the fronts are reached from outside; webhooks of the format `enterspeed` begin their URLs with it',
    'scheme, `HOST` and `PORT`',
  ),
  leaseMs: new Setting<number, number>(
    'LEASE_SECONDS',
    seconds(leaseSecondsMin, waitSecondsMax),
    leaseMs,
    'a worker that is not heard of for this long loses its partitions to others',
  ),
  drainMs: new Setting<number, number>(
    'DRAIN_SECONDS',
    wait,
    drainMs,
    "how long a front's requests may go on after SIGTERM; every process ends 1.5 s later at the latest. `npm start` ends all processes in that time, fronts first, and leaves 6.5 s of it for the others",
  ),
  deliveryCacheBytes: new Setting<number, number>(
    'DELIVERY_CACHE_MB',
    mebibytes(0, deliveryCacheMebibytesMax),
    deliveryCacheBytes,
    'memory for finished answers of delivery and queries in each front, a quarter of it for the views of listed rows; 0 turns the cache off',
  ),
  console: new Setting<boolean, boolean>(
    'CONSOLE',
    onOrOff,
    true,
    'serve the [console](../guide/console.md) at `/console`',
  ),
  demo: new Setting(
    'DEMO',
    onOrOff,
    null,
    'load the demo data at first start',
    "`on` when `CONFIG_DIR` is this repository's",
  ),
  logLevel: new Setting<LogLevel, LogLevel>(
    'LOG_LEVEL',
    logLevel,
    'info',
    'what is logged: this and what is graver',
  ),
};

/** What the settings are read as, by the keys of the table. */
export type SettingValues = {
  readonly [Key in keyof typeof settingsTable]: ReturnType<(typeof settingsTable)[Key]['valueIn']>;
};

/** All settings, for the reference and for `--help`. */
export function listSettings(): ListedSetting[] {
  return Object.values(settingsTable).map(({ listed }) => listed);
}
