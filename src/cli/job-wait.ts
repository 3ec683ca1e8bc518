/** Waiting on the command line until the processes run a configuration and their jobs are done. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type RebuildJobs, rebuildState } from '../jobs/rebuild-queue.ts';
import { liveProcesses, type ProcessBeat } from '../store/registry.ts';
import type { Store } from '../store/store.ts';
import { CommandStop } from './command-stop.ts';
import type { PercentBar } from './percent-bar.ts';

const pollMs = 200;
/** A look at all jobs costs Redis and us some milliseconds; the longer it takes, the less it matters to hear of the end at once. */
const pollMsMax = 500;
const pollShare = 0.05;
/** How long a process that is needed may be away: time for a restart. */
const missingMs = 15_000;

/** Until every process that lives runs the generation. @returns how many do */
export async function waitForProcesses(store: Store, generation: number): Promise<number> {
  for (;;) {
    const processes = await liveProcesses(store);
    if (processes.every((process) => process.generation >= generation)) return processes.length;
    await sleep(pollMs);
  }
}

/** Until the rebuild for a generation is done. @throws CommandStop when a job failed or nobody is there to do it */
export async function waitForRebuild(
  store: Store,
  queue: RebuildJobs,
  generation: number,
  bar: PercentBar,
): Promise<void> {
  await waitForJobs(store, 'rebuild', async () => {
    const state = await rebuildState(store, queue, generation);
    bar.show(
      state.percent,
      `rebuilt for generation ${generation}: ${state.scanned.toLocaleString('en-US')} entities looked at, ` +
        `${state.marked.toLocaleString('en-US')} of them rebuilt`,
    );
    if (state.isDone && state.isEnqueued) return true;
    const failure = state.failures.find(({ isFinal }) => isFinal);
    if (failure === undefined) return false;
    throw new CommandStop(
      `The rebuild of partition ${failure.partition} failed for good: ${failure.reason}. Run npm run apply again to try once more.`,
    );
  });
}

/**
 * Until jobs are done. @param work what they do, as in "The rebuild does not go on"
 * @param isDone a look at them. @throws CommandStop when nobody is there to do them
 */
export async function waitForJobs(store: Store, work: string, isDone: () => Promise<boolean>): Promise<void> {
  const startedMs = performance.now();
  let presentMs = startedMs;
  while (!(await isDone())) {
    const missing = missingRole(await liveProcesses(store));
    if (missing === null) presentMs = performance.now();
    else if (performance.now() - presentMs > missingMs) {
      throw new CommandStop(
        `The ${work} does not go on because no ${missing} process runs: start one (npm run ${missing}); it goes on by itself then.`,
      );
    }
    const waitedMs = performance.now() - startedMs;
    await sleep(Math.min(pollMsMax, Math.max(pollMs, waitedMs * pollShare)));
  }
}

function missingRole(processes: readonly ProcessBeat[]): 'jobs' | 'worker' | null {
  const roles = new Set(processes.map(({ role }) => role));
  if (!roles.has('jobs')) return 'jobs';
  return roles.has('worker') ? null : 'worker';
}
