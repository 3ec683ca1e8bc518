/** Runs everything in one terminal, for `start` and `dev`. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  checkTlsFiles,
  environmentWithFile,
  readSettings,
  type Settings,
} from '../../config/settings/settings.ts';
import { stopMsOf } from '../../contract/front-limits.ts';
import { isJsonObject } from '../../contract/json.ts';
import type { RedisAddress } from '../../store/redis/redis-connection.ts';
import {
  fittedWords,
  memoryBytes,
  privateRedisBytesMax,
  type StartKind,
  startShareBytes,
} from '../bootstrap/memory-fit.mjs';
import {
  applyFolder,
  type Publisher,
  publishAtStart,
  readSoundConfiguration,
  refusingLosses,
} from '../configuration/publish-configuration.ts';
import { redisAddress, withStore } from '../platform/open-store.ts';
import { askFront, baseUrl, ownTrust, type Trust } from '../platform/own-front.ts';
import { CommandStop, interruptedCode, stopSignals } from '../terminal/command-line.ts';
import { logTextFor } from '../terminal/log-text.ts';
import { lockDataDir, makeFolder } from './data-dir.ts';
import { freePort, requireFreePort } from './ports.ts';
import { startPrivateRedis } from './private-redis.ts';
import { Output, parseProcfile, Supervisor } from './supervisor.ts';

const pollMs = 200;
/** Shortest interval between progress messages. */
const reportEveryMs = 1_000;
const requestTimeoutMs = 2_000;

/**
 * Waits until `GET /health/ready` returns 200 (docs/reference/http.md "Health, metrics and the OpenAPI document").
 * @param onWaiting called with what is missing when it changes, at most once a second
 */
export async function waitUntilReady(
  baseUrl: string,
  signal: AbortSignal,
  onWaiting: (what: string) => void,
  trust: Trust = {},
): Promise<void> {
  let shown = '';
  let shownMs = Number.NEGATIVE_INFINITY;
  for (;;) {
    const waitingFor = await askReady(baseUrl, trust);
    if (waitingFor === null) return;
    const what = waitingFor.join('; ');
    if (what !== shown && performance.now() - shownMs >= reportEveryMs) {
      onWaiting(what);
      shown = what;
      shownMs = performance.now();
    }
    await sleep(pollMs, undefined, { signal });
  }
}

/** Reasons why the platform is not ready; null if it is. */
async function askReady(baseUrl: string, trust: Trust): Promise<string[] | null> {
  try {
    const { status, text } = await askFront(`${baseUrl}/health/ready`, trust, {}, requestTimeoutMs);
    if (status === 200) return null;
    const body: unknown = JSON.parse(text);
    if (isJsonObject(body) && Array.isArray(body.waitingFor)) return body.waitingFor.map(String);
    return [`status ${status}`];
  } catch {
    return ['the web process'];
  }
}

const redisTimeoutMs = 5_000;
const root = fileURLToPath(new URL('../../../', import.meta.url));
/** The Procfile of each kind of start. */
const procfiles: Readonly<Record<StartKind, string>> = { full: 'Procfile', small: 'workers/Procfile.small' };

/** The reason of a requested stop, which is not a failure. */
class StopRequest extends Error {}

/** A running platform. */
export interface RunningPlatform {
  readonly settings: Settings;
  /** Address of its Redis. */
  readonly address: RedisAddress;
  readonly url: string;
  readonly trust: Trust;
  /** Aborted when everything should stop. */
  readonly signal: AbortSignal;
  readonly say: (text: string) => void;
  /** False if the store runs another configuration than the folder's. */
  readonly runsFolder: boolean;
}

/**
 * Runs everything in one terminal until it is stopped. It checks settings, configuration and port first. Then it starts Redis,
 * activates the configuration, and starts the processes of the Procfile.
 * @param whenReady called once everything is ready
 * @param kind `small` runs all roles in one process
 * @returns the exit code
 * @throws CommandStop if the start failed
 */
