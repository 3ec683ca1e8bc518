import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { test } from 'node:test';
import {
  environmentWithFile,
  formerSettingsIn,
  readSettings,
  SettingsError,
} from '../../../src/config/settings/settings.ts';
import { listSettings } from '../../../src/config/settings/table.ts';
import { folderWith } from '../support/folder.ts';

function errorOf(env: NodeJS.ProcessEnv): string {
  try {
    readSettings(env);
  } catch (error) {
    assert.ok(error instanceof SettingsError);
    assert.doesNotMatch(error.message, /\n/);
    return error.message;
  }
  return assert.fail(`accepted ${JSON.stringify(env)}`);
}

test('settings: without variables every setting has its documented default', () => {
  assert.deepEqual(readSettings({}), {
    port: 4000,
    host: '127.0.0.1',
    redis: { kind: 'private' },
    configDir: resolve('config'),
    isConfigDirGiven: false,
    isConfigDirOwn: true,
    dataDir: resolve('.data'),
    snapshotDir: resolve('.data/shards'),
    workers: Math.max(1, availableParallelism() - 1),
    shardCopies: 1,
    workerHost: '127.0.0.1',
    workerPort: 0,
    workerAddress: null,
    workerNiceness: 0,
    web: 1,
    partitions: 16,
    headerPrefixes: ['X-Service'],
    demo: true,
    logLevel: 'info',
    tls: null,
    rateLimit: 0,
    metricsKey: null,
    metricsPort: null,
    openRateLimit: 1000,
    deliveryCacheBytes: 128 * 1024 * 1024,
    ingestBacklogEntries: 10_000,
    bodiesInFlightBytes: 512 * 1024 * 1024,
    unsentAnswersBytes: 256 * 1024 * 1024,
    bodyIdleMs: 10_000,
    minVersionWaitMs: 5_000,
    queryWaitMs: 3_000,
    redisTimeoutMs: 5_000,
    drainMs: 8_000,
    queryCpuMs: 1_000,
    leaseMs: 5_000,
    changesRetentionMs: 30 * 86_400_000,
    webhookAllow: [],
    console: true,
    publicUrl: 'http://127.0.0.1:4000',
    confirmReplicas: 0,
    replicaWaitMs: 1_000,
    appendFsync: 'always',
  });
});

test('settings: every setting is listed with its default, in the notation of the variable', () => {
  for (const { variable, default: text, meaning, allowed } of listSettings()) {
    assert.ok(meaning !== '' && allowed !== '', variable);
    const isInWords = ['CONFIG_DIR', 'SNAPSHOT_DIR', 'WORKERS', 'DEMO', 'PUBLIC_URL'].includes(variable);
    if (text !== '' && !isInWords) assert.deepEqual(readSettings({ [variable]: text }), readSettings({}));
  }
  const byName = new Map(listSettings().map((setting) => [setting.variable, setting]));
  assert.deepEqual(byName.get('BODIES_MB'), {
    variable: 'BODIES_MB',
    default: '512',
    unit: 'MiB',
    allowed: 'a whole number from 1 to 65536',
    meaning:
      'MiB of request bodies that one front holds at a time; beyond this, requests get a 503. Default with less than 4.5 GiB of memory: 1/8 of the memory above 384 MiB, at least 16',
  });
  assert.equal(byName.get('QUERY_WAIT_SECONDS')?.default, '3');
  assert.equal(byName.get('REDIS_URL')?.default, '');
});

test('settings: an empty variable counts as absent', () => {
  assert.deepEqual(readSettings({ PORT: '', REDIS_URL: ' ', DEMO: '', HEADER_PREFIX: '' }), readSettings({}));
});

test('settings: snapshots are in the data folder, or are turned off', () => {
  assert.equal(readSettings({ DATA_DIR: 'here' }).snapshotDir, resolve('here/shards'));
  assert.equal(readSettings({ SNAPSHOT_DIR: 'off' }).snapshotDir, null);
});

