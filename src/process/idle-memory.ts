/**
 * Releases memory of idle processes. V8 keeps its young generation as large as the last load made it, up to three times
 * `--max-semi-space-size`, until a collection under low load, which an idle process never triggers.
 */
import { performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';

const checkMs = 5_000;
/** Below this utilization of the event loop, a process counts as idle. */
const idleShare = 0.05;
const smallBytes = 4 * 1024 ** 2;

/**
 * Checks every few seconds whether the process is idle, and collects the young generation, which takes some milliseconds. Does
 * nothing without `--expose-gc`.
 */
export function releaseMemoryWhileIdle(everyMs = checkMs): void {
  const collect = globalThis.gc;
  if (collect === undefined) return;
  let before = performance.eventLoopUtilization();
  setInterval(() => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    if (utilization < idleShare && youngGenerationBytes() > smallBytes) collect({ type: 'minor' });
  }, everyMs).unref();
}

function youngGenerationBytes(): number {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  return young?.space_size ?? 0;
}
