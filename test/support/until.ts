import { setTimeout } from 'node:timers/promises';

const leastPauseMs = 5;
const mostPauseMs = 200;
/** In multiples of the processor time of a check, because the checks of parallel tests must not slow down what they wait for. */
const pausePerCheckTime = 4;

/** Longer than anything takes on a busy machine, so that only a condition that never holds reaches it. */
export const neverMs = 180_000;

/**
 * Waits until a condition holds; fails with its name after the timeout. It polls less often the longer it has waited, to leave
 * the processors to what it waits for. It never waits more than a tenth longer than necessary.
 */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  timeoutMs = neverMs,
): Promise<void> {
  const startMs = performance.now();
  for (;;) {
    const before = process.cpuUsage();
    if (await holds()) return;
    const waitedMs = performance.now() - startMs;
    if (waitedMs > timeoutMs) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    const { user, system } = process.cpuUsage(before);
    const restMs = (pausePerCheckTime * (user + system)) / 1_000;
    await setTimeout(Math.max(restMs, Math.min(mostPauseMs, Math.max(leastPauseMs, waitedMs / 10))));
  }
}