test('settings: every variable is read', () => {
  const settings = readSettings({
    PORT: '0',
    HOST: '0.0.0.0',
    REDIS_CLUSTER: '10.0.0.1:7000, redis-2:7001,[::1]:7002',
    CONFIG_DIR: '/etc/site',
    DATA_DIR: 'here',
    SNAPSHOT_DIR: 'kept',
    WORKERS: '3',
    SHARD_COPIES: '2',
    WORKER_HOST: '0.0.0.0',
    WORKER_PORT: '4100',
    WORKER_ADDRESS: '10.0.0.7:5100',
    WORKER_NICENESS: '10',
    WEB: '2',
    PARTITIONS: '64',
    HEADER_PREFIX: 'X-Service, X-Acme,x-service',
    DEMO: 'ON',
    LOG_LEVEL: 'WARN',
    TLS_CERT: 'front.pem',
    TLS_KEY: '/keys/front.key',
    RATE_LIMIT: '50',
    METRICS_PORT: '9100',
    METRICS_KEY: 'scrape-me',
    OPEN_RATE_LIMIT: '60',
    DELIVERY_CACHE_MB: '0',
    APPEND_FSYNC: 'everysec',
    INGEST_BACKLOG: '100',
    BODIES_MB: '64',
    ANSWERS_MB: '65',
    BODY_IDLE_SECONDS: '1',
    MIN_VERSION_WAIT_SECONDS: '2',
    QUERY_WAIT_SECONDS: '4',
    REDIS_TIMEOUT_SECONDS: '6',
    DRAIN_SECONDS: '7',
    QUERY_CPU_MS: '500',
    LEASE_SECONDS: '8',
    CHANGES_RETENTION_DAYS: '0.5',
    WEBHOOK_ALLOW: '10.0.0.0/8, ::1,hooks.internal',
    PUBLIC_URL: 'https://content.example.com/',
    CONFIRM_REPLICAS: '2',
    REPLICA_WAIT_SECONDS: '9',
  });
  assert.deepEqual(settings, {
    port: 0,
    host: '0.0.0.0',
    redis: {
      kind: 'cluster',
      seeds: [
        { host: '10.0.0.1', port: 7000 },
        { host: 'redis-2', port: 7001 },
        { host: '::1', port: 7002 },
      ],
    },
    configDir: '/etc/site',
    isConfigDirGiven: true,
    isConfigDirOwn: false,
    dataDir: resolve('here'),
    snapshotDir: resolve('kept'),
    workers: 3,
    shardCopies: 2,
    workerHost: '0.0.0.0',
    workerPort: 4100,
    workerAddress: { host: '10.0.0.7', port: 5100 },
    workerNiceness: 10,
    web: 2,
    partitions: 64,
    headerPrefixes: ['x-service', 'X-Acme'],
    demo: true,
    logLevel: 'warn',
    tls: { certFile: resolve('front.pem'), keyFile: '/keys/front.key' },
    rateLimit: 50,
    metricsKey: 'scrape-me',
    metricsPort: 9100,
    openRateLimit: 60,
    deliveryCacheBytes: 0,
    ingestBacklogEntries: 100,
    bodiesInFlightBytes: 64 * 1024 * 1024,
    unsentAnswersBytes: 65 * 1024 * 1024,
    bodyIdleMs: 1_000,
    minVersionWaitMs: 2_000,
    queryWaitMs: 4_000,
    redisTimeoutMs: 6_000,
    drainMs: 7_000,
    queryCpuMs: 500,
    leaseMs: 8_000,
    changesRetentionMs: 43_200_000,
    webhookAllow: ['10.0.0.0/8', '::1', 'hooks.internal'],
    console: true,
    publicUrl: 'https://content.example.com',
    confirmReplicas: 2,
    replicaWaitMs: 9_000,
    appendFsync: 'everysec',
  });
  const url = 'rediss://user:pass@redis.example.com:6380/2';
  assert.deepEqual(readSettings({ REDIS_URL: url }).redis, { kind: 'url', url });
  assert.equal(readSettings({ WORKER_NICENESS: 'Idle' }).workerNiceness, 'idle');
});

