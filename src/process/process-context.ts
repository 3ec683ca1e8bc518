/** Opens the context of a process of the Procfile: settings, store, the active configuration, a log. */

import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { applyFolder, refusingLosses } from '../cli/configuration/publish-configuration.ts';
import { answerWords } from '../cli/help.mjs';
import { openNow } from '../cli/platform/open-store.ts';
import { messagesAddress, redisAddress } from '../cli/platform/redis-address.ts';
import { supervisedVariable } from '../cli/start/supervised.ts';
import { logTextFor } from '../cli/terminal/log-text.ts';
import { environmentWithFile } from '../config/settings/environment-file.ts';
import { type Niceness, nicenessMax } from '../config/settings/kinds.ts';
import { readSettings, type Settings } from '../config/settings/settings.ts';
import type { LogLevel } from '../config/settings/table.ts';
import { stopMsOf } from '../contract/front-limits.ts';
import { createLog, type Log } from '../http/operations/log.ts';
import { asTyped } from '../lib/typed-command.mjs';
import { ActiveConfiguration } from '../store/configuration/active-configuration.ts';
import type { Role } from '../store/processes/process-messages.ts';
import { OutageWatch } from '../store/redis/outages.ts';
import { isMismatch, type RedisHost, type Store } from '../store/store.ts';

export interface ProcessContext {
  readonly settings: Settings;
  readonly store: Store;
  readonly configuration: ActiveConfiguration;
  readonly log: Log;
  /** Must be closed before the store. Otherwise it would report the end of the store as an outage. */
  readonly outages: OutageWatch;
}

const unpublishedPollMs = 1_000;
const formatPollMs = 5_000;

/**
 * Opens the store and follows the active configuration. The first process of an empty store publishes its CONFIG_DIR. A
 * worker or jobs process without a CONFIG_DIR waits for that; a front listens meanwhile. SIGHUP reads the folder again. A front's commands to Redis have a time
 * limit. Workers and jobs wait for Redis to come back once they have begun.
 * @throws Error whose message is one line for the operator
 */
export async function openProcess(role: Role): Promise<ProcessContext> {
  exitWithParent();
  const settings = readSettings(environmentWithFile(process.env, process.cwd()));
  if (role !== 'web') lowerPriority(settings.workerNiceness);
  const log = await openLog(role, settings.logLevel);
  const store = await openNow({
    address: redisAddress(settings),
    messagesAddress: messagesAddress(settings),
    partitionCount: settings.partitions,
    confirmReplicas: settings.confirmReplicas,
    replicaWaitMs: settings.replicaWaitMs,
    ...(role === 'web' ? { commandTimeoutMs: settings.frontLimits.redisTimeoutMs } : {}),
  });
  endUnderNewerVersion(store, log);
  const outages = logOutages(role === 'jobs' ? [store] : [store, store.messages], log);
  const configuration = new ActiveConfiguration(store);
  logConfigurations(configuration, log);
  const onWarnings = (text: string) => log.warn({ warnings: text }, 'the configuration has warnings');
  const publisher = { ...refusingLosses, onWarnings };
  process.on('SIGHUP', () => {
    applyFolder(store, settings, publisher).then(
      ({ generation }) => log.info({ generation }, 'the configuration was reloaded'),
      (error: Error) => log.error({ reason: error.message }, 'the configuration is unchanged'),
    );
  });
  await configuration.start();
  if (!configuration.loaded && settings.isConfigDirGiven) await applyFolder(store, settings, publisher);
  await configuration.refresh();
  if (!configuration.loaded) {
    log.warn({}, noConfiguration);
    if (role !== 'web') await untilLoaded(configuration);
  }
  return { settings, store, configuration, log, outages };
}

/** A newer version may write what this one would misread: this process leaves the store to it. */
function endUnderNewerVersion(store: Store, log: Log): void {
  const look = async () => {
    try {
      await store.checkNotNewer();
    } catch (error) {
      if (!isMismatch(error)) return;
      log.error({ reason: error.message }, 'this process ends, because a newer version uses the store');
      process.exit(1);
    }
  };
  setInterval(() => void look(), formatPollMs).unref();
}

