import { setTimeout } from 'node:timers/promises';

const leastPauseMs = 5;
const mostPauseMs = 200;
/** Of the processor time that a check took: several tests wait at once, and checks must not take what they wait for. */
const pausePerCheckTime = 4;

/** Nothing takes so long, however busy the machine is: only what never happens ends at it. */
export const neverMs = 180_000;

/**
 * Waits until something holds; fails with its name when it does not in time. It asks less often the longer it has waited,
 * because to ask costs the processors that what it waits for needs. It never waits more than a tenth longer.
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
