/**
 * Gives memory back while a process has little to do. V8 leaves its young generation as large as the last load made it,
 * up to three times `--max-semi-space-size`, until a collection in quiet times, which an idle process never needs.
 */
import { performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';

const lookMs = 5_000;
/** Share of the time in which the event loop works. Above it, a process is not idle. */
const idleShare = 0.05;
const smallBytes = 4 * 1024 ** 2;

/**
 * Looks at the process every few seconds for as long as it runs. Collecting the young generation of an idle process takes
 * some milliseconds. Nothing happens without `--expose-gc`.
 */
export function releaseMemoryWhileIdle(everyMs = lookMs): void {
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