/** One line when a Redis is lost, and one when it is back or another has taken its place, however many requests fail meanwhile. */
function logOutages(hosts: readonly RedisHost[], log: Log): OutageWatch {
  return new OutageWatch([...new Set(hosts)], {
    lost: (redis, reason) => log.error({ redis, reason }, 'Redis does not respond'),
    back: (redis, afterMs) => log.info({ redis, afterMs }, 'Redis responds again'),
    replaced: (redis, afterMs) => log.info({ redis, afterMs }, 'another Redis has taken its place'),
  });
}

function logConfigurations(configuration: ActiveConfiguration, log: Log): void {
  configuration.onChange(() => {
    log.info({ generation: configuration.generation }, 'the configuration is in use');
  });
  configuration.onTrouble((reason) => {
    log.error({ reason, generation: configuration.generation }, 'the active configuration cannot be used');
  });
}

/** Opens the log: text for people on a terminal, JSON for programs elsewhere. */
async function openLog(role: Role, level: LogLevel): Promise<Log> {
  const text = await logTextFor(process.stdout);
  if (text === null) return createLog(role, level);
  return createLog(role, level, { write: (line) => process.stdout.write(`${text(line)}\n`) });
}

const noConfiguration = asTyped(
  'this store has no configuration yet and CONFIG_DIR is not set: waiting for npm run apply with a CONFIG_DIR, on any host',
);

/** Waits for a configuration. Hosts may start in any order, and the one that has it may come later. */
async function untilLoaded(configuration: ActiveConfiguration): Promise<void> {
  while (!configuration.loaded) {
    await sleep(unpublishedPollMs);
    await configuration.refresh();
  }
}

/**
 * Calls `stop` once at the first SIGTERM or SIGINT, then ends the process. The process ends a little after the time for
 * draining in any case, because a stop may wait for a Redis that is gone. The process that takes its place does again
 * what was left undone.
 */
export function stopOnSignal(
  { log, settings, outages }: Pick<ProcessContext, 'log' | 'settings' | 'outages'>,
  stop: () => Promise<void>,
): void {
  const stopMs = stopMsOf(settings.frontLimits);
  let stopping = false;
  const onSignal = () => {
    if (stopping) return;
    stopping = true;
    log.info({}, 'stopping');
    outages.close();
    setTimeout(() => {
      log.warn({ afterMs: stopMs }, 'some work was not finished in time; the next process does it again');
      process.exit(1);
    }, stopMs).unref();
    stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}

/** Runs an entry point, unless only its help is asked for. A failure to start is one line and exit code 1. */
export function runProcess(role: Role, main: () => Promise<void>): void {
  const code = answerWords(role, process.argv.slice(2));
  if (code !== null) process.exit(code);
  main().catch((error: unknown) => {
    console.error(asTyped(`${role}: ${error instanceof Error ? error.message : String(error)}`));
    process.exit(1);
  });
}

/** Lets background processes leave busy cores to fronts and Redis, where the operator wants it. */

/**
 * Gives this process a niceness for good. When all cores are busy, processes with a lower one go first. While a core is
 * idle, nothing changes. Does nothing where that is not allowed.
 */
export function lowerPriority(niceness: Niceness): void {
  if (niceness === 0) return;
  const number = niceness === 'idle' ? nicenessMax : niceness;
  attempt(() => setPriority(number));
  if (process.platform !== 'linux') return;
  // A Linux that groups processes by session first divides the cores among the groups: sched(7), autogroup.
  attempt(() => writeFileSync('/proc/self/autogroup', String(number)));
  // A nice process still ends its slice of time before another one begins. A process of this class yields immediately.
  if (niceness === 'idle') spawnSync('chrt', ['--idle', '--all-tasks', '--pid', '0', String(process.pid)]);
}

function attempt(change: () => void): void {
  try {
    change();
  } catch {
    // The order among processes only helps readers, so work goes on without it.
  }
}

/**
 * Ends this process when the `npm start` that runs it is gone, even if that was killed and could tell nobody. The
 * process sends itself SIGTERM, so there is one way to drain. Without a supervisor nothing happens.
 */
function exitWithParent(): void {
  if (process.env[supervisedVariable] !== '1') return;
  process.stdin.once('close', () => process.kill(process.pid, 'SIGTERM'));
  process.stdin.resume();
  // The watch must not keep a process alive that has nothing left to do.
  if ('unref' in process.stdin) process.stdin.unref();
}
