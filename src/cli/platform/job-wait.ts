/** Waits, for commands, until all processes run a configuration and its jobs are done. */
import { setTimeout as sleep } from 'node:timers/promises';
import { heartbeatLostMs } from '../../contract/limits.ts';
import { type RebuildJobs, rebuildState } from '../../jobs/rebuild-job-queue.ts';
import { counted, grouped } from '../../lib/message-text.ts';
import { script } from '../../lib/typed-command.mjs';
import type { ProcessBeat } from '../../store/processes/process-messages.ts';
import { liveProcesses } from '../../store/processes/registry.ts';
import { readUptimeSeconds } from '../../store/redis/server-state.ts';
import { findShortages } from '../../store/redis/shortages.ts';
import type { Store } from '../../store/store.ts';
import { CommandStop } from '../terminal/command-line.ts';
import type { PercentBar } from '../terminal/percent-bar.ts';

const pollMs = 200;
/**
 * Polling all jobs costs some milliseconds, so the interval grows with the time waited: after a long wait, a small delay does
 * not matter.
 */
const pollMsMax = 500;
const pollShare = 0.05;
/** How long an obstacle may last; enough for a restart. */
const obstacleMs = 15_000;
/** No message before this time, because processes poll for a new configuration every second. */
const silentMs = 3_000;
/** When Redis has started, every process has connected to it again within this time. */
const reconnectedSeconds = 3;

/**
 * The running processes. Right after a start of Redis it waits first, because a process that has not connected again would seem
 * to be stopped.
 * @throws StoreUnavailableError
 */
export async function runningProcesses(store: Store): Promise<ProcessBeat[]> {
  const leftSeconds = reconnectedSeconds - (await readUptimeSeconds(store));
  // The uptime is negative if the clock of Redis was set back.
  if (leftSeconds > 0) await sleep(1000 * Math.min(leftSeconds, reconnectedSeconds));
  return await liveProcesses(store);
}

/**
 * Waits until every live process runs the generation. Prints the late ones if it takes long, and when they change, and how many
 * hang.
 * @returns number of processes
 * @throws the reason of the signal
 */
export async function waitForProcesses(
  store: Store,
  generation: number,
  signal: AbortSignal,
): Promise<number> {
  const startedMs = performance.now();
  let said = '';
  for (;;) {
    const processes = await runningProcesses(store);
    const late = processes.filter((process) => process.generation < generation);
    const silent = store.registry.silentCount;
    if (late.length === 0 && (silent === 0 || performance.now() - startedMs > heartbeatLostMs)) {
      if (silent > 0) console.error(silentText(silent));
      return processes.length;
    }
    const names = late.map(({ role, host, pid }) => `${role} (process ${pid} on ${host})`).join(', ');
    const line = `Waiting for ${names} to use it. If it does not, see its log.`;
    if (late.length > 0 && line !== said && performance.now() - startedMs > silentMs) {
      console.error(line);
      said = line;
    }
    await sleepUnless(signal, pollMs);
  }
}

function silentText(count: number): string {
  return count === 1
    ? '1 process does not respond. If it continues, it uses the previous configuration for up to a second.'
    : `${count} processes do not respond. If they continue, they use the previous configuration for up to a second.`;
}

/**
 * Waits until the rebuild for a generation is done.
 * @throws CommandStop if a job failed or an obstacle lasts; the reason of the signal
 */
export async function waitForRebuild(
  store: Store,
  queue: RebuildJobs,
  generation: number,
  bar: PercentBar,
  signal: AbortSignal,
): Promise<void> {
  await waitForJobs(store, 'rebuild', bar, signal, async () => {
    const state = await rebuildState(store, queue, generation);
    bar.show(
      state.percent,
      `rebuilt for generation ${generation}: ${counted(state.scanned, 'entity', 'entities')} checked, ` +
        `${grouped(state.marked)} of them rebuilt`,
    );
    if (state.isDone && state.isEnqueued) return true;
    const failure = state.failures.find(({ isFinal }) => isFinal);
    if (failure === undefined) return false;
    throw new CommandStop(
      `The rebuild of partition ${failure.partition} failed permanently: ${failure.reason}. Run npm run apply again to retry.`,
    );
  });
}

/**
 * Waits until jobs are done.
 * @param work name of the work, as in "The rebuild does not go on"
 * @param bar shows obstacles immediately
 * @param isDone checks the jobs.
 * @throws CommandStop if an obstacle lasts; the reason of the signal
 */
export async function waitForJobs(
  store: Store,
  work: string,
  bar: Pick<PercentBar, 'say'>,
  signal: AbortSignal,
  isDone: () => Promise<boolean>,
): Promise<void> {
  const startedMs = performance.now();
  let freeMs = startedMs;
  let obstacle: string | null = null;
  while (!(await isDone())) {
    const former: string | null = obstacle;
    obstacle = await obstacleOf(store);
    if (obstacle === null) freeMs = performance.now();
    else if (performance.now() - freeMs > obstacleMs) {
      throw new CommandStop(
        `The ${work} has stopped because ${obstacle}. It continues automatically when that is solved.`,
      );
    } else if (obstacle !== former) {
      bar.say(`The ${work} waits because ${obstacle}. Waiting for up to ${obstacleMs / 1000} s.`);
    }
    const waitedMs = performance.now() - startedMs;
    await sleepUnless(signal, Math.min(pollMsMax, Math.max(pollMs, waitedMs * pollShare)));
  }
}

/** @throws the reason of the signal, as soon as it is aborted */
async function sleepUnless(signal: AbortSignal, ms: number): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => signal.throwIfAborted());
}

/** Message about an obstacle to rebuilds, with what to do; null if there is none. @throws StoreUnavailableError */
export async function obstacleOf(store: Store): Promise<string | null> {
  const missing = missingRole(await runningProcesses(store));
  if (missing !== null) return `no ${missing} process is running: start one (${script(missing)})`;
  return (await findShortages(store)).isFull
    ? 'Redis is full: give it more memory (maxmemory) or delete entities'
    : null;
}

function missingRole(processes: readonly ProcessBeat[]): 'jobs' | 'worker' | null {
  const roles = new Set(processes.map(({ role }) => role));
  if (!roles.has('jobs')) return 'jobs';
  return roles.has('worker') ? null : 'worker';
}
