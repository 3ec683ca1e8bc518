/** Opens what a role needs: settings, store, active configuration, log. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import { fittedSettings, memoryBytes } from '../cli/bootstrap/memory-fit.mjs';
import { applyFolder, refusingLosses } from '../cli/configuration/publish-configuration.ts';
import { openNow, redisAddress } from '../cli/platform/open-store.ts';
import { logTextFor } from '../cli/terminal/log-text.ts';
import {
  environmentWithFile,
  formerSettingsIn,
  readSettings,
  type Settings,
} from '../config/settings/settings.ts';
import type { LogLevel } from '../config/settings/table.ts';
import { createLog, type Log } from '../http/log.ts';
import { asTyped } from '../lib/typed-command.mjs';
import { ActiveConfiguration } from '../store/configuration/active-configuration.ts';
import type { Role } from '../store/processes/process-messages.ts';
import { OutageWatch } from '../store/redis/outages.ts';
import { isMismatch, type Store } from '../store/store.ts';
import type { MetricsOrigin } from './metrics-server.ts';

export interface RoleContext {
  readonly settings: Settings;
  readonly store: Store;
  readonly configuration: ActiveConfiguration;
  readonly log: Log;
  /** Must be closed before the store, or it reports the closed store as an outage. */
  readonly outages: OutageWatch;
}

/** A running role of a process: front, worker or jobs. */
export interface RunningRole extends Pick<MetricsOrigin, 'id' | 'role'> {
  readonly context: RoleContext;
  readonly metrics: { readonly registry: Registry; text(): Promise<string> };
  /** Stops the role. @param endsMs deadline, on the clock of `performance.now()` */
  stop(endsMs: number): Promise<void>;
}

const unpublishedPollMs = 1_000;
const formatPollMs = 5_000;

/**
 * Opens the store and follows the active configuration. The first process of an empty store publishes its CONFIG_DIR.
 * Without a configuration, workers and jobs wait for one, and fronts already listen. SIGHUP reloads the folder. Redis
 * commands of a front have a timeout; workers and jobs wait until Redis is back.
 * @throws Error with a one-line message for the operator
 */
export async function openRole(role: Role): Promise<RoleContext> {
  const given = givenEnvironment();
  const settings = processSettings(given);
  const log = await openLog(role, settings.logLevel);
  for (const line of formerSettingsIn(given)) log.warn({}, line);
  const store = await openNow({
    address: redisAddress(settings),
    partitionCount: settings.partitions,
    confirmReplicas: settings.confirmReplicas,
    replicaWaitMs: settings.replicaWaitMs,
    ...(role === 'web' ? { commandTimeoutMs: settings.redisTimeoutMs } : {}),
  });
  exitFromOtherStore(store, log);
  const outages = logOutages(store, log);
  const configuration = new ActiveConfiguration(store);
  logConfigurations(configuration, log);
  const onWarnings = (text: string) => log.warn({ warnings: text }, 'the configuration has warnings');
  const publisher = { ...refusingLosses, onWarnings };
  const reload = () => {
    applyFolder(store, settings, publisher).then(
      ({ generation }) => log.info({ generation }, 'the configuration was reloaded'),
      (error: Error) => log.error({ reason: error.message }, 'the configuration is unchanged'),
    );
  };
  // With several roles in one process, the first one reads the folder for all.
  if (process.listenerCount('SIGHUP') === 0) process.on('SIGHUP', reload);
  await configuration.start();
  if (!configuration.loaded && settings.isConfigDirGiven) await applyFolder(store, settings, publisher);
  await configuration.refresh();
  if (!configuration.loaded) {
    log.warn({}, noConfiguration);
    if (role !== 'web') await untilLoaded(configuration);
  }
  return { settings, store, configuration, log, outages };
}

/** The settings of this process, with defaults for its machine. @throws SettingsError */
export function processSettings(given = givenEnvironment()): Settings {
  return readSettings({ ...fittedSettings(memoryBytes()), ...given });
}

function givenEnvironment(): NodeJS.ProcessEnv {
  return environmentWithFile(process.env, process.cwd());
}

/**
 * Exits if a newer version has upgraded the store, because this version would misread it, or if the store has lost its data,
 * because this process still has what was built from them.
 */
function exitFromOtherStore(store: Store, log: Log): void {
  const check = async () => {
    try {
      await store.checkUnchanged();
    } catch (error) {
      if (!isMismatch(error)) return;
      log.error({ reason: error.message }, 'this process ends, because it cannot use this store any longer');
      process.exit(1);
    }
  };
  setInterval(() => void check(), formatPollMs).unref();
}

/** Logs one line when the connection to a Redis is lost, and one when it is back or replaced. */
function logOutages(store: Store, log: Log): OutageWatch {
  return new OutageWatch(store, {
    lost: (redis, reason) => log.error({ redis, reason }, 'Redis does not respond'),
    back: (redis, afterMs) => log.info({ redis, afterMs }, 'Redis responds again'),
    replaced: (redis, afterMs) => log.info({ redis, afterMs }, 'another Redis has taken its place'),
  });
}

function logConfigurations(configuration: ActiveConfiguration, log: Log): void {
  configuration.onChange(() => {
    log.info({ generation: configuration.generation }, 'the configuration is in use');
  });
  configuration.onError((reason) => {
    log.error({ reason, generation: configuration.generation }, 'the active configuration cannot be used');
  });
}

/** Opens the log: readable text on a terminal, JSON elsewhere. */
async function openLog(role: Role, level: LogLevel): Promise<Log> {
  const text = await logTextFor(process.stdout);
  if (text === null) return createLog(role, level);
  return createLog(role, level, { write: (line) => process.stdout.write(`${text(line)}\n`) });
}

const noConfiguration = asTyped(
  'this store has no configuration yet and CONFIG_DIR is not set: waiting for npm run apply with a CONFIG_DIR, on any host',
);

/** Waits for a configuration, because the host that has it may be the last to start. */
async function untilLoaded(configuration: ActiveConfiguration): Promise<void> {
  while (!configuration.loaded) {
    await sleep(unpublishedPollMs);
    await configuration.refresh();
  }
}
