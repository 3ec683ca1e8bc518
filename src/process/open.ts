/** The ground that every process of the Procfile stands on: settings, store, the active configuration, a log. */
import { messagesAddress, redisAddress } from '../cli/redis-address.ts';
import { environmentWithFile } from '../config/environment.ts';
import { issueText } from '../config/issue-text.ts';
import { readConfiguration } from '../config/read.ts';
import { readSettings, type Settings } from '../config/settings.ts';
import { stopReserveMs } from '../contract/limits.ts';
import { createLog, type Log } from '../http/log.ts';
import { ActiveConfiguration, publishConfiguration } from '../store/configuration.ts';
import type { Role } from '../store/registry.ts';
import { openStore, type Store, type StoreOptions } from '../store/store.ts';
import { stepBack } from './background.ts';
import { exitWithParent } from './parent.ts';

export interface ProcessGround {
  readonly settings: Settings;
  readonly store: Store;
  readonly configuration: ActiveConfiguration;
  readonly log: Log;
}

/**
 * Opens the store and follows the active configuration; the first process of an empty store makes its own folder's
 * configuration the active one. SIGHUP does so again later. A front's commands to Redis have a time limit; workers and jobs
 * wait for Redis to come back.
 * @throws Error whose message is one line for the operator
 */
export async function openProcess(role: Role): Promise<ProcessGround> {
  exitWithParent();
  const settings = readSettings(environmentWithFile(process.env, process.cwd()));
  if (role !== 'web') stepBack(settings.workerNiceness);
  const log = createLog(role, settings.logLevel);
  const store = await openStore({
    address: redisAddress(settings),
    messagesAddress: messagesAddress(settings),
    partitionCount: settings.partitions,
    replicaWaitMs: settings.replicaWaitMs,
    ...(role === 'web' ? frontTimes(settings.frontLimits.redisTimeoutMs) : {}),
  });
  const configuration = new ActiveConfiguration(store);
  await configuration.start();
  if (!configuration.loaded) {
    await publishFolder(store, settings.configDir);
    await configuration.refresh();
  }
  process.on('SIGHUP', () => {
    publishFolder(store, settings.configDir).then(
      (generation) => log.info({ generation }, 'the configuration was read again'),
      (error: Error) => log.error({ reason: error.message }, 'the configuration stays as it was'),
    );
  });
  return { settings, store, configuration, log };
}

function frontTimes(redisTimeoutMs: number): Pick<StoreOptions, 'commandTimeoutMs' | 'lineTimeoutMs'> {
  return { commandTimeoutMs: redisTimeoutMs, lineTimeoutMs: redisTimeoutMs };
}

async function publishFolder(store: Store, configDir: string): Promise<number> {
  const outcome = await readConfiguration(configDir);
  if (!outcome.ok) throw new Error(issueText(outcome.issues));
  return await publishConfiguration(store, outcome.documents, outcome.configuration);
}

/**
 * Calls `stop` once at the first SIGTERM or SIGINT, then ends the process; in any case a little after the time for
 * draining, for a stop may wait for a Redis that is gone. What it leaves undone is done again by whoever takes its place.
 */
export function stopOnSignal(
  { log, settings }: Pick<ProcessGround, 'log' | 'settings'>,
  stop: () => Promise<void>,
): void {
  const stopMs = settings.frontLimits.drainMs + stopReserveMs;
  let stopping = false;
  const onSignal = () => {
    if (stopping) return;
    stopping = true;
    log.info({}, 'stopping');
    setTimeout(() => {
      log.warn(
        { afterMs: stopMs },
        'not everything could be finished in time; the next process does it again',
      );
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

/** Runs an entry point; a failure to start is one line and exit code 1. */
export function runProcess(role: Role, main: () => Promise<void>): void {
  main().catch((error: unknown) => {
    console.error(`${role}: ${error instanceof Error ? error.message : String(error)}`);
    process.exit(1);
  });
}