export async function runPlatform(
  whenReady: (platform: RunningPlatform) => Promise<void>,
  kind: StartKind,
): Promise<number> {
  const environment = environmentWithFile(process.env, process.cwd());
  const settings = await withPort(readSettings(environment));
  if (settings.tls !== null) checkTlsFiles(settings.tls);
  const configuration = await readSoundConfiguration(settings.configDir);
  await requireFreePort(settings.host, settings.port);

  const output = new Output(process.stdout, await logTextFor(process.stdout));
  const supervisor = new Supervisor(output, stopMsOf(settings));
  const { signal } = stopSignals(() => {
    supervisor.kill();
    process.exit(interruptedCode);
  }, new StopRequest());
  const say = (text: string) => output.line('start', text);
  try {
    const address = await startRedis(settings, supervisor, signal);
    const published = await withStore(address, settings, redisTimeoutMs, (store) =>
      publishAtStart(store, settings, configuration, say),
    );
    signal.throwIfAborted();
    startProcesses(kind, supervisor, settings, childEnvironment(environment, settings, address));
    process.on('SIGHUP', () => void applyAgain(settings, address, refusingLosses, say));
    const url = baseUrl(settings);
    const trust = ownTrust(settings);
    await waitUntilReady(url, signal, (what) => say(`waiting for ${what}`), trust);
    await whenReady({ settings, address, url, trust, signal, say, runsFolder: published !== null });
    signal.throwIfAborted();
    await untilAborted(signal);
  } catch (error) {
    if (!signal.aborted || error instanceof CommandStop) throw error;
  } finally {
    if (signal.reason instanceof StopRequest) say('stopping (Ctrl-C again: stop immediately)');
    await supervisor.stop();
  }
  return 0;
}

/** Replaces port 0 (any port) by a free one, because all fronts share it. */
async function withPort(settings: Settings): Promise<Settings> {
  return settings.port === 0 ? { ...settings, port: await freePort(settings.host) } : settings;
}

/** Starts a private Redis if none is configured. @returns the address of the Redis */
async function startRedis(
  settings: Settings,
  supervisor: Supervisor,
  signal: AbortSignal,
): Promise<RedisAddress> {
  if (settings.redis.kind !== 'private') return redisAddress(settings);
  const { dataDir, appendFsync } = settings;
  makeFolder(dataDir);
  await lockDataDir(dataDir);
  const url = await startPrivateRedis({
    dataDir,
    appendFsync,
    bytesMax: privateRedisBytesMax(memoryBytes()),
    supervisor,
    signal,
  });
  return { kind: 'single', url };
}

function startProcesses(
  kind: StartKind,
  supervisor: Supervisor,
  settings: Settings,
  env: NodeJS.ProcessEnv,
): void {
  const counts = new Map([
    ['web', settings.web],
    ['worker', settings.workers],
  ]);
  let { metricsPort, workerPort } = settings;
  const ownPorts = (name: string) => {
    const ports: Record<string, string> = {};
    if (metricsPort !== null) {
      ports.METRICS_PORT = String(metricsPort);
      metricsPort += 1;
    }
    if (name === 'worker' && workerPort !== 0) {
      ports.WORKER_PORT = String(workerPort);
      workerPort += 1;
    }
    return ports;
  };
  const shareBytes = startShareBytes(kind, memoryBytes());
  for (const entry of parseProcfile(readFileSync(root + procfiles[kind], 'utf8'), root)) {
    const words = fittedWords(entry.words, shareBytes);
    supervisor.startEntry({ ...entry, words }, counts.get(entry.name) ?? 1, env, () => ownPorts(entry.name));
  }
}

/** The environment of the processes: the current one, with the chosen Redis and port. */
function childEnvironment(
  environment: NodeJS.ProcessEnv,
  settings: Settings,
  address: RedisAddress,
): NodeJS.ProcessEnv {
  const isPlain = address.kind === 'single' && address.sentinels === undefined;
  const redis = isPlain ? { REDIS_URL: address.url } : {};
  return { ...environment, ...redis, PORT: String(settings.port) };
}

/** Applies the configuration again. Errors are reported, and nothing is changed then. */
export async function applyAgain(
  settings: Settings,
  address: RedisAddress,
  { consent }: Pick<Publisher, 'consent'>,
  say: (text: string) => void,
): Promise<void> {
  try {
    const { generation } = await withStore(address, settings, redisTimeoutMs, (store) =>
      applyFolder(store, settings, { consent, onWarnings: say }),
    );
    say(`the configuration was reloaded and is active (generation ${generation})`);
  } catch (error) {
    if (!(error instanceof CommandStop)) throw error;
    say(`${error.message}\nThe configuration is unchanged.`);
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
