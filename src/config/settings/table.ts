/** The table of all settings. Reading, validation and listings use it. */
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
  apiKey,
  clusterSeeds,
  days,
  folderOrOff,
  headerPrefixes,
  type ListedSetting,
  listenHost,
  mebibytes,
  niceness,
  oneOf,
  onOrOff,
  path,
  publicUrl,
  reachableAddress,
  redisUrl,
  Setting,
  seconds,
  sentinelName,
  wholeNumber,
} from './setting.ts';

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
export type AppendFsync = 'always' | 'everysec';

const wait = seconds(1, waitSecondsMax);
const rate = wholeNumber(0, rateLimitMax, 'requests a second');
const processes = wholeNumber(1, processesMax);
const logLevel = oneOf<LogLevel>('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent');
const appendFsync = oneOf<AppendFsync>('always', 'everysec');

export const settingsTable = {
  port: new Setting('PORT', wholeNumber(0, portMax), 4000, 'port of the HTTP fronts; 0: any free port'),
  host: new Setting('HOST', listenHost, '127.0.0.1', 'address that the fronts listen on'),
  redisUrl: new Setting(
    'REDIS_URL',
    redisUrl,
    null,
    'the Redis that stores everything. Without it, `npm start` runs a private `redis-server` on loopback, with a password',
  ),
  redisCluster: new Setting(
    'REDIS_CLUSTER',
    clusterSeeds,
    null,
    'nodes of a Redis Cluster that stores everything; not together with `REDIS_URL`',
  ),
  redisSentinel: new Setting(
    'REDIS_SENTINEL',
    clusterSeeds,
    null,
    'sentinels that know the address of the Redis that stores everything, instead of `REDIS_URL`; with `REDIS_SENTINEL_NAME`',
  ),
  redisSentinelName: new Setting(
    'REDIS_SENTINEL_NAME',
    sentinelName,
    null,
    'name under which the sentinels monitor that Redis',
  ),
  configDir: new Setting(
    'CONFIG_DIR',
    path,
    null,
    'the configuration folder; without it, only the demo becomes active ([live configuration](../guide/live-configuration.md))',
    '`config`',
  ),
  dataDir: new Setting(
    'DATA_DIR',
    path,
    '.data',
    'files of the private Redis; only one `npm start` at a time can use them',
  ),
  snapshotDir: new Setting(
    'SNAPSHOT_DIR',
    folderOrOff,
    null,
    'where workers store snapshots of their index shards for a restart ([starts of workers](../guide/operating.md#starts-of-workers)); `off`: no snapshots',
    '`shards` in `DATA_DIR`',
  ),
  appendFsync: new Setting(
    'APPEND_FSYNC',
    appendFsync,
    'always',
    'when the private Redis syncs its append-only file to disk',
  ),
  workers: new Setting(
    'WORKERS',
    processes,
    Math.max(1, availableParallelism() - 1),
    'number of partition workers of `npm start`',
    'cores − 1, at least 1',
  ),
  web: new Setting('WEB', processes, 1, 'number of HTTP fronts of `npm start`'),
  shardCopies: new Setting(
    'SHARD_COPIES',
    wholeNumber(1, shardCopiesMax, 'workers'),
    1,
    'number of workers that hold the index shards of each partition, if there are that many workers; use the same value for all of them. With 2, no query fails when a worker dies, and memory for indexes doubles ([shard copies](../guide/deployment.md#shard-copies))',
  ),
  workerHost: new Setting(
    'WORKER_HOST',
    listenHost,
    '127.0.0.1',
    'address on which a worker accepts queries from fronts over TCP. The default is enough on one machine; with fronts on other machines, set an address that they can reach, or `0.0.0.0` ([several machines](../guide/deployment.md#several-machines))',
  ),
  workerPort: new Setting(
    'WORKER_PORT',
    wholeNumber(0, portMax),
    0,
    'port of a worker on `WORKER_HOST`; 0: any free port. Each worker on a host needs a different one, and `npm start` counts up from it',
  ),
  workerAddress: new Setting(
    'WORKER_ADDRESS',
    reachableAddress,
    null,
    'host or host:port at which fronts on other machines reach the worker. Default: the address that it listens on; with `0.0.0.0`, the first address of the host that is not loopback',
  ),
  workerNiceness: new Setting(
    'WORKER_NICENESS',
    niceness,
    0,
    'niceness of workers and jobs: with 5, fronts and Redis take precedence on busy cores. `idle` (Linux): they run only while no other process wants the core. Reads are then faster during imports and rebuilds, but writes become visible later. With `idle`, keep part of a core free, or writes wait until the load is over',
  ),
  partitions: new Setting(
    'PARTITIONS',
    wholeNumber(1, partitionsMax),
    16,
    'number of partitions; fixed when a store is first used: later, any other value is rejected',
  ),
  headerPrefixes: new Setting(
    'HEADER_PREFIX',
    headerPrefixes,
    ['X-Service'],
    "prefixes of the platform's header names: with `X-Service,X-Acme`, `X-Acme-Type` is also read. Responses use the first",
  ),
  tlsCert: new Setting(
    'TLS_CERT',
    path,
    null,
    'PEM file with the certificate of the fronts and its chain; only together with `TLS_KEY`. The port then accepts only HTTPS. Restart the fronts after a renewal',
  ),
  tlsKey: new Setting(
    'TLS_KEY',
    path,
    null,
    'PEM file with the private key of the certificate, without a passphrase',
  ),
  metricsKey: new Setting(
    'METRICS_KEY',
    apiKey,
    null,
    'key for `/metrics`, which names tenants: send it as `Authorization: Bearer <key>` or `X-Api-Key`. You can write it as `sha256:<hex>`. Without it, `/metrics` needs no key',
  ),
  metricsPort: new Setting(
    'METRICS_PORT',
    wholeNumber(1, portMax),
    null,
    'a port on `HOST` where this process serves its own metrics under `/metrics`, over HTTP; each process on a host needs a different one, and `npm start` counts up from it. `/metrics` of a front then shows only that front. If `METRICS_PORT` is not set, it shows all processes',
  ),
  rateLimit: new Setting(
    'RATE_LIMIT',
    rate,
    0,
    'requests per second that one front accepts for one API key, with a burst of one second; 0: no limit. Further requests get a 429 with `Retry-After`',
  ),
  openRateLimit: new Setting(
    'OPEN_RATE_LIMIT',
    rate,
    openRequestsPerSecond,
    "requests per second without a known key (health, metrics, the OpenAPI document, unknown paths and keys) that one front accepts from one address, with a burst of five seconds; 0: no limit. An IPv6 /64 counts as one address. Further requests get a 429. It also limits how many new API keys per second a tenant's configurations and dry runs can contain. Behind a proxy, all requests come from its address",
  ),
  ingestBacklogEntries: new Setting(
    'INGEST_BACKLOG',
    wholeNumber(1, ingestBacklogEntriesMax, 'entries'),
    ingestBacklogEntries,
    "how many of a tenant's writes can wait at one front before further ones get a 503: its stream entries in the fullest partition, plus its requests that are not accepted yet",
  ),
  bodiesInFlightBytes: new Setting(
    'BODIES_MB',
    mebibytes(1, bodiesMebibytesMax),
    bodiesInFlightBytes,
    'MiB of request bodies that one front holds at a time; beyond this, requests get a 503. Default with less than 4.5 GiB of memory: 1/8 of the memory above 384 MiB, at least 16',
  ),
  unsentAnswersBytes: new Setting(
    'ANSWERS_MB',
    mebibytes(1, answersMebibytesMax),
    unsentAnswersBytes,
    'MiB of responses that one front holds for clients that have not read them, counted once per client; beyond this, responses over 64 KiB get a 503. Live answers can use as much again, and those of one tenant half of what the others leave. Default with less than 4 GiB of memory: 1/16 of it',
  ),
  bodyIdleMs: new Setting(
    'BODY_IDLE_SECONDS',
    wait,
    bodyIdleTimeoutMs,
    'if nothing of a body arrives for this long, its request ends (408)',
  ),
  minVersionWaitMs: new Setting(
    'MIN_VERSION_WAIT_SECONDS',
    wait,
    minVersionWaitMs,
    'how long a request with `X-Service-Min-Version` waits, then 503',
  ),
  queryWaitMs: new Setting(
    'QUERY_WAIT_SECONDS',
    wait,
    queryWaitMs,
    'how long a query waits for a complete result from the workers, then 503',
  ),
  queryCpuMs: new Setting(
    'QUERY_CPU_MS',
    wholeNumber(queryCpuMsMin, queryCpuMsMax, 'ms'),
    queryCpuMs,
    'processor time of a query in each worker; beyond this it gets a 400 that says what was expensive. All queries of a multi-query together have twice as much',
  ),
  redisTimeoutMs: new Setting(
    'REDIS_TIMEOUT_SECONDS',
    wait,
    redisCommandTimeoutMs,
    'timeout for a command of a front to Redis, then 503',
  ),
  confirmReplicas: new Setting(
    'CONFIRM_REPLICAS',
    wholeNumber(0, confirmReplicasMax, 'replicas'),
    0,
    'how many replicas must have a save, a delete or a configuration before it is acknowledged: replicas of the single Redis, or of each shard of a Redis Cluster. With `0`, a single Redis waits for none, and a shard waits for one replica while it has any',
  ),
  replicaWaitMs: new Setting(
    'REPLICA_WAIT_SECONDS',
    wait,
    replicaWaitMs,
    'how long a write waits for these replicas, then 503',
  ),
  changesRetentionMs: new Setting(
    'CHANGES_RETENTION_DAYS',
    days(0, changesRetentionDaysMax),
    changesRetentionDays * 86_400_000,
    'how long the change log keeps removals and the former URLs and handles of views; an older offset of the feed gets a 410',
  ),
  webhookAllow: new Setting(
    'WEBHOOK_ALLOW',
    allowedHosts,
    [],
    'receivers that webhooks may reach although their address is not public. Without it, webhooks never connect to such addresses',
  ),
  publicUrl: new Setting(
    'PUBLIC_URL',
    publicUrl,
    null,
    'public URL of the fronts; webhooks of the format `enterspeed` prefix their URLs with it',
    'scheme, `HOST` and `PORT`',
  ),
  leaseMs: new Setting(
    'LEASE_SECONDS',
    seconds(leaseSecondsMin, waitSecondsMax),
    leaseMs,
    'a worker that does not renew its leases for this long loses its partitions to others',
  ),
  drainMs: new Setting(
    'DRAIN_SECONDS',
    wait,
    drainMs,
    'how long requests of a front can continue after SIGTERM; every process ends at most 1.5 s later. `npm start` stops all processes in that time, fronts first, and leaves 6.5 s of it for the others',
  ),
  deliveryCacheBytes: new Setting(
    'DELIVERY_CACHE_MB',
    mebibytes(0, deliveryCacheMebibytesMax),
    deliveryCacheBytes,
    'MiB for the cache of delivery and query responses in each front, a quarter of it for the views of listed rows and an eighth for views that others refer to; 0: no cache. Default with less than 2 GiB of memory: 1/16 of it',
  ),
  console: new Setting('CONSOLE', onOrOff, true, 'serve the [console](../guide/console.md) at `/console`'),
  demo: new Setting(
    'DEMO',
    onOrOff,
    null,
    'load the demo data at first start',
    "`on` when `CONFIG_DIR` is this repository's",
  ),
  logLevel: new Setting('LOG_LEVEL', logLevel, 'info', 'minimum level of log messages'),
};

/** The parsed settings, by the keys of the table. */
export type SettingValues = {
  readonly [Key in keyof typeof settingsTable]: ReturnType<(typeof settingsTable)[Key]['read']>;
};

/** All settings, for the reference and for `--help`. */
export function listSettings(): ListedSetting[] {
  return Object.values(settingsTable).map(({ listed }) => listed);
}