test('settings: the address of a worker is a host, with or without a port', () => {
  const addressOf = (text: string) => readSettings({ WORKER_ADDRESS: text }).workerAddress;
  assert.deepEqual(addressOf('worker-0.workers'), { host: 'worker-0.workers', port: null });
  assert.deepEqual(addressOf('::1'), { host: '::1', port: null });
  assert.deepEqual(addressOf('[::1]:4100'), { host: '::1', port: 4100 });
});

test('settings: a setting of an earlier version does not prevent a start, and is reported', () => {
  const env = { MESSAGES_URL: 'whatever it was' };
  assert.deepEqual(readSettings(env), readSettings({}));
  const [line = '', ...more] = formerSettingsIn(env);
  assert.match(line, /^MESSAGES_URL is no longer used: .* Remove it$/);
  assert.deepEqual(more, []);
  assert.deepEqual(formerSettingsIn({ MESSAGES_URL: ' ', REDIS_URL: 'redis://h' }), []);
});

test('settings: the demo is on only for the configuration of the repository, unless it is requested', () => {
  assert.equal(readSettings({ CONFIG_DIR: '/etc/site' }).demo, false);
  assert.equal(readSettings({ CONFIG_DIR: resolve('config/../config') }).demo, true);
  for (const off of ['off', 'false', '0', 'False']) assert.equal(readSettings({ DEMO: off }).demo, false);
});

test('settings: a named folder counts as configured, even that of the repository, unless the name is empty', () => {
  const folderOf = (CONFIG_DIR: string) => {
    const { isConfigDirGiven, isConfigDirOwn } = readSettings({ CONFIG_DIR });
    return { isConfigDirGiven, isConfigDirOwn };
  };
  assert.deepEqual(folderOf(' '), { isConfigDirGiven: false, isConfigDirOwn: true });
  assert.deepEqual(folderOf('config'), { isConfigDirGiven: true, isConfigDirOwn: true });
  assert.deepEqual(folderOf('/etc/site'), { isConfigDirGiven: true, isConfigDirOwn: false });
});

test('settings: an invalid value is reported with its variable and the allowed values', () => {
  const cases: [string, string[], RegExp][] = [
    ['PORT', ['80a', '-1', '65536', '4.5', '1e3', '٣'], /whole number from 0 to 65535/],
    ['HOST', ['a b', 'http://x', 'host:80'], /IP address or a host name/],
    ['REDIS_URL', ['localhost:6379', 'http://x', 'redis://', 'redis://h/db'], /redis:\/\//],
    ['WORKER_HOST', ['0.0.0.0:4100', 'a b'], /IP address or a host name/],
    ['WORKER_PORT', ['-1', '65536'], /whole number from 0 to 65535/],
    ['WORKER_ADDRESS', ['a b', 'a:0', 'http://a', '10.0.0.1:70000'], /a host or host:port/],
    ['REDIS_CLUSTER', ['redis-1', 'a:0', 'a:70000', 'a:1,,b:2', '[x]:1'], /host:port pairs/],
    ['INGEST_BACKLOG', ['0', '10000001'], /whole number from 1 to 10000000/],
    ['ANSWERS_MB', ['0', '1.5'], /whole number from 1 to 65536/],
    ['OPEN_RATE_LIMIT', ['-1'], /whole number from 0 to 1000000/],
    ['BODIES_MB', ['0', '1.5'], /whole number from 1 to 65536/],
    ['QUERY_WAIT_SECONDS', ['0', '3601', '3s'], /whole number from 1 to 3600/],
    ['WORKERS', ['0', 'many', '257'], /whole number from 1 to 256/],
    ['WORKER_NICENESS', ['20', '-5', 'busy'], /whole number from 0 to 19, or idle/],
    ['WEB', ['0', '-2'], /whole number from 1 to 256/],
    ['PARTITIONS', ['0', '1025', '1,5'], /whole number from 1 to 1024/],
    ['HEADER_PREFIX', ['X Service', 'X-Service-', 'a,,b', 'X:'], /prefixes of header names/],
    ['DEMO', ['yes', '2'], /on or off/],
    ['LOG_LEVEL', ['loud'], /trace, debug, info/],
    ['APPEND_FSYNC', ['no', 'sometimes'], /always, everysec/],
  ];
  for (const [name, values, allowed] of cases) {
    for (const value of values) {
      const message = errorOf({ [name]: value });
      assert.ok(message.startsWith(`${name} is "${value}": it must be `), message);
      assert.match(message, allowed);
    }
  }
});

test('settings: several invalid values are reported together, on one line', () => {
  const message = errorOf({ PORT: 'x', HOST: 'no host', WEB: '0', LOG_LEVEL: 'loud\nand clear' });
  const names = message.split('; ').map((error) => error.split(' ')[0]);
  assert.deepEqual(names.toSorted(), ['HOST', 'LOG_LEVEL', 'PORT', 'WEB']);
});

test('settings: sentinels need a name, and exclude the other addresses of Redis', () => {
  const env = { REDIS_SENTINEL: '10.0.0.5:26379,[::1]:26379', REDIS_SENTINEL_NAME: 'main' };
  assert.deepEqual(readSettings(env).redis, {
    kind: 'sentinel',
    hosts: [
      { host: '10.0.0.5', port: 26_379 },
      { host: '::1', port: 26_379 },
    ],
    name: 'main',
  });
  for (const [name, value] of Object.entries(env)) {
    assert.match(errorOf({ [name]: value }), /REDIS_SENTINEL and REDIS_SENTINEL_NAME need each other/);
  }
  assert.match(errorOf({ ...env, REDIS_SENTINEL_NAME: 'a b' }), /REDIS_SENTINEL_NAME/);
  assert.match(errorOf({ ...env, REDIS_URL: 'redis://a' }), /REDIS_URL and REDIS_SENTINEL are both set/);
  assert.match(
    errorOf({ ...env, REDIS_URL: 'redis://a', REDIS_CLUSTER: 'a:1' }),
    /REDIS_URL, REDIS_CLUSTER and REDIS_SENTINEL are all set/,
  );
});

test('settings: REDIS_URL and REDIS_CLUSTER exclude each other', () => {
  assert.match(
    errorOf({ REDIS_URL: 'redis://a', REDIS_CLUSTER: 'a:1' }),
    /REDIS_URL and REDIS_CLUSTER are both set/,
  );
});

test('settings: a password is not repeated in a message', () => {
  for (const url of ['http://user:secr@t/@host', 'redis://:secr@t@host/x', ':secr@t@']) {
    assert.doesNotMatch(errorOf({ REDIS_URL: url }), /secr/);
  }
  assert.doesNotMatch(errorOf({ REDIS_CLUSTER: 'user:secret@a:1' }), /secret/);
  for (const user of ['user', 'user:secret', ':secret']) {
    assert.doesNotMatch(errorOf({ PUBLIC_URL: `https://${user}@a.example` }), /secret/);
  }
});

test('settings: .env is read, the environment takes precedence and is not changed', async (t) => {
  const folder = await folderWith(t, { '.env': '# ours\nPORT=5000\nHOST="0.0.0.0"\nWEB=2\n' });
  const env = { PORT: '6000', WEB: '' };
  const settings = readSettings(environmentWithFile(env, folder));
  assert.deepEqual([settings.port, settings.host, settings.web], [6000, '0.0.0.0', 1]);
  assert.deepEqual(env, { PORT: '6000', WEB: '' });
});

test('settings: a missing .env is fine, and an unreadable one is reported in one clear line', async (t) => {
  const folder = await folderWith(t, { 'below/.env/x': '' });
  assert.deepEqual(environmentWithFile({ PORT: '1' }, folder), { PORT: '1' });
  assert.throws(() => environmentWithFile({}, `${folder}/below`), {
    name: 'SettingsError',
    message: /EISDIR/,
  });
});

test('settings: the private Redis has no replicas to wait for', () => {
  assert.throws(
    () => readSettings({ CONFIRM_REPLICAS: '1' }),
    /CONFIRM_REPLICAS is set and REDIS_URL is not/,
  );
  assert.equal(readSettings({ CONFIRM_REPLICAS: '1', REDIS_URL: 'redis://here' }).confirmReplicas, 1);
});
